"""Prompts of the past: this folder's first, safe with several sessions, and no key in the file."""

import os
import subprocess
import sys
from itertools import count

import msgspec
import pytest
from tests.pace import measured

from everturn.frontends.terminal.history import FILE_NAME, MAX_TEXT, PastPrompt, PromptHistory

KEY = "sk-ant-api03-made-up-9fK2xQ7wLp4Tz8VbN3cR6yHd-key-for-tests"


@pytest.fixture
def open_history(tmp_path):
    ticks = count(1_000)

    def open_(folder="/work/here", **more):
        return PromptHistory(str(tmp_path), folder, now=lambda: float(next(ticks)), **more)

    return open_


def texts(prompts):
    return [prompt.text for prompt in prompts]


def lines(tmp_path):
    return (tmp_path / FILE_NAME).read_bytes().splitlines()


def test_the_newest_comes_first_and_this_folder_before_others(open_history):
    here, there = open_history(), open_history("/work/there")
    here.add("one")
    there.add("two")
    here.add("three\nlines")
    there.add("four")

    assert texts(here.prompts()) == ["three\nlines", "one", "four", "two"]
    assert texts(there.prompts()) == ["four", "two", "three\nlines", "one"]
    assert open_history().prompts()[0] == PastPrompt(text="three\nlines", folder="/work/here", time=1002.0)


def test_a_repeat_of_the_prompt_beside_it_is_left_out(open_history):
    history = open_history()
    for text in ("a", "a", "b", "a", "  ", ""):
        history.add(text)

    assert texts(history.prompts()) == ["a", "b", "a"]


def test_a_part_is_found_in_any_case_and_each_text_once(open_history):
    history = open_history()
    for text in ("Fix the test", "add docs", "fix THE lint", "Fix the test"):
        history.add(text)

    assert texts(history.search("the")) == ["Fix the test", "fix THE lint"]
    assert texts(history.search("")) == ["Fix the test", "fix THE lint", "add docs"]
    assert history.search("nothing of it") == []


def test_keys_are_masked_in_the_file_and_not_in_the_session_that_typed_them(open_history, tmp_path):
    history = open_history()
    history.add(f"use {KEY} now")

    assert texts(history.prompts()) == [f"use {KEY} now"]
    assert texts(open_history().prompts()) == ["use [key] now"]
    assert KEY.encode() not in (tmp_path / FILE_NAME).read_bytes()


def test_nothing_is_written_where_no_session_is_kept(open_history, tmp_path):
    open_history().add("before")
    history = open_history(writes=False)
    history.add("secret")

    assert texts(history.prompts()) == ["secret", "before"]
    assert len(lines(tmp_path)) == 1


def test_only_the_owner_reads_the_file(open_history, tmp_path):
    file = tmp_path / FILE_NAME
    open_history().add("a")
    assert file.stat().st_mode & 0o777 == 0o600

    file.chmod(0o644)
    open_history().add("b")
    assert file.stat().st_mode & 0o777 == 0o600


def test_broken_lines_are_passed_over_and_take_no_other_with_them(open_history, tmp_path):
    open_history().add("one")
    with (tmp_path / FILE_NAME).open("ab") as file:
        file.write(b'\xff\xfe\n[1]\n\n{"text":5}\n{"text":"later version","more":[1]}\n{"text":"cut in the mid')
    open_history().add("two")

    assert texts(open_history().prompts()) == ["two", "one", "later version"]
    assert lines(tmp_path)[-1].startswith(b'{"text":"two"')


def test_a_very_long_prompt_is_known_to_its_own_session_only(open_history):
    history = open_history()
    history.add("x" * (MAX_TEXT + 1))

    assert len(history.prompts()) == 1
    assert open_history().prompts() == []


def test_a_lone_surrogate_is_written_as_a_mark(open_history):
    open_history().add("a\udce9b")

    assert texts(open_history().prompts()) == ["a?b"]


def test_a_large_file_is_written_anew_with_its_newest_half(open_history, tmp_path):
    history = open_history(max_bytes=2_000)
    for number in range(200):
        history.add(f"prompt {number}")

    found = texts(open_history().prompts())
    assert found == [f"prompt {number}" for number in range(199, 199 - len(found), -1)]
    assert len(found) > 5
    assert (tmp_path / FILE_NAME).stat().st_size <= 2_000
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_what_another_session_has_sent_meanwhile_is_found(open_history):
    mine, other = open_history(), open_history()
    mine.add("mine")
    assert texts(mine.prompts()) == ["mine"]

    other.add("other")

    assert texts(mine.prompts()) == ["other", "mine"]


WRITER = """
import sys
from everturn.frontends.terminal.history import PromptHistory
history = PromptHistory(sys.argv[1], "/f", max_bytes=int(sys.argv[3]))
for number in range(150):
    history.add(f"{sys.argv[2]} {number} " + "x" * (number % 50))
    assert not history.problem, history.problem
"""


@pytest.mark.parametrize("most", [4 << 20, 5_000])
def test_several_sessions_write_at_once_and_no_line_is_lost_or_broken(tmp_path, most):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(writer), str(most)]) for writer in range(4)
    ]
    assert [writer.wait() for writer in writers] == [0] * 4

    decoded = [msgspec.json.decode(line, type=PastPrompt).text.split()[:2] for line in lines(tmp_path)]
    for writer in range(4):
        numbers = [int(number) for who, number in decoded if who == str(writer)]
        # In order and without a gap, up to the last one.
        assert numbers == list(range(150 - len(numbers), 150))
    if most > 5_000:
        assert len(decoded) == 600
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_a_place_that_cannot_be_written_is_told_and_stops_nothing(tmp_path, open_history):
    (tmp_path / FILE_NAME).symlink_to("/etc/passwd")
    linked = open_history()
    linked.add("a")
    assert "cannot be written" in linked.problem
    assert texts(linked.prompts()) == ["a"]

    (tmp_path / FILE_NAME).unlink()
    os.mkfifo(tmp_path / FILE_NAME)
    piped = open_history()
    piped.add("b")
    assert "it is no plain file" in piped.problem
    assert texts(piped.prompts()) == ["b"]

    nowhere = PromptHistory(str(tmp_path / "nowhere"), "/f")
    nowhere.add("c")
    assert "No such file" in nowhere.problem


def test_a_full_file_is_read_in_a_moment(tmp_path):
    line = msgspec.json.encode(PastPrompt(text="fix the test of the parser " * 3, folder="/f", time=1.0)) + b"\n"
    (tmp_path / FILE_NAME).write_bytes(b"".join(line.replace(b"1.0", str(at).encode()) for at in range(25_000)))
    history = PromptHistory(str(tmp_path), "/f")

    with measured() as first:
        history.prompts()
    with measured() as searched:
        history.search("parser")

    assert first.seconds < 0.2
    assert searched.seconds < 0.1
