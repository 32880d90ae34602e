"""Going on with a session: the newest of the folder, or one by its id."""

import os
from pathlib import Path

import pytest

from everturn.cli.sessions.lookup import find_near, find_newest
from everturn.sessions.places import list_session_files


async def test_continue_takes_the_newest_session_of_this_folder(program, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    here = program.folder
    await program.run("-p", "First here", "--session-id", "first")
    await program.run("-p", "Second here", "--session-id", "second")
    program.folder = elsewhere
    await program.run("-p", "Somewhere else", "--session-id", "other")
    program.folder = here
    await program.run("-p", "And now?", "-c")
    opening = program.requests[-1].body["messages"][0]["content"][0]["text"]
    assert opening == "Second here"


async def test_a_session_is_resumed_by_its_id(program):
    await program.run("-p", "Remember me", "--session-id", "mine")
    done = await program.run("-p", "Who am I?", "--resume=mine", "--output-format", "json")
    assert done.lines[0]["session_id"] == "mine"
    assert len(program.requests[-1].body["messages"]) == 3


async def test_an_id_that_is_not_there_is_answered_with_those_like_it(program):
    await program.run("-p", "Go", "--session-id", "a-long-session-name")
    done = await program.run("-p", "Go", "--resume", "a-lomg-session-name")
    assert done.code == 2
    assert "did you mean a-long-session-name?" in done.err


@pytest.mark.parametrize("name", ["a-long", "Sort out the parser", "sort out the PARSER", "parser", "latest"])
async def test_a_session_is_resumed_by_a_beginning_of_its_id_by_its_title_or_as_the_latest(program, name):
    await program.run("-p", "Sort out the parser", "--session-id", "a-long-session-name")
    done = await program.run("-p", "Go on", "--resume", name, "--output-format", "json")
    assert (done.code, done.lines[0]["session_id"]) == (0, "a-long-session-name")


async def test_a_name_that_fits_several_sessions_is_answered_with_all_of_them(program):
    await program.run("-p", "Mend the parser", "--session-id", "one")
    await program.run("-p", "Drop the parser", "--session-id", "two")
    done = await program.run("-p", "Go on", "--resume", "the parser")
    assert done.code == 2
    assert "2 sessions have a title with the parser:\n  two  Drop the parser\n  one  Mend the parser\n" in done.err


async def test_a_new_session_never_takes_the_place_of_an_old_one(program):
    await program.run("-p", "Go", "--session-id", "mine")
    done = await program.run("-p", "Go", "--session-id", "mine")
    assert done.code == 2
    assert "--resume mine" in done.err


async def test_a_session_that_is_not_kept_leaves_nothing(program):
    await program.run("-p", "Go", "--no-session-persistence")
    assert list(list_session_files(program.home)) == []


def write_session(home: Path, name: str, *lines: str, at: int) -> None:
    folder = home / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    os.utime(path, (at, at))


OPENED = '{"type":"session","format":1,"session_id":"x","at":1.0,"folder":"/here","version":"0"}'
SPOKEN = '{"type":"message","id":"m","role":"user","kind":"prompt","blocks":[{"type":"text","text":"Hi"}]}'


def test_sessions_in_which_nothing_was_said_and_broken_ones_are_passed_over(tmp_path):
    write_session(tmp_path, "spoken", OPENED, SPOKEN, at=1)
    write_session(tmp_path, "silent", OPENED, at=2)
    write_session(tmp_path, "broken", "{{{", SPOKEN, at=3)
    write_session(tmp_path, "empty", at=4)
    assert find_newest(tmp_path, Path("/here")) == "spoken"


def test_ids_are_offered_by_their_beginning_or_by_their_likeness(tmp_path):
    for at, name in enumerate(("abc-1", "abc-2", "xyz")):
        write_session(tmp_path, name, OPENED, SPOKEN, at=at)
    assert find_near(tmp_path, "abc") == ["abc-2", "abc-1"]
    assert find_near(tmp_path, "xyy") == ["xyz"]
    assert find_near(tmp_path / "nowhere", "xyz") == []
