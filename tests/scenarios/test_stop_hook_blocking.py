"""A stop hook finds the work unfinished: the model is sent back with its words, at most eight times."""

from everturn.core.messages import Kind
from everturn.core.state import Reason
from everturn.modelserver import call, text, too_long
from everturn.ports.hooks import StopVerdict


async def test_the_response_and_the_errors_as_hidden_messages_go_out_again(bench):
    seen = []

    async def hook(turn):
        seen.append((turn.text, turn.stop_hook_active))
        return "The tests fail." if len(seen) == 1 else None

    bench.model(text("Done."), text("Now it is."))
    engine = bench.engine(hooks={"stop": hook})

    run = await bench.go_on(engine)

    assert run.transitions == ["stop_hook_blocking"]
    assert run.reason is Reason.COMPLETED
    assert seen == [("Done.", False), ("Now it is.", True)]
    assert [message["role"] for message in bench.sent[1]] == ["user", "assistant", "user"]
    assert "The tests fail." in str(bench.sent[1][2])
    assert [message.kind for message in engine.transcript] == [Kind.PROMPT, Kind.ANSWER, Kind.HIDDEN, Kind.ANSWER]
    assert run.result.text == "Now it is."
    assert run.result.num_turns == 1
    assert [event.turn for event in run.of("request_start")] == [1, 1]


async def test_all_hooks_run_and_every_error_is_told(bench):
    blocks = iter([True, True, False, False])

    async def lint(turn):
        return "Lint fails." if next(blocks) else None

    async def types(turn):
        return StopVerdict(block="Types fail.") if next(blocks) else None

    bench.model(text("Done."))

    await bench.run(hooks={"stop": [lint, types]})

    lint_error, type_error = [block["text"] for block in bench.sent[1][2]["content"]]
    assert "Lint fails." in lint_error
    assert "Types fail." in type_error


async def test_after_eight_blocks_hooks_are_overridden_with_a_notice(bench):
    active = []

    async def hook(turn):
        active.append(turn.stop_hook_active)
        return "Never enough."

    bench.model(text("Done."))

    run = await bench.run(hooks={"stop": hook})

    assert run.transitions == ["stop_hook_blocking"] * 8
    assert run.reason is Reason.COMPLETED
    assert (run.result.is_error, run.result.exit) == (False, 0)
    assert active == [False] + [True] * 8
    assert [notice.level for notice in run.of("notice")] == ["warning"]


async def test_a_veto_does_not_allow_another_compaction(bench):
    async def hook(turn):
        return "Go on." if not turn.stop_hook_active else None

    bench.model(
        text("Earlier. " * 50), text("Fine."), too_long(), text("Done."), too_long(), text("never"), bench.summary()
    )
    engine = bench.engine(hooks={"stop": hook})
    await bench.go_on(engine)

    run = await bench.go_on(engine)

    assert run.transitions == ["reactive_compact_retry", "stop_hook_blocking"]
    assert run.reason is Reason.PROMPT_TOO_LONG


async def test_a_hook_that_raises_passes_and_is_told(bench):
    async def hook(turn):
        raise RuntimeError("broken hook")

    bench.model(text("Done."))

    run = await bench.run(hooks={"stop": hook})

    assert run.reason is Reason.COMPLETED
    [told] = run.of("stop_phase")
    assert "broken hook" in told.text


async def test_prevention_ends_the_query_and_beats_blocking(bench):
    async def block(turn):
        return "More."

    async def prevent(turn):
        return StopVerdict(prevent="Enough for today.")

    bench.model(text("Done."))
    engine = bench.engine(hooks={"stop": [block, prevent]})

    run = await bench.go_on(engine)

    assert run.transitions == []
    assert run.reason is Reason.STOP_HOOK_PREVENTED
    assert (run.result.is_error, run.result.exit) == (False, 0)
    assert [message.kind for message in engine.transcript] == [Kind.PROMPT, Kind.ANSWER]


async def test_hooks_are_not_asked_between_tool_rounds(bench):
    asked = []

    async def hook(turn):
        asked.append(turn.text)

    bench.model(call("Glob", {"pattern": "*"}), text("Done."))

    await bench.run(hooks={"stop": hook})

    assert asked == ["Done."]
