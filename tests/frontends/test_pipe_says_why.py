"""Text to a pipe: whoever waits, interrupts or runs into a limit is told why, on standard error."""

import asyncio
import io
import json
import socket

from tests.frontends.interrupting import InterruptingEngine

from everturn.core.budget import Usage
from everturn.core.events import CompactionBegan, MessageBegan, RequestStarted
from everturn.frontends.headless.complaints import MIN_SILENCE_S, Complaints
from everturn.frontends.headless.run import run_headless
from everturn.frontends.headless.sink import Sink
from everturn.frontends.headless.view import Introduction
from everturn.modelserver import calls, hold, overloaded, stall, text


async def run(engine, **options):
    out, err = io.BytesIO(), io.BytesIO()
    code = await run_headless(engine, "hi", out=out, err=err, **options)
    return code, out.getvalue().decode(), err.getvalue().decode()


async def test_every_failed_attempt_is_told_the_first_one_at_once(bench):
    bench.model(overloaded(), overloaded(), text("Here I am."))

    code, out, err = await run(bench.engine())

    first, second = err.splitlines()
    assert (code, out) == (0, "Here I am.\n")
    assert "(attempt 1 of 10, next in 0." in first
    assert "(attempt 2 of 10, next in " in second


class Watched(io.BytesIO):
    """Somebody waits for the lines."""

    def __init__(self):
        super().__init__()
        self.came = asyncio.Event()

    def write(self, data):
        self.came.set()
        return super().write(data)

    async def lines(self, count):
        while len(lines := self.getvalue().decode().splitlines()) < count:
            self.came.clear()
            await self.came.wait()
        return lines[:count]


async def test_a_long_wait_is_told_with_its_length_again_and_again():
    err = Watched()
    complaints = Complaints(Sink(err), silence_s=0.01)

    complaints.handlers[RequestStarted](RequestStarted(turn=1, model="claude-sonnet-5"))

    async with asyncio.timeout(60):
        assert await err.lines(3) == [
            "everturn: waiting for claude-sonnet-5, for 0.01 s so far",
            "everturn: waiting for claude-sonnet-5, for 0.02 s so far",
            "everturn: waiting for claude-sonnet-5, for 0.04 s so far",
        ]
    complaints.close()


async def test_a_wait_that_has_ended_is_told_no_more():
    begun, still_waiting = Watched(), Watched()
    ended, other = Complaints(Sink(begun), silence_s=0.01), Complaints(Sink(still_waiting), silence_s=0.01)

    ended.handlers[RequestStarted](RequestStarted(turn=1, model="claude-sonnet-5"))
    ended.handlers[MessageBegan](MessageBegan(message_id="1", model="claude-sonnet-5", usage=Usage()))
    other.handlers[RequestStarted](RequestStarted(turn=1, model="claude-sonnet-5"))

    async with asyncio.timeout(60):
        await still_waiting.lines(2)
    other.close()
    assert begun.getvalue() == b""


def test_ten_seconds_are_a_long_wait():
    assert MIN_SILENCE_S == 10


async def test_while_the_conversation_is_summed_up_the_wait_says_so():
    err = Watched()
    complaints = Complaints(Sink(err), silence_s=0.01)

    complaints.handlers[RequestStarted](RequestStarted(turn=1, model="claude-sonnet-5"))
    complaints.handlers[CompactionBegan](CompactionBegan(cause="full"))

    async with asyncio.timeout(60):
        assert await err.lines(1) == ["everturn: summarising the conversation, for 0.01 s so far"]
    complaints.close()


async def test_a_server_that_says_nothing_is_told_with_what_to_check(bench):
    bench.model(stall())

    code, out, err = await run(bench.engine(stall_s=0.1, max_retries=1))

    assert (code, out) == (1, "")
    first, *last = err.splitlines()
    silent = f"everturn: {bench.server.url.removeprefix('http://')} did not answer within 0.1 s"
    assert first.startswith(f"{silent} (attempt 1 of 2, next in 0.")
    assert last == [
        f"{silent}.",
        "everturn: Check the network, a proxy (HTTPS_PROXY) and ANTHROPIC_BASE_URL; everturn doctor tries them.",
    ]


async def test_an_interruption_prints_no_half_answer_and_says_how_to_go_on(bench):
    bench.model(hold(text("This is a very long story."), after=4))

    code, out, err = await run(InterruptingEngine(bench.engine()))

    assert (code, out) == (130, "")
    assert err == "everturn: Interrupted. The session is kept: go on with --continue.\n"


async def test_an_interrupted_session_that_is_not_on_disk_cannot_be_gone_on_with(bench):
    bench.model(hold(text("This is a very long story."), after=4))

    _, _, err = await run(InterruptingEngine(bench.engine()), introduction=Introduction(is_kept=lambda: False))

    assert err == "everturn: Interrupted. The session is not kept.\n"


async def test_a_way_to_the_model_that_is_closed_is_told_with_what_to_check(bench):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        code, out, err = await run(bench.engine(base_url=url, max_retries=0))

    assert (code, out) == (1, "")
    assert err.splitlines() == [
        f"everturn: No connection to {url.removeprefix('http://')}: connection refused.",
        "everturn: Check the network, a proxy (HTTPS_PROXY) and ANTHROPIC_BASE_URL; everturn doctor tries them.",
    ]


async def test_without_a_network_the_first_attempt_is_told_at_once(bench):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        code, _, err = await run(bench.engine(base_url=url))

    first, *others = err.splitlines()
    refused = f"everturn: No connection to {url.removeprefix('http://')}: connection refused"
    assert code == 1
    assert first.startswith(f"{refused} (attempt 1 of 5, next in 0.")
    assert len(others) == 5
    assert others[-2] == f"{refused}."


async def test_a_run_that_met_its_limit_prints_no_half_answer(bench):
    bench.model(calls(("Glob", {"pattern": "*"})))

    code, out, err = await run(bench.engine(max_turns=1))

    assert (code, out) == (1, "")
    assert err == "everturn: Reached the limit of turns (1).\n"


async def test_a_rule_for_a_tool_that_is_not_there_is_said(bench):
    bench.model(text("Fine."))

    code, _, err = await run(bench.engine(disallowed_tools=["Bahs"]))

    assert code == 0
    assert "disallowed_tools: there is no tool named Bahs" in err


async def test_what_is_said_on_standard_error_does_not_depend_on_the_format_of_the_answer(bench):
    bench.model(overloaded(), overloaded(), text("Fine."))

    code, out, err = await run(bench.engine(disallowed_tools=["Bahs"]), output_format="json")

    warning, _, retry = err.splitlines()
    assert (code, json.loads(out)["result"]) == (0, "Fine.")
    assert "disallowed_tools: there is no tool named Bahs" in warning
    assert "(attempt 2 of 10, next in " in retry
