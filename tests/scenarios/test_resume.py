"""A session taken up again sends what it would have sent without the break, and knows what it has cost."""

from contextlib import aclosing

import pytest

from everturn import Engine
from everturn.core.errors import JournalError
from everturn.core.state import Reason
from everturn.modelserver import call, error, hold, overloaded, say, text, thinking, too_long, truncated

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
NO_IMAGE = error(400, message="messages.0.content.0.image.source.base64: image exceeds 5 MB maximum")


def unnamed(bench, engine):
    """The last request, without the name of the session, which stands in the path of its temporary folder."""
    return bench.requests[-1].raw.replace(engine.session_id.encode(), b"")


def look(bench, number):
    (bench.folder / "a.txt").write_text("alpha, beta and gamma\n" * 20)
    return call("Read", {"file_path": str(bench.folder / "a.txt")}, call_id=f"toolu_{number}")


async def plain(bench, engine):
    bench.model(say("Let me see.", look(bench, 1)), text("Alpha."), text("Beta."))
    await bench.go_on(engine, "One.")
    await bench.go_on(engine, "Two.")


async def thoughtful(bench, engine):
    bench.model(say(thinking("I should look."), look(bench, 1)), say(thinking("I see."), "Alpha."))
    await bench.go_on(engine, "One.")


async def compacted(bench, engine):
    bench.model(look(bench, 1), text("Alpha. " * 50), too_long(), look(bench, 2), text("Beta."), bench.summary())
    await bench.go_on(engine, "One.")
    await bench.go_on(engine, "Two.")


async def collapsed(bench, engine):
    bench.model(look(bench, 1), text("Alpha."), too_long(), text("Beta."))
    await bench.go_on(engine, "One.")
    engine.collapses.stage(engine.transcript[0].id, engine.transcript[-1].id, "Looked into a file.")
    await bench.go_on(engine, "Two.")


async def without_media(bench, engine):
    bench.model(NO_IMAGE, text("I cannot see it."))
    await bench.go_on(engine, [IMAGE, {"type": "text", "text": "What is it?"}])


async def interrupted(bench, engine):
    bench.model(hold(say("I will look.", look(bench, 1)), after=7))

    def stop(event):
        if event.__struct_config__.tag == "block_start" and event.kind == "tool_use":
            engine.abort()

    await bench.go_on(engine, "One.", on_event=stop)


async def left(bench, engine):
    bench.model(look(bench, 1), hold(text("Never to be read")))
    async with aclosing(engine.submit("One.")) as events:
        async for event in events:
            if event.__struct_config__.tag == "text_delta":
                break


async def recovered(bench, engine):
    bench.model(call("Teleport", {}, call_id="toolu_1"), truncated("Half "), truncated("and half "), text("of it."))
    await bench.go_on(engine, "One.")


async def failed(bench, engine):
    bench.model(error(400))
    await bench.go_on(engine, "One.")


STORIES = [plain, thoughtful, compacted, collapsed, without_media, interrupted, left, recovered, failed]


@pytest.mark.parametrize("story", STORIES, ids=[story.__name__ for story in STORIES])
async def test_the_first_request_is_what_the_uninterrupted_session_would_have_sent(bench, story):
    options = {"user_context": {"a": "b"}, "system_context": {"c": "d"}, "model": "opus", "task_budget": 50_000}
    uninterrupted = bench.engine(**options)
    await story(bench, uninterrupted)
    bench.model(text("Went on."))
    await bench.go_on(uninterrupted, "Last.")
    expected = unnamed(bench, uninterrupted)

    broken_off = bench.engine(**options)
    await story(bench, broken_off)
    await broken_off.aclose()
    resumed = bench.engine(resume=broken_off.session_id, **options)
    bench.model(text("Went on."))
    run = await bench.go_on(resumed, "Last.")

    assert unnamed(bench, resumed) == expected
    assert run.reason is Reason.COMPLETED
    assert run.result.session_id == broken_off.session_id


async def test_transcript_and_cost_are_those_of_before(bench):
    engine = bench.engine()
    await plain(bench, engine)
    before, cost = engine.transcript, engine.total_usd
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id)

    assert resumed.transcript == before
    assert resumed.total_usd == pytest.approx(cost)
    bench.model(text("Went on."))
    run = await bench.go_on(resumed)
    assert run.result.total_usd == pytest.approx(cost + run.of("usage")[0].usd)
    assert run.result.models["claude-sonnet-5"].calls == 4


async def fallen_back(bench):
    bench.model(overloaded(), overloaded(), overloaded(), text("Hello."))
    engine = bench.engine(fallback_models=["claude-opus-5"])
    await bench.go_on(engine)
    await engine.aclose()
    return engine.session_id


async def test_the_model_after_a_fallback_is_the_one_that_goes_on(bench):
    resumed = bench.engine(resume=await fallen_back(bench), model=None)
    await bench.go_on(resumed)

    assert bench.bodies[-1]["model"] == "claude-opus-5"


async def test_a_model_that_is_asked_for_beats_the_one_of_an_old_fallback(bench):
    resumed = bench.engine(resume=await fallen_back(bench), model="claude-sonnet-5")
    await bench.go_on(resumed)
    await resumed.aclose()
    again = bench.engine(resume=resumed.session_id, model=None)
    await bench.go_on(again)

    assert [body["model"] for body in bench.bodies[-2:]] == ["claude-sonnet-5", "claude-sonnet-5"]


async def test_a_collapse_can_be_undone_after_a_resume(bench):
    engine = bench.engine()
    await collapsed(bench, engine)
    await engine.aclose()
    resumed = bench.engine(resume=engine.session_id)
    [collapse] = resumed.collapses.committed

    resumed.collapses.undo(collapse.id)
    bench.model(text("Went on."))
    await bench.go_on(resumed)

    assert "alpha, beta and gamma" in str(bench.sent[-1])


async def test_a_collapse_that_was_only_staged_is_still_there(bench):
    bench.model(look(bench, 1), text("Alpha."))
    engine = bench.engine()
    await bench.go_on(engine, "One.")
    engine.collapses.stage(engine.transcript[0].id, engine.transcript[-1].id, "Looked into a file.")
    await bench.go_on(engine, "Two.")
    await engine.aclose()

    resumed = bench.engine(resume=engine.session_id)

    assert [collapse.summary for collapse in resumed.collapses.staged] == ["Looked into a file."]


async def test_a_session_that_is_open_elsewhere_is_refused(bench):
    engine = bench.engine()
    bench.model(text("Hello."))
    await bench.go_on(engine)

    with pytest.raises(JournalError):
        bench.engine(resume=engine.session_id)


async def test_a_session_that_does_not_exist_is_refused(bench):
    with pytest.raises(JournalError):
        bench.engine(resume="nobody-knows-it")


async def test_a_broken_line_in_the_middle_is_passed_over_and_said(bench):
    bench.model(text("Hello."))
    engine = bench.engine()
    await bench.go_on(engine)
    await engine.aclose()
    path = bench.session_file(engine.session_id)
    bench.engines.clear()
    first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first, b"{broken\n", *rest]))
    bench.runs.clear()

    resumed = Engine(bench.options(resume=engine.session_id), env=bench.env)
    run = await bench.go_on(resumed)
    await resumed.aclose()

    assert [notice.text for notice in run.of("notice") if "Line 2 was skipped" in notice.text]
    assert resumed.transcript[:2] == engine.transcript
