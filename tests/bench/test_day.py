"""The simulated day: everybody does the same work, and what it costs is what the model server would say."""

import asyncio
import json

import pytest
from bench.day.desk import MODEL, Desk, input_of
from bench.day.meter import CacheMeter
from bench.day.ours import run_ours
from bench.day.plain import ASK, WINDOW, make_request, run_plain
from bench.day.texts import find_results, write_result
from bench.day.work import Call, draw_day

from everturn.core.cache_ledger import UNEXPLAINED
from everturn.core.messages import encode_block, result_block, text_block
from everturn.core.records import CacheBroken
from everturn.core.transcript import Wire
from everturn.models.anthropic.encode import encode_request
from everturn.models.catalog import JsonCatalog
from everturn.modelserver import Ask
from everturn.modelserver.prompt_cache import PromptCache, segments_of
from everturn.sessions.session_files import stream_told

TURNS = 60


def test_a_seed_gives_the_same_day_again_and_another_one_another():
    assert draw_day(1, TURNS) == draw_day(1, TURNS) != draw_day(2, TURNS)


@pytest.mark.parametrize("turns", [1, 7, TURNS])
def test_a_day_has_as_many_turns_as_wanted_and_each_query_ends_without_calls(turns):
    day = draw_day(3, turns)

    assert sum(len(query.turns) for query in day) == turns
    assert {bool(query.turns[-1].calls) for query in day} == {False}


def test_a_result_that_was_cut_is_not_in_sight():
    call = Call(7, "Read", "a.py", 3_000)
    whole = write_result(call)

    assert find_results(whole.encode(), {7: 3_000}) == {7}
    assert find_results((whole[:500] + whole[-500:]).encode(), {7: 3_000}) == frozenset()


def test_the_meter_counts_and_caches_as_the_model_server_does():
    catalog, cache, now = JsonCatalog(), PromptCache(), 0.0
    meter, minimum = CacheMeter(catalog), catalog.card(MODEL).min_cacheable
    call = Call(1, "Edit", "a.py", 900, edited=400)
    use = encode_block({"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": input_of(call)})
    wires = [Wire("user", (text_block(ASK),))]
    for more in (
        Wire("assistant", (text_block("I change it."), use)),
        Wire("user", (result_block("toolu_1", write_result(call) * 30),)),
        Wire("assistant", (text_block("Done."),)),
        Wire("user", (text_block("Again."),)),
    ):
        wires = [*wires, more]
        request = make_request(wires)
        body = json.loads(encode_request(request, catalog.card(MODEL)))
        judged = cache.judge(segments_of(Ask(body)), minimum, now)
        cache.commit(judged, now)

        usage = meter.charge(request, now, 5)

        told = (usage.input, usage.cache_read, usage.cache_write)
        assert told == (judged.fresh, judged.read, sum(judged.written.values()))
        now += 200.0


def test_a_small_window_is_summarised_and_a_window_without_an_end_is_not():
    endless, simple = Desk(draw_day(1, TURNS)), Desk(draw_day(1, TURNS))

    run_plain(endless, window=None)
    run_plain(simple, window=WINDOW // 4)

    assert (endless.tally.compactions, endless.tally.again, endless.tally.requests) == (0, 0, TURNS)
    assert simple.tally.compactions > 0
    assert simple.tally.requests == TURNS + simple.tally.compactions + simple.tally.again
    assert simple.tally.largest < WINDOW // 4


async def test_everturn_does_the_same_work_and_explains_every_break(tmp_path):
    desk = Desk(draw_day(1, TURNS))

    await asyncio.wait_for(run_ours(desk, tmp_path), 300)

    tally = desk.tally
    assert tally.requests == TURNS + tally.compactions + tally.collapses + tally.again
    [journal] = tmp_path.rglob("*.jsonl")
    breaks = [told.record for told, _ in stream_told(journal) if isinstance(told.record, CacheBroken)]
    assert [broken for broken in breaks if broken.cause == UNEXPLAINED] == []
