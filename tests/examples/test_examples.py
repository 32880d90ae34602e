"""The programs in `examples/`, run as a user would run them, against the scripted server."""

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest
from tests.shelf import find_python

from everturn.modelserver import calls, script, text

EXAMPLES = Path(__file__).parents[2] / "examples"


async def run_example(bench, name, *arguments):
    env = {
        **bench.env,
        "ANTHROPIC_BASE_URL": bench.server.url,
        "PATH": "/usr/bin:/bin",
        "EVERTURN_HOME": str(bench.home),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLES / f"{name}.py"),
        *arguments,
        cwd=bench.folder,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await asyncio.wait_for(process.communicate(), 120)
    assert errors.decode() == ""
    return process.returncode, output.decode()


async def test_ask_prints_the_answer_as_it_comes_and_what_it_cost(bench):
    (bench.folder / "README.md").write_text("A clock.\n")
    bench.model(calls(("Read", {"file_path": str(bench.folder / "README.md")})), text("It is a clock."))

    code, output = await run_example(bench, "ask", "What is it?")

    assert code == 0
    assert "· Read " in output
    assert "It is a clock." in output
    assert "[completed, rounds: 2, $" in output


async def test_own_tool_gives_its_result_to_the_model(bench):
    bench.model(calls(("temperature", {"city": "Lisbon"})), text("About 70 °F."))

    code, output = await run_example(bench, "own_tool")

    assert (code, output) == (0, "· temperature done\nAbout 70 °F.\n")
    assert bench.bodies[1]["messages"][-1]["content"][0]["content"] == "21.0 °C"


async def test_until_tests_pass_sends_the_model_back_until_they_do(bench):
    fixed = bench.folder / "fixed"
    bench.model(text("Done."), calls(("Bash", {"command": f"touch {fixed}"})), text("Now it passes."))

    code, output = await run_example(bench, "until_tests_pass", f"test -e {fixed}", "Make it pass.")

    assert code == 0
    assert "· turn 1: stop_hook_blocking" in output
    assert "Now it passes.\n[completed, $" in output


async def test_resume_carries_the_conversation_over(bench):
    bench.server.play(script(text("Noted."), text("Teal.")))

    code, output = await run_example(bench, "resume")

    assert code == 0
    assert "Teal." in output
    assert [message["role"] for message in bench.bodies[1]["messages"]] == ["user", "assistant", "user"]


async def stage(bench):
    """A repository whose staged change has a bug."""
    for command in ("init -q -b main", "config user.name Ada", "config user.email ada@example.com"):
        await run_git(bench, *command.split())
    (bench.folder / "clock.py").write_text("HOURS = 25\n")
    await run_git(bench, "add", "clock.py")


async def run_git(bench, *words):
    process = await asyncio.create_subprocess_exec("git", *words, cwd=bench.folder)
    assert await process.wait() == 0


def finding(*, must_be_mended):
    found = {"file": "clock.py", "line": 1, "text": "A day has 24 hours.", "must_be_mended": must_be_mended}
    return text(json.dumps({"findings": [found]}))


@pytest.mark.parametrize("must_be_mended", [True, False])
async def test_review_change_fails_where_a_finding_must_be_mended(bench, must_be_mended):
    await stage(bench)
    bench.model(finding(must_be_mended=must_be_mended))

    code, output = await run_example(bench, "review_change")

    assert code == must_be_mended
    assert output.startswith("clock.py:1: A day has 24 hours.\n1 findings, $")
    assert "+HOURS = 25" in json.dumps(bench.bodies[0]["messages"])


@pytest.mark.needs("package registry")
async def test_the_hooks_for_pre_commit_pass_and_fail_as_the_programs_do(bench):
    await stage(bench)
    (bench.folder / ".pre-commit-config.yaml").write_text((EXAMPLES / "pre-commit-config.yaml").read_text())
    (bench.folder / "tools").mkdir()
    (bench.folder / "tools" / "review_change.py").write_text((EXAMPLES / "review_change.py").read_text())
    case = {"id": "push", "command": "git push", "expect": "ask"}
    (bench.folder / "policy.jsonl").write_text(json.dumps(case) + "\n")
    await run_git(bench, "add", ".")
    bench.model(finding(must_be_mended=False), finding(must_be_mended=True))

    async def run_hooks():
        pre_commit = find_python("pre-commit-1", "pre-commit").with_name("pre-commit")
        process = await asyncio.create_subprocess_exec(
            *(pre_commit, "run", "--color=never"),
            cwd=bench.folder,
            env={
                **bench.env,
                "ANTHROPIC_BASE_URL": bench.server.url,
                "EVERTURN_HOME": str(bench.home),
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
                "HOME": str(bench.home),
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 120)
        return process.returncode, output.decode()

    code, output = await run_hooks()
    assert code == 0, output
    assert re.search(r"cases say\.+Passed", output)
    assert "clock.py:1: A day has 24 hours." in output

    (bench.folder / "policy.jsonl").write_text(json.dumps(case | {"expect": "allow"}) + "\n")
    await run_git(bench, "add", ".")
    code, output = await run_hooks()
    assert code == 1, output
    assert len(re.findall(r"\.Failed", output)) == 2
