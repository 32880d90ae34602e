"""A fork is a session of its own that begins like another; the other one never notices."""

import json
from pathlib import Path

import pytest

from everturn.core.errors import JournalError
from everturn.modelserver import call, text
from everturn.sessions.disk import LocalDisk
from everturn.sessions.fork import fork_session
from everturn.sessions.journal import FileJournal
from everturn.sessions.session_files import load_session
from everturn.testing import Fault, FaultyDisk

RICH = Path(__file__).parent / "fixtures" / "format-1" / "rich.jsonl"


def fork(source, target, **options):
    return fork_session(source, target, folder="/home/ada/project", version="0.1.0", **options)


def test_a_whole_fork_tells_the_same_story_under_another_id(tmp_path):
    target = tmp_path / "new.jsonl"
    before = RICH.read_bytes()
    count = fork(RICH, target)

    first, _ = load_session(RICH)
    forked, warnings = load_session(target)
    assert (forked.messages, forked.usage, forked.model) == (first.messages, first.usage, first.model)
    assert (forked.session_id, forked.waiting, warnings, count) == ("new", (), (), len(first.messages))
    assert RICH.read_bytes() == before
    lines = [json.loads(line) for line in target.read_bytes().splitlines()]
    assert {line["sessionId"] for line in lines if "sessionId" in line} == {"new"}
    assert lines[0]["record"]["session_id"] == "new"


def test_a_fork_at_a_message_ends_with_it(tmp_path):
    first, _ = load_session(RICH)
    fork(RICH, tmp_path / "new.jsonl", upto=first.messages[4].id)
    assert load_session(tmp_path / "new.jsonl")[0].messages == first.messages[:5]


def test_a_message_that_is_not_there_makes_no_fork(tmp_path):
    with pytest.raises(JournalError, match="There is no message nobody in session rich"):
        fork(RICH, tmp_path / "new.jsonl", upto="nobody")
    assert list(tmp_path.iterdir()) == []


def test_a_fork_never_takes_the_place_of_a_session(tmp_path):
    FileJournal(tmp_path / "new.jsonl", "new").close()
    with pytest.raises(JournalError, match="There is a session new already"):
        fork(RICH, tmp_path / "new.jsonl")


@pytest.mark.parametrize("operation", ["open", "write", "sync", "rename"])
def test_a_disk_that_fails_leaves_no_half_of_a_fork(tmp_path, operation):
    disk = FaultyDisk(LocalDisk(), Fault(nth=1, operations=frozenset({operation})))
    with pytest.raises(JournalError, match="cannot be made"):
        fork(RICH, tmp_path / "new.jsonl", disk=disk)
    assert list(tmp_path.iterdir()) == []


async def test_a_session_that_is_open_is_forked_and_both_go_on(bench):
    engine = bench.engine(environment=False)
    bench.model(call("Glob", {"pattern": "*"}), text("First."))
    await bench.go_on(engine, "One.")
    fork_session(
        bench.session_file(engine.session_id), bench.session_file("new"), folder=str(bench.folder), version="0"
    )
    bench.model(text("Second."))
    await bench.go_on(engine, "Two.")
    expected = bench.requests[-1].raw

    bench.model(text("Second."))
    await bench.go_on(bench.engine(resume="new", environment=False), "Two.")

    assert bench.requests[-1].raw == expected
