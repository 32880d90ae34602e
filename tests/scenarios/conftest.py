"""What only scenarios need: promises that hold after each of them, and a way to see that processes are really gone."""

import os
import select
from collections.abc import Iterator

import pytest
from tests.scenarios.hooked import Hooked

from everturn.core.cache_ledger import UNEXPLAINED
from everturn.core.records import CacheBroken
from everturn.sessions.session_files import load_session, stream_told


@pytest.fixture
def bench(bench):
    """Whatever the scenario was, its events are in order and its journal tells the whole session."""
    yield bench
    for run in bench.runs:
        assert_orderly(run)
    for engine in {engine.session_id: engine for engine in bench.engines}.values():
        assert_told(bench, engine)
        assert_every_break_is_reported(bench, engine)


@pytest.fixture
def hooked(bench):
    return Hooked(bench)


def assert_every_break_is_reported(bench, engine) -> None:
    """Whoever changes what was sent before says so: nothing of the cache is lost without a reason."""
    path = bench.session_file(engine.session_id)
    if path.exists():
        breaks = [told.record for told, _ in stream_told(path) if isinstance(told.record, CacheBroken)]
        assert [broken for broken in breaks if broken.cause == UNEXPLAINED] == []


def assert_orderly(run) -> None:
    """One terminal, then the result; an error only right before them; silence after a tombstone; an end to each call."""
    assert run.kinds[-2:] == ["terminal", "result"]
    assert run.kinds.count("terminal") == 1
    assert "error" not in run.kinds[:-3]
    kinds = run.kinds
    for at, event in enumerate(run.events):
        if kinds[at] == "tombstone":
            later = {getattr(other, "message_id", None) for other in run.events[at + 1 :]}
            assert event.message_id not in later
    ended = [event.tool_use_id for event in run.of("tool_end")]
    for answer in run.of("assistant"):
        for use in answer.message.uses:
            is_deferred = run.result.deferred_tool_use is not None and run.result.deferred_tool_use["id"] == use.id
            assert ended.count(use.id) == (0 if is_deferred else 1)
    began = [event.tool_use_id for event in run.of("tool_start")]
    for end in run.of("tool_end"):
        assert end.began == (end.tool_use_id in began)


def assert_told(bench, engine) -> None:
    path = bench.session_file(engine.session_id)
    if path.exists():
        replay, warnings = load_session(path)
        assert warnings == ()
        assert replay.messages == engine.transcript
        assert replay.usd == pytest.approx(engine.total_usd)


class Lifeline:
    """A pipe that every process of a command holds open: when nobody holds it, all of them have ended."""

    def __init__(self, path):
        os.mkfifo(path)
        self._reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.command = f"exec 9>{path}; echo started; sleep 600 & sleep 600"
        """Says when it runs, then sleeps in two processes."""

    def is_cut(self) -> bool:
        """Waits for the end at most a minute. A command that was ended before it took hold of the pipe has ended, too."""
        try:
            return os.read(self._reader, 1) == b""
        except BlockingIOError:
            readable, _, _ = select.select([self._reader], [], [], 60)
            return bool(readable) and os.read(self._reader, 1) == b""

    def close(self) -> None:
        os.close(self._reader)


@pytest.fixture
def lifeline(tmp_path) -> Iterator[Lifeline]:
    made = Lifeline(tmp_path / "lifeline")
    yield made
    made.close()
