"""The abort signal's guard: work runs in the task that awaits it, and ends when the signal is raised."""

import asyncio

import pytest

from everturn.ports.abort import AbortedError, AbortSignal


async def answer() -> str:
    await asyncio.sleep(0)
    return "done"


async def wait_for_ever() -> None:
    await asyncio.Event().wait()


async def test_guarded_work_gives_its_result_and_makes_no_task():
    before = asyncio.all_tasks()

    async def count() -> set[asyncio.Task[object]]:
        return asyncio.all_tasks()

    assert await AbortSignal().guard(count()) == before
    assert await AbortSignal().guard(answer()) == "done"


async def test_a_signal_raised_before_keeps_the_work_from_starting():
    signal = AbortSignal()
    signal.abort()

    with pytest.raises(AbortedError):
        await signal.guard(answer())


async def test_a_signal_raised_meanwhile_cancels_the_work_and_leaves_the_task_whole():
    signal = AbortSignal()
    asyncio.get_running_loop().call_soon(signal.abort)

    with pytest.raises(AbortedError):
        await signal.guard(wait_for_ever())

    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert await answer() == "done"


async def test_a_signal_that_the_work_raises_itself_aborts_it_without_an_echo():
    signal = AbortSignal()

    async def give_up() -> str:
        signal.abort()
        return "too late"

    with pytest.raises(AbortedError):
        await signal.guard(give_up())

    assert await answer() == "done"


async def test_an_error_of_the_work_passes_and_becomes_an_abort_once_the_signal_is_raised():
    signal = AbortSignal()

    async def fail() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await signal.guard(fail())

    async def abort_and_fail() -> None:
        signal.abort()
        raise TimeoutError

    with pytest.raises(AbortedError):
        await signal.guard(abort_and_fail())


async def test_a_cancellation_from_outside_stays_one():
    signal = AbortSignal()
    task = asyncio.ensure_future(signal.guard(wait_for_ever()))
    await asyncio.sleep(0)
    task.cancel()
    signal.abort()

    with pytest.raises(asyncio.CancelledError):
        await task
