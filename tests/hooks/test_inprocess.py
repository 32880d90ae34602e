"""Hooks in the same process: what they may answer, and that none of them can hurt the loop."""

import asyncio
import threading

import pytest

from everturn.core.errors import OptionError
from everturn.hooks.inprocess import InProcessHooks
from everturn.ports.hooks import FailureInput, PostToolVerdict, StopInput, StopVerdict
from everturn.ports.policy import Call
from everturn.ports.tool import ToolResult, Traits

TURN = StopInput(session_id="s", messages=(), text="done", stop_hook_active=False)
CALL = Call(id="toolu_1", name="Bash", input={}, traits=Traits(), line="Bash")
RESULT = ToolResult(content="ok")
FAILURE = FailureInput(session_id="s", reason="model_error", error="gone")


def passes(*arguments):
    return None


async def blocks(turn):
    return f"not {turn.text}"


def prevents(turn):
    return StopVerdict(prevent="enough")


def breaks(*arguments):
    raise RuntimeError("out of order")


def leaves(*arguments):
    raise SystemExit(1)


def exhausted(*arguments):
    return next(iter(()))


def misfits(*arguments):
    return 42


async def slow(*arguments):
    await asyncio.Event().wait()


async def times_out_inside(*arguments):
    raise TimeoutError("the other end")


class Judge:
    async def __call__(self, turn):
        return StopVerdict(output="judged")


async def test_each_stop_hook_answers_in_its_own_way_and_in_order():
    hooks = InProcessHooks(stop=[passes, blocks, prevents, Judge(), lambda turn: blocks(turn)])  # noqa: PLW0108 - a sync callable that gives a coroutine

    assert await hooks.stop(TURN) == (
        StopVerdict(),
        StopVerdict(block="not done"),
        StopVerdict(prevent="enough"),
        StopVerdict(output="judged"),
        StopVerdict(block="not done"),
    )


@pytest.mark.parametrize(
    ("hook", "text"),
    [
        (breaks, "The hook breaks failed: RuntimeError: out of order"),
        (leaves, "The hook leaves failed: SystemExit: 1"),
        (exhausted, "The hook exhausted failed: RuntimeError: StopIteration"),
        (times_out_inside, "The hook times_out_inside failed: TimeoutError: the other end"),
        (slow, "The hook slow took longer than 0.05 s."),
    ],
)
async def test_a_hook_that_fails_passes_and_is_reported(hook, text):
    patience = 0.05 if hook is slow else 10
    hooks = InProcessHooks(stop=[hook], post_tool=[hook], stop_failure=[hook], timeout_s=patience)

    assert await hooks.stop(TURN) == (StopVerdict(output=text),)
    assert await hooks.post_tool(CALL, RESULT) == PostToolVerdict(note=text)
    assert await hooks.stop_failure(FAILURE) is None


async def test_an_answer_of_the_wrong_kind_passes_and_is_reported():
    hooks = InProcessHooks(stop=[misfits], post_tool=[misfits])

    assert await hooks.stop(TURN) == (
        StopVerdict(output="The hook misfits answered int; expected a StopVerdict, a text or None."),
    )
    assert await hooks.post_tool(CALL, RESULT) == PostToolVerdict(
        note="The hook misfits answered int; expected a PostToolVerdict or None."
    )


async def test_stop_hooks_run_side_by_side():
    async_meeting, sync_meeting = asyncio.Barrier(2), threading.Barrier(2)

    async def one(turn):
        await async_meeting.wait()

    def two(turn):
        sync_meeting.wait(60)

    hooks = InProcessHooks(stop=[one, one, two, two], timeout_s=60)

    assert await hooks.stop(TURN) == (StopVerdict(),) * 4


async def test_after_a_tool_hooks_run_in_order_the_first_stop_counts_and_notes_are_joined():
    order = []

    def first(call, result):
        order.append((call.name, result.content))
        return PostToolVerdict(note="one")

    async def second(call, result):
        order.append("second")
        return PostToolVerdict(stop="halt", note="two")

    def third(call, result):
        order.append("third")
        return PostToolVerdict(stop="later")

    hooks = InProcessHooks(post_tool=[first, second, third, passes])

    assert await hooks.post_tool(CALL, RESULT) == PostToolVerdict(stop="halt", note="one\ntwo")
    assert order == [("Bash", "ok"), "second", "third"]


async def test_a_failure_reaches_every_failure_hook():
    heard = []

    await InProcessHooks(stop_failure=[breaks, heard.append]).stop_failure(FAILURE)

    assert heard == [FAILURE]


async def test_no_hooks_have_no_opinion():
    hooks = InProcessHooks()

    assert await hooks.stop(TURN) == ()
    assert await hooks.post_tool(CALL, RESULT) == PostToolVerdict()
    assert await hooks.stop_failure(FAILURE) is None


async def test_a_cancellation_goes_through():
    running = asyncio.ensure_future(InProcessHooks(stop=[slow]).stop(TURN))
    await asyncio.sleep(0)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize(("options", "field"), [({"stop": ["text"]}, "stop"), ({"timeout_s": 0}, "timeout_s")])
def test_a_wrong_option_is_named(options, field):
    with pytest.raises(OptionError, match=f"^{field}: "):
        InProcessHooks(**options)
