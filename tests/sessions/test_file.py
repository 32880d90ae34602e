"""The session file itself: its rights, its lock, its repair, and what it refuses."""

import json
import stat
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import JournalError
from everturn.core.messages import Kind, Message, text_block
from everturn.core.record_codec import record_message
from everturn.core.records import FORMAT, SessionOpened
from everturn.sessions.journal import FileJournal
from everturn.sessions.lines import LineEncoder
from everturn.sessions.places import UnkeptError, find_session_file, session_file

OPENED = SessionOpened(format=FORMAT, session_id="s", at=1.0, folder="/project", version="0")


def prompt(id_, text="hello"):
    return Message(id=id_, role="user", kind=Kind.PROMPT, blocks=(text_block(text),))


def encode_all(*records):
    encoder = LineEncoder("s", now=lambda: 1_000.0)
    return [encoder.encode(record) for record in records]


LINES = encode_all(OPENED, *(record_message(prompt(f"m{n}")) for n in range(3)))


def place(home):
    return session_file(home, "s", "/project")


def file_of(home, content=b""):
    path = place(home)
    path.parent.mkdir(0o700, parents=True)
    path.write_bytes(content)
    return path


def open_in(home, **options):
    return FileJournal(place(home), "s", **options)


def ids(journal):
    return [message.id for message in journal.replay().messages]


def test_file_and_folder_are_for_their_owner_only(tmp_path):
    home = tmp_path / "deep" / "home"
    journal = open_in(home)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home, home / "projects", journal.path.parent, journal.path)]
    journal.close()
    assert modes == [0o700, 0o700, 0o700, 0o600]


def test_rights_that_were_too_wide_are_narrowed(tmp_path):
    path = file_of(tmp_path)
    path.chmod(0o644)
    path.parent.chmod(0o755)
    open_in(tmp_path).close()
    assert [stat.S_IMODE(place.stat().st_mode) for place in (path.parent, path)] == [0o700, 0o600]


def test_each_record_is_one_line_that_is_there_before_append_returns(tmp_path):
    journal = open_in(tmp_path)
    journal.append(OPENED)
    journal.append(record_message(prompt("m", "two\nlines")))
    lines = journal.path.read_bytes().splitlines()
    journal.close()
    assert [json.loads(line)["type"] for line in lines] == ["everturn", "user"]


def test_a_second_opener_is_told_that_the_session_is_open_elsewhere(tmp_path):
    first = open_in(tmp_path)
    with pytest.raises(JournalError, match="Session s is open elsewhere"):
        open_in(tmp_path)
    FileJournal(place(tmp_path).with_stem("another"), "another").close()
    first.close()
    open_in(tmp_path).close()


def test_a_session_that_must_exist_and_does_not_is_named(tmp_path):
    with pytest.raises(JournalError, match="There is no session s"):
        open_in(tmp_path, must_exist=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("session_id", ["../s", "a/b", "", "..", "a\0b", "x" * 200])
def test_an_id_that_is_no_file_name_is_refused(tmp_path, session_id):
    for find in (find_session_file, session_file):
        with pytest.raises(JournalError, match="is not a session id"):
            find(tmp_path, session_id, "/project")


@given(st.integers(min_value=1))
@settings(max_examples=60, deadline=None)
def test_a_file_cut_anywhere_in_its_last_line_is_repaired_by_that_line_alone(tmp_path_factory, cut):
    home = tmp_path_factory.mktemp("home")
    whole, last = b"".join(LINES[:-1]), LINES[-1]
    path = file_of(home, whole + last[: 1 + cut % (len(last) - 2)])

    journal = open_in(home)

    assert path.read_bytes() == whole
    assert ids(journal) == ["m0", "m1"]
    assert [warning.split(" (")[0] for warning in journal.warnings] == ["The last line was incomplete and was removed"]
    journal.append(record_message(prompt("m2")))
    assert ids(journal) == ["m0", "m1", "m2"]
    journal.close()


def test_a_last_line_that_lacks_nothing_but_its_end_gets_one(tmp_path):
    title = b'{"type":"custom-title","customTitle":"Mine"}'
    path = file_of(tmp_path, b"".join(LINES) + title)
    journal = open_in(tmp_path)
    journal.append(record_message(prompt("m3")))
    assert ids(journal) == ["m0", "m1", "m2", "m3"]
    assert journal.warnings == ()
    journal.close()
    assert path.read_bytes().startswith(b"".join(LINES) + title + b"\n{")


@pytest.mark.parametrize("rubbish", [b"\0" * 512, b"\0" * 512 + b"\n", b'{"type":"mess\n', b"{", b"\xff\xfe\n"])
def test_rubbish_at_the_end_is_removed(tmp_path, rubbish):
    path = file_of(tmp_path, b"".join(LINES) + rubbish)
    journal = open_in(tmp_path)
    journal.close()
    assert path.read_bytes() == b"".join(LINES)


@pytest.mark.parametrize("odd", [b'{"x":"\\ud800"}\n', b"[" * 9_000 + b"]" * 9_000 + b"\n", b'{"type":"message"}\n'])
def test_a_last_line_that_is_whole_but_beyond_us_is_kept(tmp_path, odd):
    path = file_of(tmp_path, LINES[0] + odd)
    journal = open_in(tmp_path)
    journal.replay()
    assert (path.read_bytes(), len(journal.warnings)) == (LINES[0] + odd, 1)
    journal.close()


@pytest.mark.parametrize("rubbish", [b"\0\0\0\n", b'{"type":"message","id":7}\n', b"[1,2\n"])
def test_a_broken_line_in_the_middle_is_skipped_kept_and_told(tmp_path, rubbish):
    content = LINES[0] + LINES[1] + rubbish + LINES[2] + LINES[3]
    path = file_of(tmp_path, content)
    journal = open_in(tmp_path)

    assert ids(journal) == ["m0", "m1", "m2"]
    assert [warning.split(":")[0] for warning in journal.warnings] == ["Line 3 was skipped"]
    journal.close()
    assert path.read_bytes() == content


def test_a_message_whose_block_is_no_object_is_skipped_and_told(tmp_path):
    odd = b'{"type":"message","id":"odd","role":"user","kind":"prompt","blocks":["text"]}\n'
    file_of(tmp_path, LINES[0] + odd + LINES[1])
    journal = open_in(tmp_path)
    assert ids(journal) == ["m0"]
    assert journal.warnings == ("Message odd was skipped: a content block is not a JSON object.",)
    journal.close()


def test_foreign_lines_are_tolerated_and_kept(tmp_path):
    foreign = b'{"type":"from-another-program","x":1}\n\n{"no":"type"}\r\n{"type":"message-v9"}\n'
    content = LINES[0] + foreign + LINES[1] + foreign
    path = file_of(tmp_path, content)
    journal = open_in(tmp_path)
    assert (ids(journal), journal.warnings) == (["m0"], ())
    journal.append(record_message(prompt("m1")))
    assert ids(journal) == ["m0", "m1"]
    journal.close()
    assert path.read_bytes().startswith(content)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("extra", [{}, {"folder": ["of", "another", "shape"]}])
def test_a_newer_format_is_refused_and_left_untouched(tmp_path, extra, nested):
    newer = {**msgspec.to_builtins(OPENED), "format": FORMAT + 1, **extra}
    line = {"type": "everturn", "record": newer} if nested else newer
    content = json.dumps(line).encode() + b"\n" + b'{"type":"cut'
    path = file_of(tmp_path, content)
    path.chmod(0o640)

    with pytest.raises(JournalError, match=f"later version of Everturn .format {FORMAT + 1}."):
        open_in(tmp_path)

    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (content, 0o640)


def test_a_word_about_formats_in_a_message_is_no_newer_format(tmp_path):
    journal = open_in(tmp_path)
    journal.append(record_message(prompt("m", '{"type":"session","format":99}')))
    journal.close()
    again = open_in(tmp_path)
    assert ids(again) == ["m"]
    again.close()


def test_a_home_that_is_a_file_is_told_in_words(tmp_path):
    (tmp_path / "home").write_text("")
    with pytest.raises(UnkeptError, match="Sessions cannot be kept in"):
        open_in(tmp_path / "home")


def test_a_session_file_that_is_a_link_or_a_folder_is_refused(tmp_path):
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("link", "folder"):
        with pytest.raises(JournalError, match="cannot be opened"):
            FileJournal(tmp_path / f"{name}.jsonl", name)
    assert not (tmp_path / "elsewhere").exists()


FULL_DISK = """
import resource, sys
from pathlib import Path
from everturn.core.errors import JournalError
from everturn.core.records import ErrorWithheld
from everturn.sessions.journal import FileJournal

journal = FileJournal(Path(sys.argv[1]), "s")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 2000))
number = 0
try:
    while True:
        journal.append(ErrorWithheld(kind=str(number), text="x" * 90))
        number += 1
except JournalError as error:
    print(number, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
journal.append(ErrorWithheld(kind="after", text=""))
print(number)
"""


def test_a_disk_that_is_full_is_a_loud_error_and_when_it_takes_more_nothing_is_missing(tmp_path):
    path = tmp_path / "s.jsonl"
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, timeout=120, check=True
    )
    first, last = run.stdout.splitlines()
    assert first.startswith(f"{last} Session file {path} cannot be written: File too large.")
    kinds = [json.loads(line)["record"]["kind"] for line in path.read_bytes().splitlines()]
    assert kinds == [*map(str, range(int(last) + 1)), "after"]
