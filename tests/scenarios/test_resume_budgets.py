"""A query that was cut off and goes on has what was left of its limits, not all of them again."""

from contextlib import aclosing

import pytest

from everturn.core.state import Reason
from everturn.modelserver import call, hold, say, text

LOOK = {"pattern": "*"}


async def cut_off(bench, *answers, **options):
    """A session that ends while the answer after these streams; the engine that goes on with it."""
    engine = bench.engine(**options)
    bench.model(*answers, hold(text("never"), after=1))
    waiting = len(answers) + 1
    async with aclosing(engine.submit("Go.")) as events:
        async for event in events:
            waiting -= event.__struct_config__.tag == "message_start"
            if not waiting:
                break
    await engine.aclose()
    return bench.engine(resume=engine.session_id, **options)


async def go_on(bench, engine, *answers):
    bench.model(*answers)
    async with aclosing(engine.resume_query()) as events:
        *_, result = [event async for event in events]
    return result


def looks(count):
    return [call("Glob", {"pattern": f"*{number}"}) for number in range(count)]


@pytest.mark.parametrize(("before", "more", "expected"), [(2, 1, Reason.COMPLETED), (2, 2, Reason.MAX_TOOL_CALLS)])
async def test_calls(bench, before, more, expected):
    engine = await cut_off(bench, *looks(before), max_tool_calls=3)
    assert (await go_on(bench, engine, *looks(more), text("Done."))).reason is expected


async def test_money(bench):
    usage = {"input_tokens": 100_000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    dear = say(call("Glob", LOOK), usage={**usage, "cache_creation": None})
    engine = await cut_off(bench, dear, max_budget_usd=0.3)
    half = engine.total_usd
    assert 0.15 < half < 0.3
    result = await go_on(bench, engine, dear, text("Done."))
    assert result.reason is Reason.MAX_BUDGET_USD
    assert result.total_usd == pytest.approx(engine.total_usd)
    assert engine.total_usd > 1.9 * half


async def test_tokens(bench):
    engine = await cut_off(bench, *looks(2), max_total_tokens=1_000_000)
    used = engine.ledger.session_usage.total
    await engine.aclose()
    tight = bench.engine(resume=engine.session_id, max_total_tokens=used + 1)
    assert (await go_on(bench, tight, text("Done."))).reason is Reason.MAX_TOKENS_TOTAL


async def test_calls_that_bring_nothing_new(bench):
    again = call("Glob", LOOK)
    engine = await cut_off(bench, again, again, limits={"max_repeated_calls": 3})
    assert (await go_on(bench, engine, again, text("Done."))).reason is Reason.REPEATED_CALLS


async def test_turns(bench):
    engine = await cut_off(bench, *looks(2), max_turns=3)
    assert (await go_on(bench, engine, *looks(1), text("Done."))).reason is Reason.MAX_TURNS


async def test_whoever_says_something_new_begins_anew(bench):
    engine = await cut_off(bench, *looks(2), max_tool_calls=3)
    bench.model(*looks(3), text("Done."))
    assert (await bench.go_on(engine, "Now this.")).reason is Reason.COMPLETED


async def test_time_that_was_worked_counts_and_time_between_does_not(bench):
    engine = await cut_off(bench, *looks(1), max_wall_s=100)
    file = bench.session_file(engine.session_id)
    await engine.aclose()
    lines = file.read_text().splitlines(keepends=True)
    stamp = lines[-1].split('"timestamp":"')[1][:24]
    # The last line of the first process is said to be written a year later: it worked as long as that.
    place = max(number for number, line in enumerate(lines) if '"type":"transition"' in line)
    later = f"{int(stamp[:4]) + 1}{stamp[4:]}"
    file.write_text(
        "".join(
            line.replace(line.split('"timestamp":"')[1][:24], later) if number >= place else line
            for number, line in enumerate(lines)
        )
    )
    late = bench.engine(resume=engine.session_id, max_wall_s=100)
    assert (await go_on(bench, late, text("Done."))).reason is Reason.MAX_WALL_TIME
