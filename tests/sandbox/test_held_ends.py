"""What a held command has started ends, wherever we run ourselves; and what holds it ends without waiting for anybody."""

import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.needs import NAMESPACES, ROOT

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Bounds, Holding
from everturn.ports.sandbox import Start
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolContext
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises
from everturn.sandbox.held.thread import ConfinedThread
from everturn.sandbox.limits import limit_held
from everturn.sandbox.witness import find_witness, kill_reachable
from everturn.tools.bash import bash_tool

PROGRAM = str(Path(__file__).with_name("held_program.py"))
PATIENCE_S = 60
LONGEST_PATH = 4095
LENGTH = f"1000.{os.getpid()}"
NAP = f"setsid env -i /bin/sleep {LENGTH} >/dev/null 2>&1 & disown; echo begun"
"""It leaves its parent, its group, its session and its environment."""


def ask(*before, folder, way="once", commands=("echo hello", NAP)):
    done = subprocess.run(
        [*before, sys.executable, PROGRAM, way, str(folder), *commands],
        env={**os.environ, "NAP": LENGTH, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def folder(tmp_path):
    return tmp_path.resolve()


@pytest.mark.needs("Landlock", "process namespaces")
def test_the_first_process_of_a_container_ends_what_held_commands_leave(folder):
    [answer] = ask(*NAMESPACES, folder=folder)

    assert answer == {"parent": 0, "said": ["hello", "begun"], "left": []}


@pytest.mark.needs("Landlock", "process namespaces")
def test_beside_the_first_process_of_a_container_there_may_be_nobody_to_end(folder):
    """As with `docker run --init`."""
    [answer] = ask(*NAMESPACES, "/bin/sh", "-c", '"$@"; exit $?', "init", folder=folder)

    assert answer == {"parent": 1, "said": ["hello", "begun"], "left": []}


@pytest.mark.needs("Landlock", "process namespaces")
def test_a_process_that_was_put_into_a_container_ends_what_held_commands_leave(folder):
    """As with `docker exec`: its parent is outside."""
    with subprocess.Popen(
        [*NAMESPACES, "/bin/sh", "-c", "echo ready; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as container:
        container.stdout.readline()
        first = Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text().split()[0]
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")

        [answer] = ask("nsenter", "--target", first, "--pid", "--mount", *user, folder=folder)

    assert answer == {"parent": 0, "said": ["hello", "begun"], "left": []}


def test_who_is_not_bound_ends_nobody():
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as other:
        assert kill_reachable(find_witness()) is False
        assert kill_reachable(0) is kill_reachable(-1) is False
        assert other.poll() is None


@pytest.mark.needs("Landlock")
def test_a_copy_of_the_program_holds_commands_as_well(folder):
    first, *others = ask(folder=folder, way="copied", commands=("echo first", "echo second", NAP))

    assert [each["said"] for each in (first, *others)] == [["first"], ["second", "begun"], ["second", "begun"]]
    assert [each["left"] for each in others] == [[], []]


@pytest.mark.needs("Landlock")
def test_a_copy_of_the_program_does_not_end_the_commands_of_the_other(folder):
    [answer] = ask(folder=folder, way="beside", commands=("echo first", "echo second"))

    assert answer["said"] == ["heard"]


def plan_start(line="true", **fields):
    return Start(arguments=["/bin/bash", "-c", line], environment=dict(os.environ), **fields)


def build_holder(folder, **fields):
    return CommandHolder(Premises(folders=lambda: (str(folder),), home="/nonexistent", **fields))


def context_of(folder, tasks):
    return ToolContext(
        folder=str(folder),
        tool_use_id="toolu_1",
        abort=AbortSignal(),
        files=FileStates(),
        progress=lambda _: None,
        tasks=tasks,
        holding=Holding(),
    )


@pytest.mark.needs("Landlock")
async def test_a_command_that_is_closed_after_its_session_waits_for_nobody(folder):
    holder = build_holder(folder)
    cell = await holder.hold(Holding(), plan_start(seal=500_000), str(folder))

    await holder.aclose()
    cell.close()


@pytest.mark.needs("Landlock")
async def test_the_session_ends_while_a_command_runs_that_nobody_cancels(folder):
    bash, tasks = bash_tool(holder=build_holder(folder)), Tasks()
    begun = folder / "begun"
    begun.touch()
    running = asyncio.ensure_future(bash.run(bash.parse({"command": "tail -f begun"}), context_of(folder, tasks)))
    # It has started when this one, which came later, has ended.
    await bash.run(bash.parse({"command": "true"}), context_of(folder, tasks))

    await tasks.aclose()
    result = await running

    assert "SIG" in result.content


def test_a_thread_that_has_ended_starts_nothing():
    thread = ConfinedThread(lambda: None)
    thread.close()

    with pytest.raises(OSError, match="has ended"):
        thread.start(lambda: 1)
    thread.end_all()
    thread.close()


def test_a_thread_that_is_not_bound_does_not_pass_for_one_that_is():
    with pytest.raises(OSError, match="would reach other processes"):
        ConfinedThread(lambda: None, alone=True)


def list_descriptors():
    """When nobody sweeps any more: that takes some, too."""
    for thread in threading.enumerate():
        if thread.name == "everturn-sweeping":
            thread.join()
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize(
    "writes", [pytest.param(False, marks=pytest.mark.needs("Landlock")), pytest.param(True, marks=pytest.mark.needs("bubblewrap"))]
)  # fmt: skip
async def test_a_command_that_cannot_be_held_leaves_nothing(folder, writes):
    """There is no descriptor above the highest that a process may have."""
    holder = build_holder(folder)
    (await holder.hold(Holding(writes=writes), plan_start(seal=500_000), str(folder))).close()
    before, most = list_descriptors(), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (250, most[1]))
    try:
        for _ in range(3):
            with pytest.raises(ToolFault, match="could not be held"):
                await holder.hold(Holding(writes=writes), plan_start(seal=500_000), str(folder))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    assert list_descriptors() == before

    (await holder.hold(Holding(writes=writes), plan_start(seal=500_000), str(folder))).close()
    await holder.aclose()
    assert list(folder.iterdir()) == []


@pytest.mark.needs("Landlock")
async def test_without_a_place_for_temporary_files_a_command_does_not_run(folder):
    nowhere = folder.with_name("nowhere")
    with pytest.raises(ToolFault, match="could not be held"):
        await build_holder(folder, temporary=str(nowhere)).hold(Holding(), plan_start(), str(folder))


@pytest.mark.needs("bubblewrap")
async def test_where_a_folder_of_ours_is_worked_in_by_now_another_takes_its_place(folder, tmp_path_factory):
    place = tmp_path_factory.mktemp("temporary").resolve()
    folders = [str(folder)]
    holder = CommandHolder(Premises(folders=lambda: tuple(folders), home="/nonexistent", temporary=str(place)))
    named = []
    for _ in range(2):
        cell = await holder.hold(Holding(writes=True), plan_start(), str(folder))
        cell.close()
        named.append(f"{place}/everturn-" in " ".join((*cell.start.arguments, *cell.start.environment.values())))
        folders.append(str(place))
    await holder.aclose()

    assert named == [True, False]
    assert list(place.iterdir()) == []


@pytest.mark.needs("Landlock")
async def test_what_a_command_leaves_is_removed_beside_and_the_next_has_a_new_folder(folder):
    bash, tasks = bash_tool(holder=build_holder(folder)), Tasks()

    async def find_folder(line):
        result = await bash.run(bash.parse({"command": f"{line}; echo $TMPDIR"}), context_of(folder, tasks))
        return result.content

    clean, still, filled = [await find_folder(line) for line in (":", ":", "mkdir -p $TMPDIR/a/b; : > $TMPDIR/c")]
    after = await find_folder("ls -A $TMPDIR")
    await tasks.aclose()

    assert clean == still == filled != after
    assert {filled, after}.isdisjoint(map(str, list_there(filled)))
    assert not any(thread.name == "everturn-removing" for thread in threading.enumerate())


def list_there(path):
    return list(Path(path).parent.iterdir())


LIMITS = "ulimit -c; ulimit -t; ulimit -d; ulimit -f; ulimit -n; ulimit -u 2>/dev/null || ulimit -p"


@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])
@pytest.mark.parametrize("hard", [None, 300])
def test_each_limit_counts_for_itself(shell, hard):
    """Whatever shell it is, and where one of them is lower already."""
    arguments = limit_held([shell, "-c", LIMITS], Bounds())
    below = () if hard is None else ("prlimit", f"--cpu={hard}:{hard}")
    # Root may raise what is lower; nobody may not.
    user = {"user": 65_534} if os.getuid() == 0 else {}

    said = subprocess.run([*below, *arguments], capture_output=True, text=True, check=True, **user).stdout.split()

    blocks = 1024 if os.path.realpath(shell).endswith("bash") else 512
    unit = 512 if shell == "/bin/sh" else blocks
    assert said[:5] == ["0", str(hard or 600), str(4 * 1024**2), str(256 * 1024**2 // unit), "512"]
    assert int(said[5]) >= 2_048


@pytest.mark.parametrize(
    ("without", "writes"),
    [
        pytest.param("bubblewrap", False, marks=pytest.mark.needs("Landlock")),
        pytest.param("landlock", False, marks=pytest.mark.needs("bubblewrap")),
        pytest.param("landlock", True, marks=pytest.mark.needs("bubblewrap")),
    ],
)
async def test_a_holder_that_nobody_closes_leaves_neither_descriptors_nor_folders(folder, without, writes):
    place = folder / "temporary"
    place.mkdir()
    await hold_and_forget(folder, place, without, writes)
    before = list_descriptors()

    for _ in range(3):
        await hold_and_forget(folder, place, without, writes)

    assert list_descriptors() == before
    assert list(place.iterdir()) == []


async def hold_and_forget(folder, place, without, writes):
    work = folder / "work"
    work.mkdir(exist_ok=True)
    premises = Premises(folders=lambda: (str(work),), home="/nonexistent", temporary=str(place))
    holder = CommandHolder(premises, without=without)
    (await holder.hold(Holding(writes=writes), plan_start(), str(work))).close()
    # Placeholders go a moment later.
    while any(work.iterdir()):  # noqa: ASYNC110 - nobody tells when
        await asyncio.sleep(0)
    del holder
    gc.collect()


@pytest.mark.needs("bubblewrap")
async def test_where_the_systems_files_cannot_be_copied_nothing_is_left(folder, tmp_path_factory):
    """The longest path at which the person's settings of git can still be written: `/etc/ssl` has one letter more than `/config`."""
    length = LONGEST_PATH - len("/everturn-sandbox-12345678/config")
    place = tmp_path_factory.mktemp("temporary").resolve()
    while len(str(place)) < length - 250:
        place /= "d" * 200
    place /= "d" * (length - len(str(place)) - 1)
    holder = build_holder(folder)
    assert holder.walls.edits
    await holder.aclose()
    place.mkdir(parents=True)
    holder = build_holder(folder, temporary=str(place))
    before = list_descriptors()

    with pytest.raises(ToolFault):
        await holder.hold(Holding(writes=True), plan_start(), str(folder))
    await holder.aclose()

    assert list_descriptors() == before
    assert list(place.iterdir()) == []
