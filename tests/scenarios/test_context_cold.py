"""After a pause that outlives the cache, all that is sent is written anew anyway: so old results go, whatever that frees."""

import pytest

from everturn import Engine
from everturn.core.records import CacheBroken
from everturn.modelserver import ModelServer, call, text
from everturn.sessions.session_files import stream_told
from everturn.testing import FakeClock

NEVER_WHILE_WARM = {"clear_share": 0, "clear_gain": 1, "clear_keeps": 1, "clear_small": 0}


def reads(bench, count):
    for number in range(count):
        (bench.folder / f"{number}.txt").write_text(f"Line of file {number}.\n" * 60)
    return [call("Read", {"file_path": str(bench.folder / f"{number}.txt")}) for number in range(count)]


def open_engine(bench, server, clock, **options):
    chosen = bench.options(base_url=server.url, limits=NEVER_WHILE_WARM, **options)
    engine = Engine(chosen, env=bench.env, clock=clock)
    bench.engines.append(engine)
    return engine


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize(("pause_s", "ttl", "cleared"), [(299, "5m", 0), (301, "5m", 2), (301, "1h", 0)])
async def test_old_results_are_cleared_for_free(bench, pause_s, ttl, cleared, resumed):
    clock = FakeClock()
    async with ModelServer([*reads(bench, 3), text("Read."), text("Again.")], clock=clock.elapsed) as server:
        engine = open_engine(bench, server, clock, cache_ttl=ttl)
        run = await bench.go_on(engine)
        assert run.of("context") == []
        if resumed:
            await engine.aclose()
            engine = open_engine(bench, server, clock, cache_ttl=ttl, resume=engine.session_id)
        clock.advance(pause_s)

        run = await bench.go_on(engine, "And now?")
        await engine.aclose()
        body = str(server.requests[-1].body["messages"])

    assert [(change.stage, change.cause) for change in run.of("context")] == [("microcompact", "stale")] * bool(cleared)
    assert body.count("[Stale, cleared: ") == cleared
    records = (told.record for told, _ in stream_told(bench.session_file(engine.session_id)))
    causes = [record.cause for record in records if isinstance(record, CacheBroken)]
    assert causes == ["expired"] * bool(cleared)
