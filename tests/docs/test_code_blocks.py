"""Programs and commands on the pages run as they stand there, and print what the page says."""

import asyncio
import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Program
from tests.cli.terminals import at_terminal
from tests.docs.blocks import FIGURES, ROOT, take
from tests.docs.scenes import SCENES, furnish

ELSEWHERE = {
    "docs/tutorial.md",
    "docs/how-to/own-tools.md",
    "docs/how-to/model-server.md",
    "docs/reference/events.md",
    "docs/reference/classes.md",
}
"""Pages whose blocks have tests of their own."""
IN_TESTS = {"pipx install .": "tests/install/test_install.py"}
"""Commands that another test runs, and where."""


def take_here(*languages):
    return take(lambda block: block.language in languages and block.page not in ELSEWHERE)


PROGRAMS = take_here("python")
SHELL = take_here("sh", "console")
JSON = [block for block in take_here("json", "jsonl") if "hookSpecificOutput" not in block.text]
BLOCKS = [*PROGRAMS, *SHELL, *JSON]


def cases(blocks):
    return [pytest.param(block, id=block.id) for block in blocks]


@pytest.fixture
async def desk(bench):
    """A repository in which somebody has worked for a while, with two sessions."""
    await furnish(bench)
    return bench


def environment(desk):
    return {
        **desk.env,
        "ANTHROPIC_BASE_URL": desk.server.url,
        "EVERTURN_HOME": str(desk.home),
        "HOME": str(desk.home.parent),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONUTF8": "1",
        "COLUMNS": "80",
    }


async def run_in(desk, *command, folder=None):
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder or desk.folder,
        env=environment(desk),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 300)
    assert process.returncode == 0, output.decode()
    return output.decode()


@pytest.mark.parametrize("block", cases(PROGRAMS))
async def test_the_program_runs(desk, block):
    assert "Traceback" not in await run_in(desk, sys.executable, "-c", block.text)


def read_commands(block):
    """Each command with what the page says that it prints, or None where it does not say."""
    if block.language == "sh":
        return [(re.split(r"\s+# ", line)[0].strip(), None) for line in block.text.splitlines() if line.strip()]
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not parts[0], block.id
    return [(command, shown or None) for command, _, shown in (part.partition("\n") for part in parts[1:])]


@pytest.mark.parametrize("block", cases(SHELL))
async def test_the_commands_run_and_print_what_the_page_says(desk, block):
    if (scene := SCENES.get(block.id.rpartition(":")[0])) is not None:
        await scene(desk)
    for command, shown in read_commands(block):
        output = await run_command(desk, command, shown)
        if shown is not None:
            assert_like(name_places(desk, output), shown, figures_differ=block.note == FIGURES)


async def run_command(desk, command, shown):
    if command in IN_TESTS:
        assert shlex.split(command)[0] in (ROOT / IN_TESTS[command]).read_text("utf-8")
        return ""
    if command.startswith("make"):
        return await run_in(desk, "make", "--dry-run", *shlex.split(command)[1:], folder=ROOT)
    if shown is not None and re.search(r"(?:\? \[y/N\]|^>)$", shown.strip(), re.MULTILINE):
        return await run_before_a_person(desk, command, shown.strip()[-1])
    return await run_in(desk, "bash", "-eo", "pipefail", "-c", command)


async def run_before_a_person(desk, command, end):
    """What a terminal shows up to the question, which is then answered with Ctrl-C."""
    program = Program(desk.server, desk.folder, desk.home)
    program.env = environment(desk)
    async with at_terminal(program, *shlex.split(command)[1:], columns=160) as terminal:
        shown = await terminal.until(f"\n{end} " if end == ">" else f"{end} ")
        terminal.press("\x03")
        await terminal.process.wait()
    return shown.rpartition("\x1b[2K")[2]


def name_places(desk, output):
    """With the places of the pages in place of this machine's."""
    for here, there in ((str(desk.folder.resolve()), "/home/ada/src/widget"), (str(desk.home), "~/.everturn")):
        output = output.replace(here, there)
    return output


def assert_like(output, shown, *, figures_differ):
    """`…` stands for anything, and ids are made up anew in each session."""
    output, pattern = (re.sub(r"\b[0-9a-f]{8}(?:-[0-9a-f-]{27})?\b", "ID", text.strip()) for text in (output, shown))
    if figures_differ:
        output, pattern = render_shape(output), render_shape(pattern)
    found = re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), output, re.DOTALL)
    assert found, f"shown:\n{pattern}\nprinted:\n{output}"


def render_shape(text):
    """What stays when figures change: bars, the cells of a picture, ages and numbers become a sign each."""
    for pattern, sign in (
        (r"(?<=  )[orw]{3,}(?=  )", "BAR"),
        (r"^(?:\S ){9,}\S(?=\s|$)", "CELLS"),
        (r"\d+ (?:s|min|h|d)\b|\bnow\b", "AGE"),
        (r"\d[\d.,]*[kM]?", "#"),
        (r"[ \t]+", " "),
    ):
        text = re.sub(pattern, sign, text, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize("block", cases(JSON))
async def test_the_json_is_what_everturn_reads_or_writes(desk, block):
    lines = read_json(block.text)
    if {"hooks", "permissions", "sandbox"} & set(lines[0]):
        (desk.home / "settings.json").write_text(block.text)
        await run_in(desk, "everturn", "config", "list")
    elif "mcpServers" in lines[0]:
        (desk.folder / ".mcp.json").write_text(block.text)
        listed = await run_in(desk, "everturn", "mcp", "list")
        assert "wrong" not in listed
    elif "expect" in lines[0]:
        rules = {"ask": ["Bash(git push *)"], "deny": ["Bash(git push --force*)", "Read(./.env)"]}
        allowed = {"allow": ["WebFetch(domain:docs.python.org)"]}
        (desk.home / "settings.json").write_text(json.dumps({"permissions": rules | allowed}))
        (desk.folder / "policy.jsonl").write_text(block.text)
        await run_in(desk, "everturn", "permissions", "test", "--cases", "policy.jsonl")
    else:
        written = await list_written(desk)
        for line in lines:
            assert render_keys(line) in map(render_keys, written), line


def read_json(text):
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


async def list_written(desk):
    """What the program writes: the lines of a session, and the result of /context."""
    await run_in(desk, "everturn", "sessions", "rename", "Parser rewrite", "Parser rewritten")
    await run_in(desk, "everturn", "sessions", "tag", "Parser rewritten", "later")
    files = [path for path in desk.home.rglob("*.jsonl") if "projects" in path.parts]
    printed = await run_in(desk, "everturn", "-p", "/context", "--continue", "--output-format", "json")
    lines = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
    return [json.loads(printed)["structured_output"], *lines]


def render_keys(value):
    """The names in an object, its records' included: figures, ids and texts differ."""
    names = set(value) - {"parentUuid"}
    record = value.get("record")
    return (value.get("type"), frozenset(names), frozenset(record) if isinstance(record, dict) else None)


def test_every_block_says_its_language_or_is_a_drawing():
    known = {"python", "json", "jsonl", "console", "sh", "text", "yaml"}
    assert {block.language for block in take(lambda _: True)} <= known
