"""What goes wrong while a command is prepared or tidied up behind: nothing is left over, the session goes on, and what was lost is told."""

import os
import resource
import shutil
from contextlib import contextmanager

import pytest
from tests.sandbox.test_parts import START

from everturn.core.errors import ToolFault
from everturn.ports.holding import Holding
from everturn.ports.tool import Confinement
from everturn.sandbox.aftermath import Aftermath
from everturn.sandbox.aside import Aside
from everturn.sandbox.cells import CommandCell
from everturn.sandbox.command_sandbox import CommandSandbox, SandboxSurroundings
from everturn.sandbox.denials import ConfinedRun, explain_put_back
from everturn.sandbox.held.cell import UNSETTLED, HeldCell
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.places import HeldPlaces
from everturn.sandbox.held.premises import Premises
from everturn.sandbox.kept import Keeper, PutBack
from everturn.sandbox.places import Places
from everturn.sandbox.probe import find_means
from everturn.sandbox.repositories import Repositories
from everturn.sandbox.settings import SandboxSettings

KINDS = [
    pytest.param("landlock", marks=pytest.mark.needs("bubblewrap")),
    pytest.param("bubblewrap", marks=pytest.mark.needs("Landlock")),
]
"""What is passed over."""


def list_descriptors():
    return set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are all we need


@contextmanager
def few_descriptors(count):
    """No more than so many can be opened."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = set(map(int, list_descriptors()))
    limit = max(used) + 1 + count
    taken = [os.open("/", os.O_RDONLY) for _ in range(limit - len(used) - count)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
        for number in taken:
            os.close(number)


@pytest.mark.parametrize("without", KINDS)
async def test_a_command_that_cannot_be_prepared_leaves_nothing_behind(tmp_path, without):
    """Whichever step it is that runs out of descriptors."""
    os.mkdir(tmp_path / ".git")  # noqa: PTH102 - a path as text
    sandbox = CommandSandbox(
        SandboxSettings(enabled=True), find_means(without=without), SandboxSurroundings(folders=(), home="/nonexistent")
    )
    before = sorted(tmp_path.rglob("*"))
    sandbox.temporary  # noqa: B018 - made for the session
    (await sandbox.confine("true", START, str(tmp_path))).close()
    descriptors = list_descriptors()
    failed = 0
    for count in range(40):
        with few_descriptors(count):
            try:
                cell = await sandbox.confine("true", START, str(tmp_path))
            except (OSError, ToolFault):
                # A fault where the descriptors ran out while it looked at what it would have to put back.
                failed += 1
            else:
                cell.close()
    await sandbox.aclose()

    # Rules need no descriptor before the command starts.
    assert failed or without == "bubblewrap"
    assert list_descriptors() <= descriptors
    assert sorted(tmp_path.rglob("*")) == before


def test_what_cannot_be_put_back_is_told_and_the_next_command_is_as_the_first(tmp_path):
    """However few descriptors there are to put it back with."""
    kept = tmp_path / "a" / "kept"
    kept.parent.mkdir()
    places = Places(writable=(str(tmp_path),), protected=(str(kept),))
    aftermath = Aftermath()
    kept.write_text("old")
    aftermath.begin([str(kept)], places, "/nonexistent")
    aftermath.end()
    descriptors = list_descriptors()
    results = []
    for count in range(12):
        kept.write_text("old")
        aftermath.begin([str(kept)], places, "/nonexistent")
        kept.write_text("new")
        with few_descriptors(count):
            done = aftermath.end()
        results.append((done.lost == (str(kept),), kept.exists() and kept.read_text() == "old"))
        assert list_descriptors() <= descriptors
        shutil.rmtree(done.aside.partition(", ")[0], ignore_errors=True)
        for left in kept.parent.iterdir():
            left.unlink()

    assert set(results) == {(True, False), (False, True)}
    assert not aftermath.is_sure
    aftermath.close()


def cell_of(steps, put_back):
    held = ConfinedRun(output="", folder="/", places=Places(writable=()))
    return CommandCell(
        START, held, survivors=None, put_back=put_back, note_closed=lambda: steps.append("closed"), filtered=os.dup(0)
    )


def fail(*_):
    raise RuntimeError("it does not work")


def test_a_cell_is_closed_whatever_fails():
    steps, before = [], list_descriptors()
    cell = cell_of(steps, fail)

    with pytest.raises(RuntimeError):
        cell.close()
    cell.close()

    assert steps == ["closed"]
    assert list_descriptors() == before


def test_a_held_cell_is_closed_whatever_fails_and_says_so():
    steps, before = [], list_descriptors()
    places = HeldPlaces(folders=(), programs=(), readable=(), opened=(), temporary="/nonexistent", hidden=())
    cell = HeldCell(START, places, handed=(os.dup(0),), settle=fail, note_closed=lambda: steps.append("closed"))

    told = cell.explain("", 0)
    cell.close()

    assert told == (f"{UNSETTLED} (it does not work).",)
    assert steps == ["closed"]
    assert list_descriptors() == before


def test_where_a_command_may_live_on_the_next_is_asked_about():
    aftermath = Aftermath()
    aftermath.begin([], Places(writable=()), "/nonexistent")

    done = aftermath.end(is_over=False)

    assert not done.is_over
    assert not aftermath.is_sure


TOO_FAR = 30


def make_far(folder):
    """Deeper than a path can name."""
    back = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    for _ in range(TOO_FAR):
        os.mkdir("x" * 200)  # noqa: PTH102 - a step
        os.chdir("x" * 200)
    os.fchdir(back)
    os.close(back)


@pytest.mark.parametrize("without", KINDS)
async def test_where_not_every_folder_can_be_looked_at_commands_are_asked_about(tmp_path, without):
    sandbox = CommandSandbox(
        SandboxSettings(enabled=True, auto_allow=True),
        find_means(without=without),
        SandboxSurroundings(folders=(str(tmp_path),), home="/nonexistent"),
    )
    assert sandbox.judge("true", leave=False) is Confinement.ENOUGH
    cell = await sandbox.confine("true", START, str(tmp_path))

    make_far(tmp_path)
    cell.close()

    assert sandbox.judge("true", leave=False) is Confinement.INSIDE
    shutil.rmtree(tmp_path / ("x" * 200))
    assert sandbox.judge("true", leave=False) is Confinement.INSIDE, "what was made meanwhile is not known any more"
    await sandbox.aclose()


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_where_not_every_folder_can_be_looked_at_held_edits_are_asked_about(tmp_path, when):
    holder = CommandHolder(Premises(folders=lambda: (str(tmp_path),), home="/nonexistent"))
    edit = Holding(writes=True)
    assert holder.walls.edits

    if when == "before":
        make_far(tmp_path)
        with pytest.raises(ToolFault, match="Run it again"):
            await holder.hold(edit, START, str(tmp_path))
    else:
        cell = await holder.hold(edit, START, str(tmp_path))
        make_far(tmp_path)
        cell.close()

    assert (holder.walls.edits, holder.walls.reads) == (False, True)
    with pytest.raises(ToolFault, match="nobody approved it"):
        await holder.hold(edit, START, str(tmp_path))
    await holder.aclose()
    shutil.rmtree(tmp_path / ("x" * 200))


def arm(folder):
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n\tfsmonitor = evil\n")


def test_folders_that_are_made_in_great_number_hide_nothing_that_was_there(tmp_path):
    for number in range(5):
        (tmp_path / f"old{number}" / "deep").mkdir(parents=True)
    repositories, aside = Repositories(most=20), Aside()
    repositories.begin([str(tmp_path)], frozenset(), is_known=False)
    for number in range(100):
        (tmp_path / f"new{number}" / "deep").mkdir(parents=True)
    for number in range(5):
        arm(tmp_path / f"old{number}" / "deep")

    done = repositories.end(frozenset(), aside)

    assert len(done.disarmed) == 5
    assert not done.is_whole
    assert "not every folder" in " ".join(explain_put_back(done))
    repositories.let_go()
    aside.close()
    shutil.rmtree(aside.place)


def test_what_cannot_be_taken_away_is_told():
    (told,) = explain_put_back(PutBack(armed=("/w/sub/.git/config",)))

    assert told.startswith("/w/sub/.git/config may have git run a program outside, and could not be taken away")


def test_a_keeper_that_could_not_begin_has_not_begun(tmp_path):
    (tmp_path / "a").mkdir()
    keeper, before = Keeper(), list_descriptors()

    def list_paths():
        yield str(tmp_path / "a" / "file")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        keeper.begin(list_paths(), [str(tmp_path)])

    assert list_descriptors() == before
