"""A command that takes too much of the machine is ended, and everything else goes on."""

import asyncio
import os
import sys
import time
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest
from tests.tools.processes import PATIENCE_S, named, until

from everturn.core.limits import Limits
from everturn.tools.bash import bash_tool
from everturn.tools.bash.overload import Overload, load_machine, plan_memory

NAP = f"1000.{os.getpid()}"
"""Told from what other tests start."""
BOMB = f"for i in $(seq 10000); do sleep {NAP} & done; wait"
"""Ten thousand processes, one after the other."""
PYTHON = Path(sys.executable).resolve()
"""No script that looks for it, and needs an environment to do so."""


async def test_a_fork_bomb_is_ended_and_the_loop_stays_awake(desk):
    """extra-process-02."""
    slowest = 0.0

    async def tick() -> None:
        """In time of the processor: others want it, too, and the bomb most of all."""
        nonlocal slowest
        while True:
            began = time.thread_time()
            await asyncio.sleep(0.01)
            slowest = max(slowest, time.thread_time() - began)

    ticking = asyncio.ensure_future(tick())
    result = await desk.use(bash_tool(limits=Limits(command_processes=300)), command=BOMB)
    ticking.cancel()

    assert result.is_error
    assert result.content.startswith(
        "The command started more than 300 processes (the limit command_processes) and was ended, with all it had started."
    )
    await until(lambda: named(NAP) == [])
    assert slowest < 1.5


async def test_too_many_threads_are_ended(desk):
    threads = "[threading.Thread(target=time.sleep, args=(1000,)).start() for _ in range(200)]"
    command = f'for i in 1 2; do {PYTHON} -c "import threading, time; {threads}" & done; wait'

    result = await desk.use(bash_tool(limits=Limits(command_threads=300)), command=command)

    assert result.is_error
    assert result.content.startswith(
        "The command had more than 300 threads in all its processes (the limit command_threads) and was ended, "
        "with all it had started."
    )


@pytest.mark.parametrize("start", ["", "setsid --fork ", "env -i "])
async def test_a_process_that_takes_too_much_memory_is_ended(desk, start):
    """extra-process-04, with a limit that a small machine has, too."""
    taking = "import time; held = bytearray(b'x') * 400_000_000; print('got it', flush=True); time.sleep(1000)"
    command = f'{start}{PYTHON} -c "{taking}"; sleep 1000'

    result = await desk.use(bash_tool(limits=Limits(command_memory_mb=200)), command=command)

    assert f"took more than 200 MB of memory in one process, {PYTHON.name} (the limit command_memory_mb) and was" in (
        result.content
    )
    assert result.is_error
    assert (await desk.use(bash_tool(), command="echo next")).content == "next"


async def test_memory_that_another_process_gives_back_hides_nothing(desk):
    """The machine as a whole has more left than before the command."""
    held = "import sys; held = bytearray(b'x') * 800_000_000; print(flush=True); sys.stdin.read()"
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", held, stdin=PIPE, stdout=PIPE)
    await other.stdout.readline()
    command = f"kill {other.pid}; {PYTHON} -c 'import time; held = bytearray(b\"x\") * 400_000_000; time.sleep(1000)'"

    result = await desk.use(bash_tool(limits=Limits(command_memory_mb=200)), command=command)

    assert f"took more than 200 MB of memory in one process, {PYTHON.name}" in result.content
    await other.wait()


async def test_a_command_in_the_background_is_ended_too(desk):
    tool = bash_tool(limits=Limits(command_processes=200))
    await desk.use(tool, command=BOMB, run_in_background=True)
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(task.wait() for task in desk.context.tasks.running))

    (report,) = desk.context.tasks.take_finished()

    assert report.summary.startswith("ended because it started more than 200 processes")


async def test_many_processes_and_much_memory_are_fine_within_the_limits(desk):
    command = (
        "for i in $(seq 200); do sleep 0.6 & done; wait; python3 -c 'held = bytearray(b\"x\") * 100_000_000'; echo done"
    )

    assert (await desk.use(bash_tool(), command=command)).content == "done"


def test_no_process_gets_more_than_the_machine_can_spare():
    machine = load_machine()

    assert machine is not None
    assert machine.tasks >= 1
    assert 0 < machine.free <= machine.total == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert plan_memory(7_500, 2_000_000_000) <= 1_500_000_000
    assert plan_memory(0, machine.total) == 0


class Room:
    """`ports.sandbox.Room`."""

    def __init__(self, *, grows):
        self.grows, self.looks = grows, 0

    def has_grown(self):
        return self.grows

    def find_excess(self, processes):
        self.looks += 1
        return f"has {len(list(processes))} processes" if self.grows else ""


@pytest.mark.parametrize("grows", [False, True])
async def test_all_processes_are_searched_only_when_something_has_grown(grows):
    """A machine may have thousands, and a command that is held is looked at four times a second."""
    searched, noted = [], []

    def find_members():
        searched.append(True)
        return [os.getpid()]

    room, began = Room(grows=grows), time.monotonic()
    overload = Overload(Limits(command_processes=0, command_memory_mb=0), find_members, noted.append, room)
    # So long a look is due several times.
    process = await asyncio.create_subprocess_exec("sleep", "1")
    await process.wait()
    overload.close()

    assert len(searched) == room.looks
    assert noted == (["has 1 processes"] if grows else [])
    assert len(searched) == 1 if grows else len(searched) <= (time.monotonic() - began) / 2
