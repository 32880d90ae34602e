"""Start-up is a feature: what is loaded before the first request is sent, and for the version."""

import asyncio
import sys

from everturn import __version__

PROBE = """\
import sys

def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "ask" and frame.f_code.co_filename.endswith("connection.py"):
        sys.setprofile(None)
        print(*sys.modules, sep="\\n", file=sys.stderr)

sys.setprofile(watch)
from everturn.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs the program unchanged, and lists the modules when the first request is about to be written to its connection."""

FLOOR = "import sys, asyncio, msgspec; print(*sys.modules, sep='\\n', file=sys.stderr)"
"""What the loop and the JSON bring along, whatever the version of Python."""

OURS = {
    "everturn",
    "everturn.cli",
    "everturn.compose",
    "everturn.context",
    "everturn.core",
    "everturn.engine",
    "everturn.frontends",
    "everturn.hooks",
    "everturn.models",
    "everturn.permissions",
    "everturn.ports",
    "everturn.prompt",
    "everturn.sandbox",
    "everturn.sessions",
    "everturn.settings",
    "everturn.tools",
    "everturn.workspace",
}
OF_SANDBOX = {"everturn.sandbox", "everturn.sandbox.session_scratch"}
"""The walls are loaded by the first command."""
BEYOND_THE_FLOOR = {"fnmatch", "gc", "ipaddress", "json", "ntpath", "pathlib", "queue", "urllib", "zlib"}
"""Before you add one: measure what it costs, and whether it can wait until the first request is on its way."""
OF_PATHLIB = {"glob", "grp", "pwd"} if sys.version_info >= (3, 13) else set()
TOO_HEAVY_FOR_THE_VERSION = {"argparse", "asyncio", "enum", "h11", "json", "msgspec", "re", "ssl", "typing"}


async def load(program, *words: str) -> tuple[str, set[str]]:
    """What a Python prints, and the modules that it lists on standard error."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *words),
        cwd=program.folder,
        env=program.env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
    )
    out, listed = await process.communicate()
    assert process.returncode == 0
    return out.decode(), set(listed.decode().split())


def rooms(modules: set[str]) -> set[str]:
    return {".".join(name.split(".")[:2]) for name in modules if name.split(".")[0] == "everturn"}


def packages(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules if not name.startswith(("_", "everturn"))}


async def test_nothing_new_is_loaded_before_the_first_request(program):
    _, floor = await load(program, "-c", FLOOR)
    out, loaded = await load(program, "-c", PROBE, "-p", "Go")
    assert out == "Hello.\n"
    assert rooms(loaded) == OURS
    assert {name for name in loaded if name.startswith("everturn.sandbox")} == OF_SANDBOX
    assert packages(loaded) - packages(floor) <= BEYOND_THE_FLOOR | OF_PATHLIB


async def test_typing_extensions_wait_until_somebody_needs_them(program):
    _, loaded = await load(program, "-c", PROBE, "-p", "Go")
    assert "msgspec" in loaded
    assert "typing_extensions" not in loaded


async def test_the_version_loads_next_to_nothing(program):
    listing = "import sys; from everturn.cli.main import main; main(['--version']); print(*sys.modules, sep='\\n', file=sys.stderr)"
    out, loaded = await load(program, "-c", listing)
    assert out == f"everturn {__version__}\n"
    assert {name for name in loaded if name.startswith("everturn")} == {
        *("everturn", "everturn.cli", "everturn.cli.main", "everturn.cli.console"),
        *("everturn.workspace", "everturn.workspace.load_paths"),
    }
    assert not packages(loaded) & TOO_HEAVY_FOR_THE_VERSION
