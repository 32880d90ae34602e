"""An abort at any point ends the query at once, leaves nothing hanging, and the next prompt works."""

import asyncio

import pytest

from everturn import tool
from everturn.core.messages import Kind
from everturn.core.state import AbortCause, Reason
from everturn.modelserver import call, hold, rate_limited, say, text, thinking, too_long
from everturn.ports.policy import Ruling, Verdict

HASTY = {"abort_grace_s": 0.05}
"""Tools have this long to end by themselves."""
BATCH = {"limits": HASTY, "streaming_tools": False}
"""Tools run in a phase of their own."""
STREAMING, TOOLS = Reason.ABORTED_STREAMING, Reason.ABORTED_TOOLS
GLOB = call("Glob", {"pattern": "a long pattern to make a few pieces of it"})


async def abort_at(bench, engine, kind, *, cause=AbortCause.USER):
    def listen(event):
        if event.__struct_config__.tag == kind:
            engine.abort(cause)

    async with asyncio.timeout(60):
        return await bench.go_on(engine, "Go.", on_event=listen)


async def abort_when(bench, engine, ready):
    async def stop():
        await ready
        engine.abort()

    async with asyncio.timeout(60):
        stopping = asyncio.create_task(stop())
        run = await bench.go_on(engine, "Go.")
        await stopping
    return run


async def assert_usable(bench, engine, run):
    """One terminal, all calls settled, and a next prompt that the strict server takes."""
    assert run.kinds.count("terminal") == 1
    bench.assert_settled(engine)
    bench.model(text("Fine."))
    after = await bench.go_on(engine, "And now?")
    assert (after.reason, after.result.text) == (Reason.COMPLETED, "Fine.")
    bench.assert_settled(engine)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (text("Hello"), "request_start"),
        (hold(text("Hello there, how are you?")), "text_delta"),
        (hold(say(thinking("Hm, hm."), "Hello"), after=5), "thinking_delta"),
        (hold(GLOB, after=5), "input_delta"),
        (hold(say("Hello.", GLOB), after=8), "block_start"),
    ],
    ids=["before the request", "in mid-text", "in mid-thought", "in mid-input", "after a block"],
)
async def test_while_the_model_streams(bench, answer, kind):
    bench.model(answer)
    engine = bench.engine()

    run = await abort_at(bench, engine, kind)

    assert run.reason is STREAMING
    assert (run.result.subtype, run.result.is_error, run.result.exit) == ("error_during_execution", True, 130)
    assert engine.transcript[-1].kind is Kind.INTERRUPTION
    await assert_usable(bench, engine, run)


async def test_before_the_first_byte(bench):
    bench.model(hold(text("Hello"), after=-1))
    engine = bench.engine()

    run = await abort_when(bench, engine, bench.server.wait_for(1))

    assert run.reason is STREAMING
    await assert_usable(bench, engine, run)


async def test_text_that_had_come_is_kept_and_half_a_call_is_not(bench):
    bench.model(hold(say("Half a sentence", GLOB), after=9))
    engine = bench.engine()

    run = await abort_at(bench, engine, "input_delta")

    [answer] = [message for message in engine.transcript if message.role == "assistant"]
    assert (answer.text, answer.uses) == ("Half a sentence", ())
    assert answer.answer.incomplete
    await assert_usable(bench, engine, run)


async def test_an_answer_with_nothing_worth_keeping_is_retracted(bench):
    bench.model(hold(say(thinking("Hm, hm, let me think about it."), "Hello"), after=5))
    engine = bench.engine()

    run = await abort_at(bench, engine, "thinking_delta")

    assert [tombstone.cause for tombstone in run.of("tombstone")] == ["aborted"]
    assert [message.kind for message in engine.transcript] == [Kind.PROMPT, Kind.INTERRUPTION]


async def test_the_connection_is_let_go(bench):
    bench.model(hold(text("Hello there, how are you?")))
    engine = bench.engine()

    await abort_at(bench, engine, "text_delta")

    await bench.server.wait_for_hangups(1)


async def test_while_a_command_sleeps_its_processes_are_ended(bench, lifeline):
    bench.model(say("Running.", call("Bash", {"command": lifeline.command})), text("never"))
    engine = bench.engine(permission_mode="bypassPermissions", **BATCH)

    run = await abort_at(bench, engine, "tool_progress")

    assert run.reason is TOOLS
    assert lifeline.is_cut()
    assert [result.is_error for message in engine.transcript for result in message.results] == [True]
    await assert_usable(bench, engine, run)


async def test_while_the_loop_waits_for_a_command_that_began_in_mid_stream(bench, lifeline):
    go = bench.folder / "go"
    bench.model(call("Bash", {"command": f"until [ -e {go} ]; do sleep 0.01; done; {lifeline.command}"}))
    engine = bench.engine(permission_mode="bypassPermissions", limits=HASTY)

    def listen(event):
        match event.__struct_config__.tag:
            case "assistant":
                go.touch()
            case "tool_progress":
                engine.abort()

    run = await bench.go_on(engine, on_event=listen)

    assert run.reason is TOOLS
    assert lifeline.is_cut()
    await assert_usable(bench, engine, run)


async def test_while_a_call_runs_and_the_model_still_streams(bench, lifeline):
    bench.model(hold(say(call("Bash", {"command": lifeline.command}), "More."), after=6), chunk=1_000)
    engine = bench.engine(permission_mode="bypassPermissions", limits=HASTY)

    run = await abort_at(bench, engine, "tool_progress")

    assert run.reason is STREAMING
    assert lifeline.is_cut()
    assert len(engine.transcript[1].uses) == 1
    await assert_usable(bench, engine, run)


async def test_calls_that_had_not_started_get_a_result_too(bench):
    commands = [call("Bash", {"command": f"echo {n}; touch began; sleep 600"}) for n in range(3)]
    bench.model(say(*commands))
    engine = bench.engine(permission_mode="bypassPermissions", **BATCH)

    run = await abort_at(bench, engine, "tool_progress")

    assert len({progress.tool_use_id for progress in run.of("tool_progress")}) == 1
    assert [result.is_error for message in engine.transcript for result in message.results] == [True] * 3
    assert len(run.of("tool_end")) == 3
    await assert_usable(bench, engine, run)


async def test_a_tool_that_does_not_obey_is_cancelled_after_a_grace(bench):
    cancelled = []

    @tool
    async def hang() -> str:
        """Hangs."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)
        return "never"

    bench.model(call("hang"))
    engine = bench.engine(tools=[hang], allowed_tools=["hang"], **BATCH)

    run = await abort_at(bench, engine, "tool_start")

    assert cancelled == [True]
    await assert_usable(bench, engine, run)


async def test_while_it_waits_for_a_retry(bench):
    bench.env["EVERTURN_RETRY_SCALE"] = "1"
    bench.model(rate_limited(retry_after=30))
    engine = bench.engine()

    run = await abort_at(bench, engine, "api_retry")

    assert run.reason is STREAMING
    assert len(bench.requests) == 1
    await assert_usable(bench, engine, run)


async def test_while_it_compacts(bench):
    bench.model(text("Earlier. " * 50), too_long(), bench.summary(hold(text("A summary"))))
    engine = bench.engine()
    await bench.go_on(engine)

    run = await abort_when(bench, engine, bench.server.wait_for(3))

    assert run.reason is STREAMING
    assert Kind.BOUNDARY not in [message.kind for message in engine.transcript]
    await assert_usable(bench, engine, run)


async def test_while_a_stop_hook_runs(bench):
    reached = asyncio.Event()

    async def hook(turn):
        if turn.text == "Done.":
            reached.set()
            await asyncio.Event().wait()

    bench.model(text("Done."))
    engine = bench.engine(hooks={"stop": hook})

    run = await abort_when(bench, engine, reached.wait())

    assert run.reason is STREAMING
    assert run.result.text == "Done."
    await assert_usable(bench, engine, run)


async def test_while_a_person_is_asked(bench):
    asked = asyncio.Event()

    class Approver:
        async def approve(self, call, reason):
            asked.set()
            await asyncio.Event().wait()
            return Verdict(ruling=Ruling.ALLOW, reason="too late")

    bench.model(call("Bash", {"command": "touch made.txt"}))
    engine = bench.engine(approver=Approver(), **BATCH)

    run = await abort_when(bench, engine, asked.wait())

    assert run.reason is TOOLS
    assert not (bench.folder / "made.txt").exists()
    await assert_usable(bench, engine, run)


async def test_a_call_that_is_approved_after_the_abort_does_not_run(bench):
    class Approver:
        async def approve(self, call, reason):
            engine.abort()
            return Verdict(ruling=Ruling.ALLOW, reason="too late")

    bench.model(call("Bash", {"command": "touch made.txt"}))
    engine = bench.engine(approver=Approver(), streaming_tools=False)

    run = await bench.go_on(engine)

    assert run.reason is TOOLS
    assert run.of("tool_start") == []
    assert not (bench.folder / "made.txt").exists()
    await assert_usable(bench, engine, run)


async def test_the_message_of_an_interruption_says_in_which_phase_it_came(bench):
    bench.model(hold(text("Hello there, how are you?")))
    engine = bench.engine(permission_mode="bypassPermissions", **BATCH)
    await abort_at(bench, engine, "text_delta")
    bench.model(call("Bash", {"command": "echo started; sleep 600"}))
    await abort_at(bench, engine, "tool_progress")

    in_stream, in_tools = [message.text for message in engine.transcript if message.kind is Kind.INTERRUPTION]

    assert in_stream != in_tools


async def test_a_new_prompt_as_the_cause_leaves_no_interruption_message(bench):
    bench.model(hold(text("Hello there, how are you?")))
    engine = bench.engine()

    run = await abort_at(bench, engine, "text_delta", cause=AbortCause.NEW_PROMPT)

    assert run.reason is STREAMING
    assert Kind.INTERRUPTION not in [message.kind for message in engine.transcript]
    await assert_usable(bench, engine, run)


@pytest.mark.parametrize(("cause", "exit_code"), [(AbortCause.USER, 130), (AbortCause.TERMINATED, 143)])
async def test_the_exit_code_tells_a_person_from_sigterm(bench, cause, exit_code):
    bench.model(call("Bash", {"command": "echo started; sleep 600"}))
    engine = bench.engine(permission_mode="bypassPermissions", **BATCH)

    run = await abort_at(bench, engine, "tool_progress", cause=cause)

    assert run.reason is TOOLS
    assert run.result.exit == exit_code


async def test_the_first_cause_counts(bench):
    bench.model(hold(text("Hello there, how are you?")))
    engine = bench.engine()

    def listen(event):
        if event.__struct_config__.tag == "text_delta":
            engine.abort(AbortCause.TERMINATED)
            engine.abort(AbortCause.USER)

    run = await bench.go_on(engine, on_event=listen)

    assert run.result.exit == 143


async def test_without_a_query_under_way_it_does_nothing(bench):
    bench.model(text("Hello."))
    engine = bench.engine()
    engine.abort()

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
