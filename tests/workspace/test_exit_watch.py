"""A child's exit, told to the loop: one suite for the descriptor and for the thread that stands in for it."""

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from everturn.workspace.exit_watch import DescriptorWatch, ThreadWatch, watch_exit


def watch_by_descriptor(process, loop, told):
    return DescriptorWatch(process, loop, told, os.pidfd_open(process.pid))


WAYS = [ThreadWatch, watch_exit, *([watch_by_descriptor] if hasattr(os, "pidfd_open") else [])]


def open_descriptors():
    return set(Path("/dev/fd").iterdir())


@pytest.fixture
def start():
    """Starts a shell whose input is held open: it goes on until that is closed."""
    started = []

    def start(script):
        started.append(subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.stdin.close()
        process.wait(60)


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def watch(request):
    """Gives the watch, and a future for what it tells."""

    def watch(process):
        loop = asyncio.get_running_loop()
        told = loop.create_future()
        return request.param(process, loop, told.set_result), told

    return watch


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -signal.SIGKILL)])
async def test_the_exit_code_is_told(start, watch, script, code):
    watching, told = watch(start(script))

    assert await asyncio.wait_for(told, 60) == code
    watching.close()


async def test_a_child_that_is_gone_already_is_told_too(start, watch):
    process = start("exit 3")
    await asyncio.to_thread(os.waitid, os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    watching, told = watch(process)

    assert await asyncio.wait_for(told, 60) == 3
    watching.close()


async def test_a_watch_that_is_closed_tells_nobody_and_still_reaps(start, watch):
    process = start("read line; exit 3")
    watching, told = watch(process)

    watching.close()
    process.stdin.close()
    async with asyncio.timeout(60):
        while process.returncode is None:  # noqa: ASYNC110 - nobody is told, and that is the point
            await asyncio.sleep(0.01)
    await asyncio.sleep(0)

    assert (process.returncode, told.done()) == (3, False)


async def test_a_watch_leaves_no_descriptor(start, watch):
    before = open_descriptors()
    process = start("exit 0")
    watching, told = watch(process)
    await asyncio.wait_for(told, 60)
    watching.close()
    process.stdin.close()

    assert open_descriptors() == before
