"""Every case of the path corpus: the gate's policy with the rules of the case, then the real tool on real files."""

import os
import resource
import shutil
import stat
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from tests.permissions.rules_of import rules_of
from tests.tools.path_world import World, load_cases

from everturn.core.errors import EverturnError, InputFault
from everturn.frontends.harmless import make_line
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.rule_parser import RuleProblem
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.judged_paths import JudgedPath
from everturn.ports.policy import Call, Ruling, Verdict
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.edit.tool import edit_tool
from everturn.tools.read import read_tool
from everturn.tools.write import write_tool

TOOLS = {"read": read_tool(), "edit": edit_tool(), "write": write_tool()}
NOBODY = 65_534
RACES = "path-symlink-14"
OLD = {"path-scope-06": "hello"}
DEAD = frozenset({"Write(docs/**)"})
"""Rules that could never work: refused when they are read."""
CASES = {case["id"]: case for case in load_cases()}
MUST_FAIL = {
    *("path-content-13", "path-content-14", "path-content-16", "path-special-06"),
    *(name for name, case in CASES.items() if case["expect"] == "error"),
}
"""Where the corpus leaves it open, this is what our tools do once they run."""


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

    def __init__(self, world, rules=()):
        self.files = FileStates()
        self.policy = RulePolicy("default", str(world.folder), rules=rules)
        self._context = ToolContext(
            folder=str(world.folder),
            tool_use_id="toolu_1",
            abort=AbortSignal(),
            files=self.files,
            progress=lambda _: None,
        )

    async def use(self, op: str, judged=None, **fields) -> ToolResult:
        """An error result instead of an error, as the engine makes it."""
        tool = TOOLS[op] if op != "read" else read_tool()
        try:
            return await tool.run(tool.parse(fields), msgspec.structs.replace(self._context, judged=judged))
        except EverturnError as error:
            return ToolResult(content=str(error), is_error=True)

    def judge(self, op: str, **fields) -> Verdict:
        tool = TOOLS[op]
        parsed = tool.parse(fields)
        return self.policy.judge(
            Call(id="toolu_1", name=tool.name, input=fields, traits=tool.traits(parsed), line=tool.line(parsed))
        )

    async def attempt(self, op: str, **fields) -> tuple[str, ToolResult | None]:
        """The decision as the corpus words it, and what the tool said where it ran."""
        try:
            verdict = self.judge(op, **fields)
        except InputFault as fault:
            return "error", ToolResult(content=str(fault), is_error=True)
        if verdict.ruling is not Ruling.ALLOW:
            return str(verdict.ruling), None
        result = await self.use(op, verdict.judged, **fields)
        return ("error" if result.is_error else "allow"), result


async def play(world, case) -> tuple[str, ToolResult | None]:
    rules = {kind: list(map(world.expand, texts)) for kind, texts in case["rules"].items()}
    for dead in DEAD & {*rules["allow"]}:
        with pytest.raises(RuleProblem):
            rules_of(allow=[dead])
        rules["allow"].remove(dead)
    hands = Hands(world, rules_of(**rules, folder=str(world.folder)))
    for step, *words in case["setup"]:
        if step == "read":
            await hands.use("read", file_path=world.expand(words[0]))
        else:
            world.set_up(step, *words)
    if case["op"] == "edit" and case["expect"] == "allow":
        # That the model has seen what it edits is not what the case is about.
        await hands.use("read", file_path=world.expand(case["path"]))
    fields = {"edit": {"old_string": OLD.get(case["id"], "x"), "new_string": "y"}, "write": {"content": "new"}}.get(
        case["op"], {}
    )
    with without_privileges(world, case):
        return await hands.attempt(case["op"], file_path=world.expand(case["path"]), **(fields | case.get("args", {})))


@pytest.mark.parametrize("name", [name for name in CASES if name != RACES])
async def test_a_call_is_decided_soon_and_as_the_case_says(name, world):
    case = CASES[name]
    started, memory = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    decision, result = await play(world, case)

    assert decision in {case["expect"], *case.get("also_ok", ())}, result and result.content
    if result is not None:
        assert result.is_error is (name in MUST_FAIL), result.content
    assert time.monotonic() - started < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 300_000
    if result is not None:
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
    assert [name for name in CASES if {*CASES[name]["rules"]["allow"]} & DEAD] == ["path-scope-20"]


@contextmanager
def swapping(path: Path, *makers):
    """What another program might do: the path is each of these in turn, without a pause, until the end."""
    ended = threading.Event()

    def swap():
        aside = path.with_name(f".aside-{path.name}")
        while not ended.is_set():
            for make in makers:
                make(aside)
                aside.rename(path)

    racer = threading.Thread(target=swap)
    racer.start()
    try:
        yield
    finally:
        ended.set()
        racer.join()


async def test_a_file_swapped_for_a_link_again_and_again_never_leads_an_edit_astray(world):
    case = CASES[RACES]
    for step, *words in case["setup"][:2]:
        world.set_up(step, *words)
    path, victim = world.folder / "src/a.txt", world.outside / "victim"
    victim.write_text("x")
    hands = Hands(world, rules_of(**case["rules"], folder=str(world.folder)))
    await hands.use("read", file_path=str(path))
    seen = hands.files.get(str(path))

    with swapping(path, lambda aside: aside.symlink_to(victim), lambda aside: aside.write_text("x")):
        for _ in range(1_000):
            hands.files.remember(str(path), seen)
            # The victim counts as read, too: nothing but the judged path holds the edit back.
            hands.files.remember(str(victim), seen)
            await hands.attempt("edit", file_path=str(path), old_string="x", new_string="y")
            assert victim.read_text() == "x"


async def test_a_folder_swapped_for_a_link_again_and_again_never_tells_what_is_outside(world):
    inside, outside = world.folder / "src", world.outside / "src"
    for folder, text in ((inside, "ours"), (outside, "SECRET")):
        folder.mkdir()
        (folder / "a.txt").write_text(text)
    away = world.folder / "away"
    inside.rename(away)
    inside.symlink_to(away)
    hands = Hands(world)
    decisions = []

    with swapping(inside, lambda aside: aside.symlink_to(outside), lambda aside: aside.symlink_to(away)):
        for _ in range(1_000):
            hands.files.clear()
            decision, result = await hands.attempt("read", file_path=str(inside / "a.txt"))
            decisions.append(decision)
            assert result is None or "SECRET" not in str(result.content)

    assert {*decisions} <= {"allow", "ask", "error"}


async def test_a_link_that_turned_after_it_was_judged_is_named_in_the_error(world):
    (world.folder / "ours").write_text("ours")
    (world.outside / "theirs").write_text("theirs")
    link = world.folder / "link"
    link.symlink_to("ours")
    hands = Hands(world)
    verdict = hands.judge("read", file_path=str(link))
    link.unlink()
    link.symlink_to(world.outside / "theirs")

    result = await hands.use("read", verdict.judged, file_path=str(link))

    assert verdict.ruling is Ruling.ALLOW
    assert result == ToolResult(
        content=f"The path changed while it was being judged: it leads to {world.outside}/theirs now. "
        "Nothing was done; try again.",
        is_error=True,
    )


async def test_a_path_that_led_nowhere_when_it_was_judged_opens_nothing_later(world):
    loop = world.folder / "loop"
    loop.symlink_to("loop")
    hands = Hands(world)
    verdict = hands.judge("read", file_path=str(loop))
    loop.unlink()
    loop.write_text("something")

    result = await hands.use("read", verdict.judged, file_path=str(loop))

    assert verdict.judged == JudgedPath(target="")
    assert result.is_error


async def test_folders_made_for_a_write_that_turns_out_to_be_another_are_taken_away_again(world):
    link = world.folder / "link"
    link.symlink_to("here")
    hands = Hands(world, rules_of(allow=["Edit"]))
    verdict = hands.judge("write", file_path=str(link / "deep/new.txt"), content="x")
    link.unlink()
    link.symlink_to(world.outside)

    result = await hands.use("write", verdict.judged, file_path=str(link / "deep/new.txt"), content="x")

    assert result.is_error
    assert list(world.outside.iterdir()) == []
