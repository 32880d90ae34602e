"""What a session knew besides its messages is known again when it is resumed."""

from contextlib import aclosing

import pytest

from everturn.core.commands import CommandState
from everturn.core.notes import TodoStatus
from everturn.core.state import Reason
from everturn.modelserver import call, error, hold, say, text, thinking
from everturn.ports.policy import Ruling, Verdict

UNSIGNED = error(400, message="messages.1.content.0: Invalid `signature` in `thinking` block")


async def leave(events, tag):
    """As if the process had died when this event was shown."""
    async with aclosing(events) as stream:
        async for event in stream:
            if event.__struct_config__.tag == tag:
                return


@pytest.mark.parametrize(
    ("was", "asked", "now"),
    [
        ("acceptEdits", None, "acceptEdits"),
        ("dontAsk", None, "dontAsk"),
        ("plan", None, "default"),
        ("bypassPermissions", None, "default"),
        ("acceptEdits", "default", "default"),
        ("default", "plan", "plan"),
    ],
)
async def test_the_permission_mode_is_kept_but_for_those_that_need_a_person(bench, was, asked, now):
    bench.model(text("Hello."))
    engine = bench.engine(permission_mode=was)
    await bench.go_on(engine)
    await engine.aclose()

    assert bench.engine(resume=engine.session_id, permission_mode=asked).permission_mode == now


class Yes:
    async def approve(self, call, reason):
        return Verdict(ruling=Ruling.ALLOW, reason=reason, mode="acceptEdits")


async def test_a_mode_that_was_switched_in_the_middle_of_a_query_is_kept(bench):
    write = call("Write", {"file_path": str(bench.folder / "a.txt"), "content": "x"})
    bench.model(write, hold("Never to be read."))
    engine = bench.engine(approver=Yes())
    await leave(engine.submit("Go."), "text_delta")
    await engine.aclose()

    assert bench.engine(resume=engine.session_id).permission_mode == "acceptEdits"


async def test_the_list_of_tasks_is_kept(bench):
    todo = {"content": "Look", "status": "in_progress", "activeForm": "Looking"}
    bench.model(call("TodoWrite", {"todos": [todo]}), text("Noted."))
    engine = bench.engine()
    await bench.go_on(engine)
    await engine.aclose()

    [kept] = bench.engine(resume=engine.session_id).notes.todos
    assert (kept.content, kept.status) == ("Look", TodoStatus.IN_PROGRESS)


async def read_then_resume(bench):
    path = bench.folder / "a.txt"
    path.write_text("alpha\n")
    bench.model(call("Read", {"file_path": str(path)}), text("Read."))
    engine = bench.engine(permission_mode="acceptEdits")
    await bench.go_on(engine)
    await engine.aclose()
    return path, lambda: bench.engine(resume=engine.session_id)


async def test_a_file_that_was_read_and_is_unchanged_counts_as_read(bench):
    path, resume = await read_then_resume(bench)
    bench.model(call("Write", {"file_path": str(path), "content": "beta\n"}), text("Done."))
    await bench.go_on(resume())

    assert path.read_text() == "beta\n"


async def test_a_file_that_changed_meanwhile_is_not_overwritten(bench):
    path, resume = await read_then_resume(bench)
    path.write_text("omega\n")
    bench.model(call("Write", {"file_path": str(path), "content": "beta\n"}), text("Done."))
    await bench.go_on(resume())

    assert path.read_text() == "omega\n"
    assert "has changed on disk since it was read" in str(bench.sent[-1][-1])


async def test_the_model_is_told_of_a_file_that_changed_meanwhile(bench):
    path, resume = await read_then_resume(bench)
    path.write_text("omega\n")
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    run = await bench.go_on(resume())

    assert [event.detail for event in run.of("attachment")] == [{"paths": [str(path)]}]


async def test_what_was_read_before_a_compaction_has_to_be_read_again(bench):
    path, resume = await read_then_resume(bench)
    first = resume()
    bench.model(text("Hm."), bench.summary())
    await bench.go_on(first, "Say something long. " * 50)
    async with aclosing(first.compact()) as events:
        assert [event async for event in events][-1].text.startswith("Compacted")
    await first.aclose()
    bench.model(call("Write", {"file_path": str(path), "content": "beta\n"}), text("Done."))
    await bench.go_on(resume())

    assert "has not been read" in str(bench.sent[-1][-1])


async def test_a_history_that_was_mended_is_not_refused_again(bench):
    bench.model(say(thinking("Hm."), "Yes."), UNSIGNED, text("Mended."))
    engine = bench.engine()
    await bench.go_on(engine, "One.")
    await bench.go_on(engine, "Two.")
    await engine.aclose()
    bench.model(text("Went on."))
    run = await bench.go_on(bench.engine(resume=engine.session_id))

    assert "thinking" not in str(bench.sent[-1])
    assert run.of("context") == []


async def test_a_breaker_that_is_open_stays_open(bench):
    small = [{"id": "claude-sonnet-5", "window": 20_000, "max_output": 2_000}]
    full = {"input_tokens": 19_000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    options = {"models": small, "limits": {"compact_failures": 1}}
    bench.model(text("Some words. " * 40, usage=full), text("Hm.", usage=full), bench.summary(error(400)))
    engine = bench.engine(**options)
    await bench.go_on(engine)
    await bench.go_on(engine)
    await engine.aclose()
    bench.model(text("Went on."), bench.summary(error(400)))
    await bench.go_on(bench.engine(resume=engine.session_id, **options))

    purposes = ["Write a summary" in str(sent) for sent in bench.sent]
    assert purposes == [False, True, False, False]


async def test_words_that_wait_are_heard_by_the_query_that_goes_on(bench):
    bench.model(call("Glob", {"pattern": "*"}), hold("Never to be read."))
    engine = bench.engine()
    events = engine.submit("Go.")
    await leave(events, "text_delta")
    engine.enqueue("Use tabs.")
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id)
    assert [command.text for command in resumed.queued] == ["Use tabs."]
    bench.model(call("Glob", {"pattern": "*"}), text("Tabs it is."))
    async with aclosing(resumed.resume_query()) as stream:
        *_, result = [event async for event in stream]

    assert result.reason is Reason.COMPLETED
    assert "Use tabs." in str(bench.sent[-1][-1])
    assert resumed.queued == ()


async def test_words_that_were_lost_on_the_way_to_the_model_wait_again(bench):
    bench.model(call("Glob", {"pattern": "*"}), text("Done."))
    engine = bench.engine(session_id="s")
    engine.enqueue("Use tabs.")
    await bench.go_on(engine)
    await engine.aclose()
    file = bench.session_file("s")
    lines = file.read_bytes().splitlines(keepends=True)
    started = next(at for at, line in enumerate(lines) if b'"started"' in line)
    bench.engines.clear()
    file.write_bytes(b"".join(lines[: started + 1]))

    resumed = bench.engine(resume="s")
    assert [command.text for command in resumed.queued] == ["Use tabs."]
    bench.model(text("Tabs it is."))
    async with aclosing(resumed.resume_query()) as stream:
        [event async for event in stream]

    assert "Use tabs." in str(bench.sent[-1][-1])


async def test_words_that_were_heard_and_cut_off_are_completed_by_the_query_that_goes_on(bench):
    bench.model(call("Glob", {"pattern": "*"}), hold("Never to be read."))
    engine = bench.engine()
    engine.enqueue("Use tabs.")
    await leave(engine.submit("Go."), "text_delta")
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id)
    assert [command.text for command in resumed.interrupted] == ["Use tabs."]
    bench.model(text("Tabs it is."))
    async with aclosing(resumed.resume_query()) as stream:
        events = [event async for event in stream]

    assert [event.state for event in events if event.__struct_config__.tag == "command"] == [CommandState.COMPLETED]
    assert (resumed.interrupted, resumed.queued) == ((), ())


async def test_a_budget_of_the_session_counts_what_was_spent_before(bench):
    bench.model(text("Hello."))
    engine = bench.engine()
    await bench.go_on(engine)
    await engine.aclose()
    resumed = bench.engine(resume=engine.session_id, limits={"max_session_usd": engine.total_usd})
    bench.model(text("Too dear."))

    assert (await bench.go_on(resumed)).reason is Reason.MAX_BUDGET_USD
