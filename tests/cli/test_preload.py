"""What tools need is loaded while the model answers: the first call loads nothing more."""

import asyncio
import sys

import pytest

from everturn.modelserver import calls

PROBE = """\
import sys

def watch(frame, event, argument):
    global known
    if event == "call" and frame.f_code.co_name == "add" and frame.f_code.co_filename.endswith("executor.py"):
        sys.setprofile(None)
        known = set(sys.modules)

from everturn.cli.preload import load_modules
from everturn.cli.main import main

if sys.argv[1] == "at once":
    load_modules()
sys.setprofile(watch)
code = main(sys.argv[2:])
print(*sorted(set(sys.modules) - known), sep="\\n", file=sys.stderr)
sys.exit(code)
"""
"""Runs the program unchanged, and lists the modules that were loaded from its first call on."""
FIRST_CALLS = {
    "Bash": {"command": "grep -c two *.txt | sort"},
    "Read": {"file_path": "some.txt"},
    "Grep": {"pattern": "two"},
    "Glob": {"pattern": "*.txt"},
}


async def list_late(program, *words: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROBE, *words, "-p", "Go"),
        cwd=program.folder,
        env=program.env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, listed = await process.communicate()
    assert (out, process.returncode) == (b"Done.\n", 0)
    return listed.decode().strip()


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
@pytest.mark.parametrize("tool", FIRST_CALLS)
async def test_the_first_call_of_a_tool_loads_nothing_that_was_not_loaded_ahead(program, tool, mode):
    (program.folder / "some.txt").write_text("one\ntwo\n")
    program.model(calls((tool, FIRST_CALLS[tool])), "Done.")
    assert await list_late(program, "at once", "--permission-mode", mode) == ""


async def test_tools_are_loaded_while_the_model_takes_its_time(program):
    program.model(calls(("Bash", {"command": "echo one"}), delay_ms=3_000), "Done.")
    assert await list_late(program, "in time") == ""
