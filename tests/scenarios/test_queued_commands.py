"""Words of the user that arrive while tools run go to the model with the results."""

from contextlib import aclosing

from everturn.core.messages import Kind
from everturn.modelserver import call, hold, text


def enqueue_at(engine, kind, words):
    told = []

    def listen(event):
        if event.__struct_config__.tag == kind and not told:
            told.append(engine.enqueue(words))

    return listen


async def test_they_are_attached_to_the_message_with_the_results(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine, on_event=enqueue_at(engine, "request_start", "Use tabs."))

    result, words = bench.sent[1][-1]["content"]
    assert result["type"] == "tool_result"
    assert "Use tabs." in words["text"]
    kinds = [message.kind for message in engine.transcript]
    assert kinds == [Kind.PROMPT, Kind.ANSWER, Kind.RESULTS, Kind.ATTACHMENT, Kind.ANSWER]
    assert [attached.kind for attached in run.of("attachment")] == ["queued_command"]
    assert run.result.num_turns == 2


async def test_their_states_are_told_and_recorded(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine, on_event=enqueue_at(engine, "request_start", "Use tabs."))

    assert [event.state for event in run.of("command")] == ["queued", "started", "completed"]
    states = [record["state"] for record in bench.records(engine.session_id) if record["type"] == "command"]
    assert states == ["queued", "started", "completed"]
    assert run.kinds.index("terminal") > max(at for at, kind in enumerate(run.kinds) if kind == "command")


async def test_without_a_tool_round_they_wait_for_the_next_one(bench):
    bench.model(text("Done."), call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine, on_event=enqueue_at(engine, "request_start", "Use tabs."))
    assert [event.state for event in run.of("command")] == ["queued"]
    assert [command.text for command in engine.queued] == ["Use tabs."]
    await bench.go_on(engine)

    assert "Use tabs." in str(bench.sent[-1])
    assert engine.queued == ()


async def test_words_for_another_agent_are_left_alone(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()
    engine.enqueue("For somebody else.", address="agent:7")

    await bench.go_on(engine)

    assert "For somebody else." not in str(bench.sent)
    assert [command.address for command in engine.queued] == ["agent:7"]


async def test_a_closed_iterator_leaves_them_started_but_not_completed(bench):
    bench.model(call("Glob", {"pattern": "*"}), hold(text("Never to be read")))
    engine = bench.engine()
    engine.enqueue("Use tabs.")

    async with aclosing(engine.submit("Go.")) as events:
        async for event in events:
            if event.__struct_config__.tag == "text_delta":
                break

    states = [record["state"] for record in bench.records(engine.session_id) if record["type"] == "command"]
    assert states == ["queued", "started"]


async def test_a_command_that_was_interrupted_is_not_completed_by_a_later_query(bench):
    bench.model(call("Glob", {"pattern": "*"}), hold(text("Never to be read")), text("Done."))
    engine = bench.engine()
    engine.enqueue("Use tabs.")
    async with aclosing(engine.submit("Go.")) as events:
        async for event in events:
            if event.__struct_config__.tag == "text_delta":
                break

    run = await bench.go_on(engine)

    assert run.of("command") == []
    states = [record["state"] for record in bench.records(engine.session_id) if record["type"] == "command"]
    assert states == ["queued", "started"]


async def test_words_that_come_with_the_terminal_wait_and_nothing_is_told_after_it(bench):
    bench.model(text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine, on_event=enqueue_at(engine, "terminal", "One more thing."))

    assert run.of("command") == []
    assert [command.text for command in engine.queued] == ["One more thing."]


async def test_half_a_character_in_them_does_not_end_the_saving_of_the_session(bench):
    bench.model(text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine, on_event=enqueue_at(engine, "request_start", "Use \udce9."))

    assert run.of("notice") == []
    [queued] = [record for record in bench.records(engine.session_id) if record["type"] == "command"]
    assert queued["text"] == "Use \ufffd."


async def test_an_error_stands_right_before_the_terminal_also_when_commands_end_with_it(bench):
    bench.model(call("Glob", {"pattern": "*"}))
    engine = bench.engine(max_turns=1)

    run = await bench.go_on(engine, on_event=enqueue_at(engine, "request_start", "Use tabs."))

    assert run.kinds[-4:] == ["command", "error", "terminal", "result"]


async def test_those_that_no_query_took_wait_in_the_resumed_session(bench):
    bench.model(text("Done."), call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine()
    await bench.go_on(engine, on_event=enqueue_at(engine, "request_start", "Use tabs."))
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id)
    assert resumed.queued == engine.queued
    await bench.go_on(resumed)

    assert "Use tabs." in str(bench.sent[-1])
    assert resumed.queued == ()
