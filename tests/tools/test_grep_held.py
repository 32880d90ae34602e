"""Grep while names are swapped under it: its program is held to what was judged, whatever the names lead to by now."""

import os
from functools import partial

import msgspec
import pytest

from everturn.core.errors import ToolFault
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.rule_parser import parse_rule
from everturn.ports import unsettled
from everturn.ports.judged_paths import JudgedPath
from everturn.ports.policy import Ruling
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises
from everturn.tools.grep import grep_tool
from everturn.tools.grep.holding import RESTLESS
from everturn.tools.grep.python_engine import run_python
from everturn.tools.grep.ripgrep import find_ripgrep, run_ripgrep
from everturn.tools.grep.tool import choose_engine, run_grep
from everturn.workspace.paths import locate

TOOL = grep_tool()
ENGINES = {"ripgrep": partial(run_ripgrep, find_ripgrep()), "python": run_python}
if not find_ripgrep():
    del ENGINES["ripgrep"]
WALLS = {
    "landlock": pytest.param("", marks=pytest.mark.needs("Landlock")),
    "bubblewrap": pytest.param("landlock", marks=pytest.mark.needs("bubblewrap")),
}
LINES = {"pattern": "word", "output_mode": "content"}


class Room:
    """A folder to search in, one outside of it, and a link that leads there."""

    def __init__(self, desk):
        self.desk, self.folder = desk, desk.folder
        self.outside = desk.folder.parent / "outside"
        self.outside.mkdir()
        (self.outside / "a.txt").write_text("word outside\n")
        desk.write("top/d/a.txt", "word inside\n")
        (self.folder / "top" / "l").symlink_to(self.outside)

    def hold(self, without="", **premises):
        folders = (str(self.folder),)
        return CommandHolder(Premises(folders=lambda: folders, home="/root", **premises), without=without)

    def swap(self):
        top = self.folder / "top"
        (top / "d").rename(top / "between")
        (top / "l").rename(top / "d")
        (top / "between").rename(top / "l")

    def swapping(self, engine):
        """What a quick command does: behind one look and before the next, everything is as it was."""

        async def run(query, abort, hold):
            self.swap()
            try:
                return await engine(query, abort, hold)
            finally:
                self.swap()

        return run

    async def search(self, engine, holder, path="top"):
        place = locate(str(self.folder), path)
        context = msgspec.structs.replace(self.desk.context, judged=JudgedPath(target=place))
        return (await run_grep(TOOL.parse({**LINES, "path": path}), context, engine, holder)).content


@pytest.fixture
def room(desk):
    return Room(desk)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("without", WALLS.values(), ids=WALLS)
@pytest.mark.parametrize("path", ["top/d", "top/d/a.txt"])
async def test_a_folder_that_is_a_link_while_it_is_searched_shows_nothing_from_outside(room, engine, without, path):
    holder = room.hold(without)

    try:
        found = await room.search(room.swapping(ENGINES[engine]), holder, path)
    except ToolFault as fault:
        found = str(fault)

    assert "word outside" not in found
    assert await room.search(ENGINES[engine], holder, path) == "top/d/a.txt:1:word inside"
    await holder.aclose()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("without", WALLS.values(), ids=WALLS)
async def test_a_file_that_a_rule_denies_is_not_shown_under_another_name(room, engine, without):
    room.desk.write("keys/a.txt", "word denied\n")
    link = room.folder / "top" / "l"
    link.unlink()
    link.symlink_to(room.folder / "keys")
    policy = RulePolicy("default", str(room.folder), rules=[parse_rule("Read(keys/**)", Ruling.DENY)])
    holder = room.hold(without, find_hides=policy.find_hides)

    try:
        found = await room.search(room.swapping(ENGINES[engine]), holder, "top/d")
    except ToolFault as fault:
        found = str(fault)

    assert "word denied" not in found
    assert await room.search(ENGINES[engine], holder) == "top/d/a.txt:1:word inside"
    await holder.aclose()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("without", WALLS.values(), ids=WALLS)
async def test_a_place_outside_that_was_allowed_is_searched(room, engine, without):
    holder = room.hold(without)

    assert await room.search(ENGINES[engine], holder, "../outside") == f"{room.outside}/a.txt:1:word outside"
    await holder.aclose()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("without", WALLS.values(), ids=WALLS)
async def test_ignore_files_around_the_working_folder_count(room, engine, without):
    (room.folder.parent / ".ignore").write_text("skipped.txt\n")
    room.desk.write("top/skipped.txt", "word skipped\n")
    holder = room.hold(without)

    assert await room.search(ENGINES[engine], holder) == "top/d/a.txt:1:word inside"
    await holder.aclose()


@pytest.mark.parametrize("engine", ENGINES)
async def test_where_nothing_holds_a_search_waits_for_commands_that_nobody_approved(room, engine):
    unsettled.begin([str(room.folder)])
    try:
        with pytest.raises(ToolFault) as refused:
            await room.search(ENGINES[engine], room.hold("off"))
    finally:
        unsettled.end([str(room.folder)])

    assert str(refused.value) == RESTLESS
    assert await room.search(ENGINES[engine], room.hold("off")) == "top/d/a.txt:1:word inside"


async def test_where_nothing_holds_a_command_that_came_and_went_counts_too(room):
    async def overtaken(query, abort, hold):
        found = await run_python(query, abort, hold)
        unsettled.begin([str(room.folder)])
        unsettled.end([str(room.folder)])
        return found

    with pytest.raises(ToolFault) as refused:
        await room.search(overtaken, None)

    assert str(refused.value) == RESTLESS


@pytest.mark.needs("Landlock")
async def test_a_wrapper_that_does_not_work_held_is_replaced_by_our_own_engine(room, monkeypatch, tmp_path):
    wrapper = tmp_path / "programs" / "rg"
    wrapper.parent.mkdir()
    wrapper.write_text(f"#!/bin/sh\ncat {room.outside}/a.txt || exit 3\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    holder = room.hold()

    assert find_ripgrep((str(room.folder),)) == str(wrapper)
    assert await room.search(choose_engine((str(room.folder),)), holder) == "top/d/a.txt:1:word inside"
    await holder.aclose()
