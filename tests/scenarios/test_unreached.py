"""A way to the API that is closed: from the very first request it is given up soon, later it is waited for."""

import socket
from collections.abc import Iterator

import pytest

from everturn.core.limits import Limits
from everturn.core.state import Reason
from everturn.modelserver import stall, text


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where a connection is refused; it stays ours."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


async def test_where_nothing_ever_answered_it_is_given_up_soon(bench, nobody):
    run = await bench.run(base_url=nobody, fallback_models=["claude-haiku-4-5"])

    assert [(retry.attempt, retry.max_tries) for retry in run.of("api_retry")] == [(1, 5), (2, 5), (3, 5), (4, 5)]
    assert sum(retry.delay_s for retry in run.of("api_retry")) < 8
    assert run.of("model_switched") == []
    assert run.reason is Reason.MODEL_ERROR
    assert run.result.terminal_reason == "api_error"


async def test_a_session_that_has_an_answer_keeps_trying(bench, nobody):
    bench.model(text("Hello."))
    first = await bench.run()

    run = await bench.run(base_url=nobody, resume=first.result.session_id, fork_session=True)

    assert {retry.max_tries for retry in run.of("api_retry")} == {10}
    assert len(run.of("api_retry")) == 9


@pytest.mark.parametrize("retries", [0, 2, 7])
async def test_who_says_how_often_is_obeyed(bench, nobody, retries):
    run = await bench.run(base_url=nobody, max_retries=retries)

    assert len(run.of("api_retry")) == retries


async def test_a_server_that_accepts_and_says_nothing_is_given_up_soon(bench):
    bench.model(stall())

    run = await bench.run(stall_s=0.2, limits={"unanswered_s": 0.3})

    assert [(retry.attempt, retry.max_tries, retry.error) for retry in run.of("api_retry")] == [(1, 5, "stalled")]
    assert len(bench.requests) == 2
    assert (run.reason, run.result.terminal_reason) == (Reason.MODEL_ERROR, "api_error")


async def test_a_silent_server_is_waited_for_in_a_session_that_has_an_answer(bench):
    bench.model(text("Hello."), stall(), stall(), text("Here again."))
    engine = bench.engine(stall_s=0.2, limits={"unanswered_s": 0.3})
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert [retry.max_tries for retry in run.of("api_retry")] == [10, 10]
    assert run.result.text == "Here again."


async def test_a_silent_server_does_not_overrule_who_says_how_often(bench):
    bench.model(stall())

    run = await bench.run(stall_s=0.1, max_retries=6)

    assert len(run.of("api_retry")) == 6


def test_a_first_session_gives_up_in_minutes_whatever_the_server_does():
    limits = Limits()
    waits = sum(limits.backoff_first_s * 2**tried for tried in range(limits.unreached_tries - 1))

    no_connection = limits.unreached_tries * limits.connect_s + waits
    silent = limits.unanswered_s + limits.stall_s
    only_pings = limits.first_event_s
    assert max(no_connection, silent, only_pings) <= 5 * 60
