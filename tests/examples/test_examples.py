"""The programs in `examples/`, run as a user would run them, against the scripted server."""

import asyncio
import sys
from pathlib import Path

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
