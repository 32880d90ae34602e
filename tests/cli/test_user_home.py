"""Where a person has no home, or none that can be written: nothing lands in `/`, and the session is kept in memory."""

import os
import pwd
from pathlib import Path

import pytest

from everturn.modelserver import call, text
from everturn.settings.environment import find_user_home
from everturn.settings.setup import find_home

OWN = pwd.getpwuid(os.getuid()).pw_dir


@pytest.mark.parametrize(("home", "found"), [(None, OWN), ("", OWN), ("sub/folder", OWN), ("/home/me", "/home/me")])
def test_without_a_whole_path_in_the_variable_the_system_is_asked(home, found):
    env = {} if home is None else {"HOME": home}
    assert find_user_home(env) == found
    assert find_home(None, env) == Path(found, ".everturn")
    assert find_home("~/mine", env) == Path(found, "mine")


@pytest.mark.parametrize("home", [None, "", "sub/folder"])
async def test_the_program_and_what_it_starts_agree_on_the_home(program, home):
    program.model(call("Bash", {"command": 'echo "$HOME" ~'}), text("Done."))

    done = await program.run(
        "-p", "Go", "--allowed-tools", "Bash", "--output-format", "stream-json", env={"HOME": home}
    )

    [result] = [line for line in done.lines if line["type"] == "user"]
    assert result["tool_use_result"]["stdout"] == f"{OWN} {OWN}"


async def test_a_home_that_is_a_file_leaves_the_session_in_memory(program, tmp_path):
    (tmp_path / "file").write_text("")

    done = await program.run("-p", "Go", env={"HOME": str(tmp_path / "file"), "EVERTURN_HOME": None})

    assert (done.code, done.out) == (0, "Hello.\n")
    assert "kept in memory" in done.err
    assert len(done.err.splitlines()) == 1


async def test_a_home_that_is_missing_and_cannot_be_made_leaves_the_session_in_memory(program):
    done = await program.run("-p", "Go", env={"HOME": "/proc/nobody", "EVERTURN_HOME": None})

    assert (done.code, done.out) == (0, "Hello.\n")
    assert "kept in memory" in done.err


async def test_a_home_that_is_missing_is_made(program, tmp_path):
    done = await program.run("-p", "Go", env={"HOME": str(tmp_path / "new"), "EVERTURN_HOME": None})

    assert (done.code, done.out, done.err) == (0, "Hello.\n", "")
    assert (tmp_path / "new" / ".everturn" / "projects").is_dir()
