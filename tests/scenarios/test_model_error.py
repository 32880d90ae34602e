"""The call failed and nothing is left to try: the query ends with its reason, and never with an exception."""

import asyncio

import pytest

from everturn import Engine
from everturn.core.state import Reason
from everturn.modelserver import call, error, refusal, spend_limit, text


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404])
async def test_what_the_api_refuses_for_good_is_not_retried(bench, status):
    bench.model(error(status))

    run = await bench.run()

    assert len(bench.requests) == 1
    assert run.of("api_retry") == []
    assert run.reason is Reason.MODEL_ERROR
    assert run.result.terminal_reason == "api_error"
    assert [released.problem.status for released in run.of("error")] == [status]


async def test_a_spend_limit_is_not_retried(bench):
    bench.model(spend_limit())

    run = await bench.run()

    assert len(bench.requests) == 1
    assert run.of("error")[0].problem.kind == "spend_limit"


async def test_a_refusal_of_the_model_is_not_a_failure_of_the_api(bench):
    bench.model(refusal("I would rather", category="cyber", explanation="Not this."), text("Gladly."))
    engine = bench.engine()

    run = await bench.go_on(engine, "Do harm.")
    after = await bench.go_on(engine, "Do good.")

    assert run.reason is Reason.MODEL_ERROR
    assert run.result.terminal_reason == "model_error"
    assert run.result.is_error
    assert [tombstone.cause for tombstone in run.of("tombstone")] == ["refused"]
    assert "Not this." in run.result.text
    assert after.reason is Reason.COMPLETED
    assert "I would rather" not in str(bench.sent[1])


class RaisingModel:
    """Breaks its contract: raises what is no `ModelFault`."""

    def __init__(self, error):
        self.error = error

    async def stream(self, request):
        raise self.error
        yield

    async def count_tokens(self, request):
        return 0

    async def aclose(self):
        pass


async def test_an_exception_of_our_own_becomes_exactly_one_terminal(bench):
    engine = Engine(bench.options(), env=bench.env, model=RaisingModel(ZeroDivisionError("oops")))
    bench.engines.append(engine)

    run = await bench.go_on(engine)

    assert run.kinds.count("terminal") == 1
    assert run.kinds.count("result") == 1
    assert run.reason is Reason.MODEL_ERROR
    assert run.result.terminal_reason == "model_error"
    assert (run.result.subtype, run.result.is_error, run.result.exit) == ("success", True, 1)


async def test_an_approver_that_raises_is_an_error_result_and_not_the_end(bench):
    class Approver:
        async def approve(self, call, reason):
            raise LookupError("nobody home")

    bench.model(call("Bash", {"command": "make"}), text("Then not."))

    run = await bench.run(approver=Approver())

    assert run.reason is Reason.COMPLETED
    [result] = bench.sent[1][-1]["content"]
    assert result["is_error"]


async def test_stop_hooks_do_not_run_but_failure_hooks_start_unawaited(bench):
    stopped, failures, let_go = [], [], asyncio.Event()

    async def on_failure(failure):
        await let_go.wait()
        failures.append((failure.reason, bool(failure.error)))

    async def on_stop(turn):
        stopped.append(turn)

    bench.model(error(400))

    run = await bench.run(hooks={"stop": on_stop, "stop_failure": on_failure})

    assert run.reason is Reason.MODEL_ERROR
    assert (stopped, failures) == ([], [])
    let_go.set()
    async with asyncio.timeout(60):
        while not failures:  # noqa: ASYNC110 (nobody announces a hook that is not awaited)
            await asyncio.sleep(0)
    assert failures == [("model_error", True)]


async def test_the_next_prompt_works(bench):
    bench.model(error(400), text("Hello."))
    engine = bench.engine()
    await bench.go_on(engine, "First.")

    run = await bench.go_on(engine, "Second.")

    assert run.reason is Reason.COMPLETED
    assert [message["role"] for message in bench.sent[1]] == ["user"]
    assert [block["text"] for block in bench.sent[1][0]["content"]] == ["First.", "Second."]
