"""A way to the API that is closed: from the very first request it is given up soon, later it is waited for."""

import socket
from collections.abc import Iterator

import pytest

from everturn.core.state import Reason
from everturn.modelserver import text


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
