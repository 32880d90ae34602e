"""Large and damaged files: what is read is what is good, and no more of it is held than is needed."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import JournalError
from everturn.core.messages import Kind, Message, text_block
from everturn.core.record_codec import record_message
from everturn.sessions.journal import FileJournal
from everturn.sessions.line_reader import MAX_LINE_LENGTH, read_lines
from everturn.sessions.lines import LineEncoder
from everturn.sessions.replay import ReplayFold
from everturn.sessions.session_files import load_session
from everturn.testing import MemoryDisk


def said(id_, size, kind=Kind.PROMPT, **fields):
    return Message(id=id_, role="user", kind=kind, blocks=(text_block("x" * size),), **fields)


def fold_of(messages, **limits):
    encoder, fold = LineEncoder("s"), ReplayFold(**limits)
    for message in messages:
        fold.read(encoder.encode(record_message(message)))
    return fold


BEFORE = [said(f"m{number}", 1_000) for number in range(10)]
CUT = [said("b", 10, Kind.BOUNDARY, keeps=("m8",)), said("s", 10, Kind.SUMMARY)]


def test_what_a_summary_stands_for_is_held_while_it_is_small():
    fold = fold_of([*BEFORE, *CUT, said("n", 10)], most_held=100_000)
    assert fold.replay("s").messages == (*BEFORE, *CUT, said("n", 10))
    assert fold.warnings == ()


def test_beyond_that_it_stays_on_the_disk_and_that_is_said():
    fold = fold_of([*BEFORE, *CUT, said("n", 10)], most_held=5_000)
    assert fold.replay("s").messages == (BEFORE[8], *CUT, said("n", 10))
    assert fold.warnings == ("9 messages before the last compaction stay on the disk: the session is very large.",)


def test_a_boundary_without_its_summary_stands_for_nothing():
    fold = fold_of([*BEFORE, CUT[0], said("n", 10)], most_held=5_000)
    assert fold.replay("s").messages == (*BEFORE, CUT[0], said("n", 10))


def test_a_conversation_that_nobody_could_read_is_refused_in_words():
    with pytest.raises(JournalError, match="more than 0 MB since its last compaction"):
        fold_of(BEFORE, most_in_view=5_000)


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(1, 50))
@settings(max_examples=200, deadline=None)
def test_lines_are_the_same_however_small_the_pieces(parts, piece):
    content = b"\n".join(parts)
    disk = MemoryDisk()
    folder = Path("/home")
    disk.make_folder(folder)
    handle = disk.open(folder / "file", create=True)
    disk.write(handle, content)

    found = list(read_lines(disk, handle, piece=piece))

    assert b"".join(line for _, line in found) == content
    assert [content[at : at + len(line)] for at, line in found] == [line for _, line in found]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for _, line in found[:-1])


def test_a_hole_that_is_larger_than_any_line_is_passed_over(tmp_path):
    path = tmp_path / "s.jsonl"
    journal = FileJournal(path, "s")
    journal.append(record_message(said("m0", 10)))
    journal.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + MAX_LINE_LENGTH + (3 << 20))
        file.seek(0, 2)
        file.write(b"\n")
    again = FileJournal(path, "s")
    again.append(record_message(said("m1", 10)))
    again.close()
    replay, _ = load_session(path)
    assert [message.id for message in replay.messages] == ["m0", "m1"]
    assert path.stat().st_size < 10_000


def test_many_broken_lines_are_told_in_few_words(tmp_path):
    path = tmp_path / "s.jsonl"
    encoder = LineEncoder("s")
    path.write_bytes(b"{broken\n" * 500 + encoder.encode(record_message(said("m", 10))))
    replay, warnings = load_session(path)
    assert len(replay.messages) == 1
    assert warnings[-1] == "480 more lines were skipped."
