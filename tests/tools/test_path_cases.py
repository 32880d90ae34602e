"""Every case of the path corpus that is about the tools themselves. What rules decide belongs to the permissions."""

import os
import resource
import shutil
import stat
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.tools.path_world import World, load_cases

from everturn.core.errors import EverturnError
from everturn.frontends.harmless import make_line
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.edit import edit_tool
from everturn.tools.read import read_tool
from everturn.tools.write import write_tool

TOOLS = {"read": read_tool(), "edit": edit_tool(), "write": write_tool()}
NOBODY = 65_534
RACES = "path-symlink-14"
CASES = {case["id"]: case for case in load_cases()}
ABOUT_TOOLS = [
    name
    for name, case in CASES.items()
    if {case["expect"], *case.get("also_ok", ())} & {"allow", "error"}
    and case["group"] in {"content", "special", "names", "traversal", "symlink"}
    and (case["op"] != "edit" or "args" in case or case["group"] == "special")
    and name != RACES
    # Whether these run is for the rules to say; that the tool could is nothing to test.
    and case["expect"] != "deny"
]
MUST_FAIL = {name for name in ABOUT_TOOLS if CASES[name]["expect"] == "error"} | {
    *("path-content-13", "path-content-14", "path-content-16", "path-special-06", "path-special-07")
}
MAY_DO_EITHER = {"path-symlink-11", "path-symlink-13", "path-names-03", "path-traversal-13"}


@pytest.fixture
def world(monkeypatch):
    """Outside of pytest's own folder, which nobody but its owner may enter."""
    root = Path(tempfile.mkdtemp()).resolve()
    root.chmod(0o755)
    made = World(root)
    monkeypatch.setenv("HOME", str(made.home))
    yield made
    for path in [root, *(path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())]:
        path.chmod(0o755)
    shutil.rmtree(root)


@contextmanager
def without_privileges(world, case):
    """Root is refused nothing; a case about permissions is about other people."""
    if os.geteuid() != 0 or "permission denied" not in case.get("outcome", ""):
        yield
        return
    for path in (world.root, *world.root.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


class Hands:
    """One session's tools in a world."""

    def __init__(self, world):
        self.files = FileStates()
        self._context = ToolContext(
            folder=str(world.folder),
            tool_use_id="toolu_1",
            abort=AbortSignal(),
            files=self.files,
            progress=lambda _: None,
        )

    async def use(self, op: str, **fields) -> ToolResult:
        """An error result instead of an error, as the engine makes it."""
        tool = TOOLS[op] if op != "read" else read_tool()
        try:
            return await tool.run(tool.parse(fields), self._context)
        except EverturnError as error:
            return ToolResult(content=str(error), is_error=True)


async def play(world, case) -> ToolResult:
    hands = Hands(world)
    for step, *words in case["setup"]:
        if step == "read":
            await hands.use("read", file_path=world.expand(words[0]))
        else:
            world.set_up(step, *words)
    fields = {"edit": {"old_string": "x", "new_string": "y"}, "write": {"content": "new"}}.get(case["op"], {})
    with without_privileges(world, case):
        return await hands.use(case["op"], file_path=world.expand(case["path"]), **(fields | case.get("args", {})))


@pytest.mark.parametrize("name", ABOUT_TOOLS)
async def test_a_tool_answers_soon_and_as_the_case_says(name, world):
    case = CASES[name]
    started, memory = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    result = await play(world, case)

    if name not in MAY_DO_EITHER:
        assert result.is_error is (name in MUST_FAIL), result.content
    assert time.monotonic() - started < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 300_000
    assert_outcome(world, case, result)


def assert_outcome(world, case, result):
    words = case.get("outcome", "").split()
    path = Path(world.expand(case["path"])) if "\0" not in case["path"] else None
    match words:
        case ["hex", digits, *_] if not result.is_error:
            assert path.read_bytes().hex() == digits
        case ["mode", "still", mode]:
            assert stat.S_IMODE(path.stat().st_mode) == int(mode, 8)
        case ["content", "still", text]:
            assert path.read_text() == text.strip("'")
        case ["not", "found"]:
            assert "does not exist" in result.content
        case ["ELOOP,", *_]:
            assert "Too many levels of symbolic links" in result.content
        case ["permission", "denied", *_]:
            assert "Permission denied" in result.content
        case ["is", "a", "directory"]:
            assert "is a folder" in result.content
        case ["display", "sanitised"]:
            assert "\x1b" not in make_line(TOOLS["read"].line(TOOLS["read"].parse({"file_path": str(path)})))
        case ["truncated", *_]:
            assert "line cut, 200,000,000 characters in all" in result.content


def test_the_cases_are_those_that_we_think_they_are():
    assert len(CASES) == 88
    assert len(ABOUT_TOOLS) == 42


async def test_a_file_swapped_for_a_link_again_and_again_never_leads_an_edit_astray(world):
    case = CASES[RACES]
    for step, *words in case["setup"][:2]:
        world.set_up(step, *words)
    path, victim = world.folder / "src/a.txt", world.outside / "victim"
    victim.write_text("x")
    hands = Hands(world)
    await hands.use("read", file_path=str(path))
    seen = hands.files.get(str(path))
    ended = threading.Event()

    def swap():
        aside = path.with_name("aside")
        while not ended.is_set():
            for make in (lambda: aside.symlink_to(victim), lambda: aside.write_text("x")):
                make()
                aside.replace(path)

    racer = threading.Thread(target=swap)
    racer.start()
    try:
        for _ in range(1_000):
            hands.files.remember(str(path), seen)
            await hands.use("edit", file_path=str(path), old_string="x", new_string="y")
            assert victim.read_text() == "x"
    finally:
        ended.set()
        racer.join()
