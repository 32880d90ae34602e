"""The session file itself: its rights, its lock, its repair, and what it refuses."""

import json
import os
import stat
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import JournalError
from everturn.core.messages import Kind, Message, text_block
from everturn.core.records import FORMAT, SessionOpened, encode_record, record_message
from everturn.sessions.journal import FileJournal, make_sessions_folder

OPENED = SessionOpened(format=FORMAT, session_id="s", at=1.0, folder="/project", version="0")


def prompt(id_, text="hello"):
    return Message(id=id_, role="user", kind=Kind.PROMPT, blocks=(text_block(text),))


LINES = [encode_record(OPENED), *(encode_record(record_message(prompt(f"m{n}"))) for n in range(3))]


def file_of(home, content=b""):
    path = make_sessions_folder(home) / "s.jsonl"
    path.write_bytes(content)
    return path


def ids(journal):
    return [message.id for message in journal.replay().messages]


def test_file_and_folder_are_for_their_owner_only(tmp_path):
    home = tmp_path / "deep" / "home"
    journal = FileJournal(home, "s")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home, home / "sessions", journal.path)]
    journal.close()
    assert modes == [0o700, 0o700, 0o600]


def test_rights_that_were_too_wide_are_narrowed(tmp_path):
    path = file_of(tmp_path)
    path.chmod(0o644)
    path.parent.chmod(0o755)
    FileJournal(tmp_path, "s").close()
    assert [stat.S_IMODE(place.stat().st_mode) for place in (path.parent, path)] == [0o700, 0o600]


def test_each_record_is_one_line_that_is_there_before_append_returns(tmp_path):
    journal = FileJournal(tmp_path, "s")
    journal.append(OPENED)
    journal.append(record_message(prompt("m", "two\nlines")))
    lines = journal.path.read_bytes().splitlines()
    journal.close()
    assert [json.loads(line)["type"] for line in lines] == ["session", "message"]


def test_a_second_opener_is_told_that_the_session_is_open_elsewhere(tmp_path):
    first = FileJournal(tmp_path, "s")
    with pytest.raises(JournalError, match="Session s is open elsewhere"):
        FileJournal(tmp_path, "s")
    FileJournal(tmp_path, "another").close()
    first.close()
    FileJournal(tmp_path, "s").close()


def test_a_session_that_must_exist_and_does_not_is_named(tmp_path):
    with pytest.raises(JournalError, match="There is no session s"):
        FileJournal(tmp_path, "s", must_exist=True)
    assert list((tmp_path / "sessions").iterdir()) == []


@pytest.mark.parametrize("session_id", ["../s", "a/b", "", "..", "a\0b", "x" * 200])
def test_an_id_that_is_no_file_name_is_refused(tmp_path, session_id):
    with pytest.raises(JournalError, match="is not a session id"):
        FileJournal(tmp_path, session_id)


@given(st.integers(min_value=1))
@settings(max_examples=60, deadline=None)
def test_a_file_cut_anywhere_in_its_last_line_is_repaired_by_that_line_alone(tmp_path_factory, cut):
    home = tmp_path_factory.mktemp("home")
    whole, last = b"".join(LINES[:-1]), LINES[-1]
    path = file_of(home, whole + last[: 1 + cut % (len(last) - 1)])

    journal = FileJournal(home, "s")

    assert path.read_bytes() == whole
    assert ids(journal) == ["m0", "m1"]
    assert [warning.split(" (")[0] for warning in journal.warnings] == ["The last line was incomplete and was removed"]
    journal.append(record_message(prompt("m2")))
    assert ids(journal) == ["m0", "m1", "m2"]
    journal.close()


@pytest.mark.parametrize("rubbish", [b"\0" * 512, b"\0" * 512 + b"\n", b'{"type":"mess\n', b"{", b"\xff\xfe\n"])
def test_rubbish_at_the_end_is_removed(tmp_path, rubbish):
    path = file_of(tmp_path, b"".join(LINES) + rubbish)
    journal = FileJournal(tmp_path, "s")
    journal.close()
    assert path.read_bytes() == b"".join(LINES)


@pytest.mark.parametrize("odd", [b'{"x":"\\ud800"}\n', b"[" * 9_000 + b"]" * 9_000 + b"\n", b'{"type":"message"}\n'])
def test_a_last_line_that_is_whole_but_beyond_us_is_kept(tmp_path, odd):
    path = file_of(tmp_path, LINES[0] + odd)
    journal = FileJournal(tmp_path, "s")
    journal.replay()
    assert (path.read_bytes(), len(journal.warnings)) == (LINES[0] + odd, 1)
    journal.close()


@pytest.mark.parametrize("rubbish", [b"\0\0\0\n", b'{"type":"message","id":7}\n', b"[1,2\n"])
def test_a_broken_line_in_the_middle_is_skipped_kept_and_told(tmp_path, rubbish):
    content = LINES[0] + LINES[1] + rubbish + LINES[2] + LINES[3]
    path = file_of(tmp_path, content)
    journal = FileJournal(tmp_path, "s")

    assert ids(journal) == ["m0", "m1", "m2"]
    assert [warning.split(":")[0] for warning in journal.warnings] == ["Line 3 was skipped"]
    journal.close()
    assert path.read_bytes() == content


def test_a_message_whose_block_is_no_object_is_skipped_and_told(tmp_path):
    odd = b'{"type":"message","id":"odd","role":"user","kind":"prompt","blocks":["text"]}\n'
    file_of(tmp_path, LINES[0] + odd + LINES[1])
    journal = FileJournal(tmp_path, "s")
    assert ids(journal) == ["m0"]
    assert journal.warnings == ("Message odd was skipped: a content block is not a JSON object.",)
    journal.close()


def test_foreign_lines_are_tolerated_and_kept(tmp_path):
    foreign = b'{"type":"from-another-program","x":1}\n\n{"no":"type"}\r\n{"type":"message-v9"}\n'
    content = LINES[0] + foreign + LINES[1] + foreign
    path = file_of(tmp_path, content)
    journal = FileJournal(tmp_path, "s")
    assert (ids(journal), journal.warnings) == (["m0"], ())
    journal.append(record_message(prompt("m1")))
    assert ids(journal) == ["m0", "m1"]
    journal.close()
    assert path.read_bytes().startswith(content)


@pytest.mark.parametrize("extra", [{}, {"folder": ["of", "another", "shape"]}])
def test_a_newer_format_is_refused_and_left_untouched(tmp_path, extra):
    newer = {**msgspec.to_builtins(OPENED), "format": FORMAT + 1, **extra}
    content = json.dumps(newer).encode() + b"\n" + b'{"type":"cut'
    path = file_of(tmp_path, content)
    path.chmod(0o640)

    with pytest.raises(JournalError, match=f"later version of Everturn .format {FORMAT + 1}."):
        FileJournal(tmp_path, "s")

    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (content, 0o640)


def test_a_word_about_formats_in_a_message_is_no_newer_format(tmp_path):
    journal = FileJournal(tmp_path, "s")
    journal.append(record_message(prompt("m", '{"type":"session","format":99}')))
    journal.close()
    again = FileJournal(tmp_path, "s")
    assert ids(again) == ["m"]
    again.close()


def test_a_home_that_is_a_file_is_told_in_words(tmp_path):
    (tmp_path / "home").write_text("")
    with pytest.raises(JournalError, match="Sessions cannot be kept in"):
        FileJournal(tmp_path / "home", "s")


def test_a_session_file_that_is_a_link_or_a_folder_is_refused(tmp_path):
    folder = make_sessions_folder(tmp_path)
    (folder / "link.jsonl").symlink_to(tmp_path / "elsewhere")
    (folder / "folder.jsonl").mkdir()
    for name in ("link", "folder"):
        with pytest.raises(JournalError, match="cannot be opened"):
            FileJournal(tmp_path, name)
    assert not (tmp_path / "elsewhere").exists()


FULL_DISK = """
import resource, sys
from pathlib import Path
from everturn.core.errors import JournalError
from everturn.core.records import ErrorWithheld
from everturn.sessions.journal import FileJournal

journal = FileJournal(Path(sys.argv[1]), "s")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
written = 0
try:
    while True:
        journal.append(ErrorWithheld(kind="k", text="x" * 90))
        written += 1
except JournalError as error:
    print(written, error)
try:
    journal.append(ErrorWithheld(kind="k", text=""))
except JournalError as error:
    print("again", error)
"""


def test_a_disk_that_is_full_is_a_loud_error_and_leaves_whole_lines(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, timeout=30, check=True
    )
    first, again = run.stdout.splitlines()
    written, _, text = first.partition(" ")
    lines = (tmp_path / "sessions" / "s.jsonl").read_bytes().split(b"\n")
    assert text.startswith("Session file")
    assert "cannot be written" in text
    assert again == f"again {text}"
    assert (len(lines), lines[-1]) == (int(written) + 1, b"")
    assert all(json.loads(line)["type"] == "withheld" for line in lines[:-1])


@pytest.mark.parametrize("before", [0, 1, 2])
async def test_a_flush_that_fails_is_told_and_is_the_last_one(tmp_path, before):
    journal = FileJournal(tmp_path, "s")
    for _ in range(before):
        journal.append(OPENED)
        await journal.sync()
    journal.append(OPENED)
    reader, writer = os.pipe()
    # A pipe takes what is written and cannot be flushed.
    os.dup2(writer, journal._descriptor)

    with pytest.raises(JournalError, match="cannot be written"):
        await journal.sync()
    with pytest.raises(JournalError, match="cannot be written"):
        journal.append(OPENED)

    journal.close()
    os.close(reader)
    os.close(writer)
    assert journal.path.read_bytes() == encode_record(OPENED) * (before + 1)
