"""Bubblewrap as older systems have it: edits are held without what it does not know, or are asked about."""

import os
import shutil

import pytest
from tests.permissions.rules_of import rules_of

from everturn.compose.lone_policy import build_call
from everturn.permissions.policy import RulePolicy
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Bounds, Holding
from everturn.ports.policy import Ruling
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolContext
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises
from everturn.tools.bash import bash_tool

pytestmark = pytest.mark.needs("bubblewrap")
MIB = 1024**2
OLD = """#!/bin/sh
for word in "$@"; do
    [ "$word" = -- ] && break
    [ "$word" = "{lacking}" ] && echo "bwrap: Unknown option $word" >&2 && exit 1
done
exec {program} "$@"
"""


@pytest.fixture
def build(tmp_path):
    """A holder with a bubblewrap that lacks an option."""
    folder = tmp_path.resolve() / "work"
    folder.mkdir()

    def build(lacking, **fields):
        program = tmp_path / f"bwrap{lacking}"
        program.write_text(OLD.format(lacking=lacking, program=shutil.which("bwrap")))
        program.chmod(0o755)
        premises = Premises(folders=lambda: (str(folder),), home="/nonexistent", **fields)
        return folder, CommandHolder(premises, program=str(program))

    return build


async def run(holder, folder, *commands):
    bash, tasks = bash_tool(holder=holder), Tasks()
    context = ToolContext(
        folder=str(folder),
        tool_use_id="toolu_1",
        abort=AbortSignal(),
        files=FileStates(),
        progress=lambda _: None,
        tasks=tasks,
        holding=Holding(writes=True),
    )
    said = [(await bash.run(bash.parse({"command": command}), context)).content for command in commands]
    await tasks.aclose()
    return said


async def test_edits_are_held_by_a_bubblewrap_that_bounds_nothing(build):
    folder, holder = build("--size")

    said = await run(holder, folder, "echo x > made; echo y > $TMPDIR/a; cat $TMPDIR/a; ls -A $TMPDIR", "ls -A $TMPDIR")

    assert holder.walls.edits
    assert said == ["y\na", "(no output)"]
    assert (folder / "made").read_text() == "x\n"


@pytest.mark.parametrize("place", ["$TMPDIR", "/dev/shm"])
async def test_what_such_a_view_keeps_in_memory_has_bounds(build, place):
    """Also files without a name."""
    folder, holder = build("--size", bounds=Bounds(temporary=16 * MIB))

    [said] = await run(holder, folder, f"exec 9> {place}/a; rm {place}/a; head -c 40M /dev/zero >&9; sleep 60")

    assert "filled more than 16 MiB with temporary files and was ended" in said


async def test_files_that_are_no_bytes_have_a_bound_too(build):
    folder, holder = build("--size", bounds=Bounds(temporary_files=50))

    [said] = await run(holder, folder, "for i in $(seq 100); do : > $TMPDIR/$i; done; sleep 60")

    assert "made more than 50 temporary files and was ended" in said


@pytest.mark.parametrize("lacking", ["--perms", "--info-fd", "--remount-ro"])
def test_where_it_lacks_what_holds_an_edit_a_person_is_asked(build, lacking):
    folder, holder = build(lacking)
    policy = RulePolicy("acceptEdits", str(folder), rules=rules_of(), walls=lambda: holder.walls)

    verdict = policy.judge(build_call("Bash", {"command": "mkdir made"}))

    assert not holder.walls.edits
    assert verdict.ruling is Ruling.ASK
    assert "it cannot be confined to the working folders here" in verdict.reason


def test_what_commands_are_given_is_what_is_judged(build, monkeypatch):
    """One environment, whatever else this program has."""
    monkeypatch.setenv("OURS", "x")
    folder, holder = build("", environment={"PATH": "/usr/bin:/bin", "THEIRS": "x"})

    walls = holder.walls

    assert [walls.lacks(name) for name in ("THEIRS", "OURS", "PATH")] == [True, False, False]
    other = CommandHolder(Premises(folders=lambda: (str(folder),), home="/", environment={"PATH": f"{folder}/bin"}))
    assert other.walls.lacks("PATH")
    assert "OURS" in os.environ
