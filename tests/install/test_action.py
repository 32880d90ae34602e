"""The GitHub action without GitHub: its steps run in bash as a runner runs them, against the scripted model server."""

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from tests.docs.blocks import take
from tests.docs.scenes import furnish

from everturn.modelserver import calls, text

ROOT = Path(__file__).parents[2]
BLOCKS = take(lambda block: block.page == "docs/how-to/ci.md" and block.language == "yaml")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
"""How a runner starts a step whose shell is bash."""


class Runner:
    """A machine with one job: `temp` is the job's temporary folder."""

    def __init__(self, bench):
        self.bench = bench
        self.temp = bench.folder.parent / "runner"
        self.temp.mkdir()
        self.log = ""

    def use_our_environment(self):
        """In the place of the one that the first step makes."""
        (self.temp / "everturn").symlink_to(Path(sys.executable).parents[1])

    async def run(self, step, **inputs):
        """The exit code of the step."""
        [about] = [about for about in ACTION["runs"]["steps"] if about["id"] == step]
        given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | {
            name.replace("_", "-"): value for name, value in inputs.items()
        }
        env = {name: fill(value, given) for name, value in about.get("env", {}).items()}
        script = self.temp / f"{step}.sh"
        script.write_text(about["run"])
        process = await asyncio.create_subprocess_exec(
            *(*BASH, str(script)),
            cwd=self.bench.folder / fill(about.get("working-directory", "."), given),
            env={
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
                "HOME": str(self.temp),
                "ANTHROPIC_BASE_URL": self.bench.server.url,
                "RUNNER_TEMP": str(self.temp),
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_ENV": str(self.temp / "env"),
                "GITHUB_OUTPUT": str(self.temp / "output"),
                "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
                **env,
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 300)
        self.log = output.decode()
        return process.returncode

    @property
    def outputs(self):
        """As the runner reads them: a name, a mark, lines up to the mark."""
        lines = iter((self.temp / "output").read_text().splitlines())
        found = {}
        for line in lines:
            name, _, end = line.partition("<<")
            value = []
            while (next_line := next(lines)) != end:
                value.append(next_line)
            found[name] = "\n".join(value)
        return found


async def run_line(command, folder, env):
    process = await asyncio.create_subprocess_exec(
        *(*BASH, "-c", command), cwd=folder, env={"PATH": "/usr/bin:/bin", **env}, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), 300)
    assert process.returncode == 0
    return output.decode()


def fill(value, given):
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], value)


@pytest.fixture
def runner(bench):
    runner = Runner(bench)
    runner.use_our_environment()
    return runner


KEY = {"api_key": "sk-ant-made-up-9fK2xQ7wLp4Tz8VbN3cR6yHd"}


async def test_an_answer_becomes_an_output_and_a_summary(bench, runner):
    bench.model(text("It is a clock."))
    prompt = "What is it? $(touch one); `touch two`\n'\"; touch three"

    code = await runner.run("ask", prompt=prompt, **KEY)

    assert code == 0, runner.log
    assert set(runner.outputs) == set(ACTION["outputs"])
    assert (runner.outputs["result"], runner.outputs["reason"]) == ("It is a clock.", "completed")
    assert float(runner.outputs["cost-usd"]) > 0
    assert runner.outputs["home"] == str(runner.temp / "everturn-home")
    assert [path.stem for path in runner.temp.rglob("*.jsonl")] == [runner.outputs["session-id"]]
    assert (runner.temp / "summary.md").read_text().startswith("It is a clock.\n")
    assert bench.bodies[0]["messages"][-1]["content"][-1]["text"] == prompt
    assert list(bench.folder.iterdir()) == []


async def test_the_workflow_of_the_page_runs_step_by_step(bench, runner):
    """The checkout is a clone with a branch to compare with; the action and what follows it run in bash."""
    await furnish(bench)
    bench.model(calls(("Bash", {"command": "git diff origin/main..origin/topic"})), text("parser.py:1: no test."))
    [block] = BLOCKS
    checkout, review, last = yaml.safe_load(block.text)["jobs"]["review"]["steps"]
    expressions = {"secrets.ANTHROPIC_API_KEY": KEY["api_key"], "github.base_ref": "main"}

    def evaluate(value):
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: expressions[found[1]], value)

    assert checkout["uses"].startswith("actions/checkout@")
    inputs = {name.replace("-", "_"): evaluate(value) for name, value in review["with"].items()}
    assert await runner.run("ask", **inputs) == 0, runner.log
    assert runner.outputs["result"] == "parser.py:1: no test."
    assert "+QUOTE" in str(bench.bodies[-1]["messages"][-1])

    expressions |= {f"steps.{review['id']}.outputs.{name}": value for name, value in runner.outputs.items()}
    env = {name: evaluate(value) for name, value in last["env"].items()}
    assert await run_line(last["run"], bench.folder, env) == f"it cost {runner.outputs['cost-usd']} USD\n"


async def test_what_a_model_writes_gives_the_runner_no_commands_and_no_outputs(bench, runner):
    forged = "Done.\nEOF\nreason=forged\nsession-id<<EOF\nforged\nEOF\n::error::forged"
    bench.model(text(forged))

    assert await runner.run("ask", prompt="Go.", **KEY) == 0

    assert runner.outputs["result"] == forged
    assert runner.outputs["reason"] == "completed"
    stop, *between, resume = runner.log.strip().splitlines()
    token = stop.removeprefix("::stop-commands::")
    assert resume == f"::{token}::"
    assert len(token) == 32
    assert "::error::forged" in between


async def test_inputs_reach_the_program_and_commands_get_neither_the_key_nor_the_files_of_the_runner(bench, runner):
    schema = '{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}'
    bench.model(calls(("Bash", {"command": "env"})), text('{"ok": true}'))

    code = await runner.run(
        "ask", prompt="Go.", allowed_tools="Bash(env)", model="claude-opus-5", json_schema=schema, **KEY
    )

    assert code == 0, runner.log
    assert json.loads(runner.outputs["structured-output"]) == {"ok": True}
    assert bench.bodies[0]["model"] == "claude-opus-5"
    [result] = bench.bodies[1]["messages"][-1]["content"]
    names = {line.partition("=")[0] for line in str(result["content"]).splitlines()}
    assert "PATH" in names
    assert not {name for name in names if name.startswith(("GITHUB_OUTPUT", "GITHUB_ENV", "ANTHROPIC_API_KEY", "ASK_"))}


async def test_a_run_without_an_answer_fails_and_says_why(bench, runner):
    bench.model(calls(("Glob", {"pattern": "*"})), text("Never reached."))

    assert await runner.run("ask", prompt="Go.", max_budget_usd="0.000001", **KEY) == 1
    assert runner.outputs["reason"] == "budget_exhausted"

    (runner.temp / "output").unlink()
    assert await runner.run("ask", prompt="Go.", api_key="") == 2
    assert runner.outputs["result"] == ""
    assert "there is no key" in runner.log


async def test_the_log_says_what_was_denied_and_what_would_allow_it(bench, runner):
    note = ("Write", {"file_path": str(bench.folder / "note"), "content": "x"})
    bench.model(calls(("Bash", {"command": "touch note"}), note), text("I could not."))

    assert await runner.run("ask", prompt="Go.", **KEY) == 0

    denied = [line for line in runner.log.splitlines() if line.startswith("denied: ")]
    assert [line.rpartition(". ")[2] for line in denied] == [
        "Allowed by allowed-tools Bash(touch note)",
        "Allowed by permission-mode acceptEdits",
    ]


@pytest.mark.needs("package registry")
async def test_the_first_step_installs_what_the_second_runs_and_nothing_of_the_working_folder(bench):
    runner = Runner(bench)
    for name in ("venv", "pip", "json"):
        (bench.folder / f"{name}.py").write_text("raise SystemExit('a module of the working folder was run')")
    bench.model(text("It is a clock."))

    assert await runner.run("install") == 0, runner.log
    assert await runner.run("ask", prompt="What is it?", **KEY) == 0, runner.log
    assert runner.outputs["result"] == "It is a clock."
