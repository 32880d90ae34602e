"""Each request reads what the one before it left in the cache; where it does not, the journal says why and what it cost."""

from itertools import pairwise

import pytest

from everturn import Engine
from everturn.core.cache_ledger import LIFETIMES_S
from everturn.core.records import CacheBroken
from everturn.modelserver import ModelServer, call, overloaded, say, text
from everturn.modelserver.prompt_cache import LOOK_BACK
from everturn.sessions.session_files import stream_told
from everturn.testing import FakeClock

SPARE = "claude-opus-5"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
LONG = "Some words that fill the conversation. " * 200


def breaks(bench, engine):
    told = [told.record for told, _ in stream_told(bench.session_file(engine.session_id))]
    return [record for record in told if isinstance(record, CacheBroken)]


def usages(run):
    return [event.usage for event in run.of("usage") if event.purpose == "main"]


async def test_every_turn_reads_what_the_last_one_read_and_wrote(bench):
    (bench.folder / "a.txt").write_text(LONG)
    read = call("Read", {"file_path": str(bench.folder / "a.txt")})
    bench.model(read, call("Glob", {"pattern": "*"}), read, text("Done."))
    engine = bench.engine()

    used = usages(await bench.go_on(engine)) + usages(await bench.go_on(engine))

    for before, after in pairwise(used):
        assert after.cache_read == before.cache_read + before.cache_write > 0
    assert breaks(bench, engine) == []


async def test_a_round_of_more_blocks_than_the_cache_looks_back_is_read_whole(bench):
    glob = call("Glob", {"pattern": "*.none"})
    many = say(*(call("Glob", {"pattern": f"*.{number}"}) for number in range(2 * LOOK_BACK)))
    bench.model(glob, many, many, text("Done."))
    engine = bench.engine()

    used = usages(await bench.go_on(engine))

    for before, after in pairwise(used):
        assert after.cache_read == before.cache_read + before.cache_write > 0
    assert breaks(bench, engine) == []


async def test_a_compaction_is_a_break_with_a_cause_and_a_price(bench):
    bench.model(bench.summary(), text(LONG), text(LONG), text("On."))
    engine = bench.engine()
    await bench.go_on(engine)
    await bench.go_on(engine)
    async for _ in engine.compact():
        pass

    run = await bench.go_on(engine)

    [broken] = breaks(bench, engine)
    assert (broken.segment, broken.cause, broken.turn) == ("messages", "compact", 1)
    assert broken.tokens > 0
    assert broken.usd > 0
    [shown] = run.of("cache_break")
    assert (shown.cause, shown.tokens, shown.usd) == (broken.cause, broken.tokens, broken.usd)


async def test_another_model_begins_with_an_empty_cache(bench):
    bench.model(text(LONG), overloaded(), overloaded(), overloaded(), text("Hello."))
    engine = bench.engine(fallback_models=[SPARE])
    await bench.go_on(engine)

    await bench.go_on(engine)

    [broken] = breaks(bench, engine)
    assert (broken.segment, broken.cause) == ("settings", "model")


async def test_a_resumed_session_goes_on_with_a_warm_cache(bench):
    bench.model(text(LONG), text("Again."))
    first = bench.engine()
    [before] = usages(await bench.go_on(first))
    await first.aclose()
    second = bench.engine(resume=first.session_id)

    [after] = usages(await bench.go_on(second))

    assert after.cache_read == before.cache_read + before.cache_write > 0
    assert breaks(bench, second) == []


async def test_a_resumed_session_with_another_system_prompt_says_so(bench):
    bench.model(text(LONG), text("Again."))
    first = bench.engine()
    await bench.go_on(first)
    await first.aclose()
    second = bench.engine(resume=first.session_id, append_system_prompt="Be brief.")

    await bench.go_on(second)

    [broken] = breaks(bench, second)
    assert (broken.segment, broken.cause) == ("system", "resume")


@pytest.mark.parametrize(
    ("options", "segment", "cause"),
    [
        ({"effort": "low"}, "settings", "resume, effort"),
        ({"effort": "low", "thinking": {"type": "disabled"}}, "settings", "resume, thinking, effort"),
        ({"effort": "low", "append_system_prompt": "Be brief."}, "settings", "resume, effort, system"),
        ({"disallowed_tools": ["WebFetch"]}, "tools", "resume"),
        ({"disallowed_tools": ["WebFetch"], "append_system_prompt": "Be brief."}, "tools", "resume, system"),
    ],
)
async def test_a_resumed_session_names_what_is_set_otherwise(bench, options, segment, cause):
    bench.model(text(LONG), text("Again."))
    first = bench.engine()
    await bench.go_on(first)
    await first.aclose()
    second = bench.engine(resume=first.session_id, **options)

    await bench.go_on(second)

    [broken] = breaks(bench, second)
    assert (broken.segment, broken.cause) == (segment, cause)


async def test_a_resumed_session_with_another_model_names_it(bench):
    bench.model(text(LONG), text("Again."))
    first = bench.engine()
    await bench.go_on(first)
    await first.aclose()
    second = bench.engine(resume=first.session_id, model="claude-opus-4-8")

    await bench.go_on(second)

    assert bench.bodies[-1]["model"] == "claude-opus-4-8"
    [broken] = breaks(bench, second)
    assert (broken.segment, broken.cause) == ("settings", "resume, model")


async def test_the_first_picture_after_a_resume_is_a_cause_of_its_own(bench):
    bench.model(text(LONG), text("Again."))
    first = bench.engine()
    await bench.go_on(first)
    await first.aclose()
    second = bench.engine(resume=first.session_id)

    await bench.go_on(second, [{"type": "text", "text": "Look."}, PICTURE])

    [broken] = breaks(bench, second)
    assert (broken.segment, broken.cause) == ("settings", "images")


async def test_a_session_that_goes_back_to_an_earlier_message_says_so(bench):
    bench.model(text(LONG), text("Two."), text("Three."))
    first = bench.engine()
    await bench.go_on(first, "One.")
    kept = first.transcript[-1].id
    await bench.go_on(first, "Two?")
    await first.aclose()
    second = bench.engine(resume=first.session_id, resume_at=kept)

    await bench.go_on(second, "Another way.")

    [broken] = breaks(bench, second)
    assert (broken.segment, broken.cause) == ("messages", "rewind")


@pytest.mark.parametrize("pause_s", [299.0, 301.0])
async def test_a_cache_that_nobody_used_for_five_minutes_has_expired(bench, pause_s):
    clock = FakeClock()
    async with ModelServer([text(LONG), text("Again.")], clock=clock.elapsed) as server:
        engine = Engine(bench.options(base_url=server.url), env=bench.env, clock=clock)
        bench.engines.append(engine)
        await bench.go_on(engine)
        clock.advance(pause_s)

        await bench.go_on(engine)
        await engine.aclose()

    causes = [(broken.segment, broken.cause) for broken in breaks(bench, engine)]
    assert causes == ([] if pause_s < LIFETIMES_S["5m"] else [("nothing", "expired")])
