"""The list of tasks: kept with the session, told once it counts, and dropped with an answer that is thrown away."""

import msgspec

from everturn.core.notes import Notes, Todo, TodoStatus
from everturn.core.state import Reason
from everturn.modelserver import call, cut, say, text

LOOK = Todo(content="Look", status=TodoStatus.COMPLETED, active_form="Looking")
RUN = Todo(content="Run the tests", status=TodoStatus.IN_PROGRESS, active_form="Running the tests")


def write(*todos):
    return call("TodoWrite", {"todos": msgspec.to_builtins(todos)})


async def test_the_list_is_kept_shown_and_told_to_nobody_for_approval(bench):
    bench.model(write(RUN), write(LOOK, RUN), text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine)

    assert run.reason is Reason.COMPLETED
    assert engine.denials == ()
    assert [event.notes.todos for event in run.of("notes")] == [(RUN,), (LOOK, RUN)]
    assert engine.notes == Notes(todos=(LOOK, RUN))
    assert bench.sent[2][-1]["content"][0]["content"] == "The list is kept: 1 of 2 done, now: Running the tests."
    first, second = run.of("tool_end")
    assert msgspec.to_builtins(first.shown) == {"oldTodos": (), "newTodos": msgspec.to_builtins((RUN,))}
    assert (second.shown.old_todos, second.shown.new_todos) == ((RUN,), (LOOK, RUN))


async def test_a_resumed_session_has_its_list(bench):
    bench.model(write(LOOK, RUN), text("Paused."), write(LOOK), text("Done."))
    first = bench.engine()
    await bench.go_on(first)
    await first.aclose()

    second = bench.engine(resume=first.session_id)
    restored = second.notes
    run = await bench.go_on(second)

    assert restored == Notes(todos=(LOOK, RUN))
    [ended] = run.of("tool_end")
    assert (ended.shown.old_todos, ended.shown.new_todos) == ((LOOK, RUN), (LOOK,))


async def test_a_compaction_leaves_the_list(bench):
    bench.model(write(RUN), text("Earlier. " * 50), bench.summary())
    engine = bench.engine()
    await bench.go_on(engine)

    events = [event async for event in engine.compact()]

    assert "Compacted" in events[-1].text
    assert engine.notes == Notes(todos=(RUN,))


async def test_a_list_of_an_answer_that_is_thrown_away_does_not_count(bench):
    bench.model(cut(say("First:", write(RUN), "and then much more to say"), after=10), write(LOOK), text("Done."))
    engine = bench.engine()

    run = await bench.go_on(engine)

    assert len(run.of("tombstone")) == 1
    assert [event.notes.todos for event in run.of("notes")] == [(LOOK,)]
    assert [record["notes"] for record in bench.records(engine.session_id) if record["type"] == "notes"] == [
        {"todos": msgspec.to_builtins([LOOK])}
    ]


async def test_planning_does_not_forbid_to_keep_a_list(bench):
    bench.model(write(RUN), text("Planned."))
    engine = bench.engine(permission_mode="plan")

    await bench.go_on(engine)

    assert engine.notes == Notes(todos=(RUN,))


async def test_several_tasks_at_once_are_kept_with_a_word_of_advice(bench):
    bench.model(write(RUN, RUN), text("Done."))

    await bench.run()

    [result] = bench.sent[1][-1]["content"]
    assert not result.get("is_error")
    assert result["content"] == (
        "The list is kept: 0 of 2 done, now: Running the tests. "
        "2 tasks are in progress; it is clearer to have one at a time."
    )
