"""A hook after a tool forbids going on: the query ends once all results are in."""

from everturn.core.state import Reason
from everturn.modelserver import calls, text
from everturn.ports.hooks import PostToolVerdict


async def test_it_ends_with_all_results_in_the_transcript(bench):
    stopped = []

    async def after(call, result):
        return PostToolVerdict(stop="Stop here.") if call.input["pattern"] == "a*" else None

    async def on_stop(turn):
        stopped.append(turn)

    bench.model(calls(("Glob", {"pattern": "a*"}), ("Glob", {"pattern": "b*"})), text("never"))
    engine = bench.engine(hooks={"post_tool": after, "stop": on_stop})

    run = await bench.go_on(engine)

    assert run.reason is Reason.HOOK_STOPPED
    assert run.transitions == []
    assert len(bench.requests) == 1
    assert (run.result.subtype, run.result.is_error, run.result.exit) == ("success", False, 0)
    assert len(engine.transcript[-1].results) == 2
    assert stopped == []
    bench.assert_settled(engine)


async def test_a_note_of_a_hook_is_added_to_the_result(bench):
    async def after(call, result):
        return PostToolVerdict(note="Remember the style guide.")

    bench.model(calls(("Glob", {"pattern": "a*"})), text("Done."))

    run = await bench.run(hooks={"post_tool": after})

    assert run.reason is Reason.COMPLETED
    [result] = bench.sent[1][-1]["content"]
    assert "Remember the style guide." in result["content"]
