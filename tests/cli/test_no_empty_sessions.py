"""Commands leave no empty sessions behind, and what JSON readers are told where there is no session."""

import pytest

from everturn.sessions.places import list_session_files


def sessions(program):
    return sorted(path.stem for path in list_session_files(program.home))


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        ("/help", 0),
        ("/cost", 0),
        ("/status", 0),
        ("/context", 0),
        ("/pin", 0),
        ("/collapses", 0),
        ("/compact", 0),
        ("/hlep", 2),
        ("   ", 2),
    ],
)
async def test_a_command_leaves_no_empty_session(program, prompt, code):
    done = await program.run("-p", prompt)

    assert (done.code, sessions(program)) == (code, [])


async def test_a_command_that_keeps_something_keeps_its_session(program):
    pinned = await program.run("-p", "/pin Always run the tests.", "--session-id", "pinned")
    named = await program.run("-p", "/rename The parser", "--session-id", "named")

    assert (pinned.code, named.code) == (0, 0)
    assert sessions(program) == ["named", "pinned"]


async def test_a_command_in_a_session_that_is_gone_on_with_changes_nothing_about_it(program):
    await program.run("-p", "First", "--session-id", "first")
    await program.run("-p", "/cost", "--continue")
    await program.run("-p", "Second", "--continue", "--output-format", "json")

    assert sessions(program) == ["first"]
    assert len(program.requests[-1].body["messages"]) == 3


async def test_a_session_id_that_a_command_used_is_free(program):
    await program.run("-p", "/help", "--session-id", "mine")
    done = await program.run("-p", "Go", "--session-id", "mine")

    assert (done.code, sessions(program)) == (0, ["mine"])


@pytest.mark.parametrize("flags", [(), ("--continue",)])
async def test_clear_starts_a_session_that_continue_finds(program, flags):
    await program.run("-p", "First", "--session-id", "first")
    cleared = await program.run("-p", "/clear", *flags, "--output-format", "json")
    done = await program.run("-p", "Second", "--continue", "--output-format", "json")

    new = cleared.lines[0]["session_id"]
    assert done.lines[0]["session_id"] == new != "first"
    assert program.said() == "Second"
    assert len(program.requests[-1].body["messages"]) == 1
    assert sessions(program) == sorted(["first", new])


async def test_clear_names_the_session_before_where_there_was_one(program):
    nothing = await program.run("-p", "/clear")
    await program.run("-p", "First", "--session-id", "first")
    something = await program.run("-p", "/clear", "--resume", "first")

    assert nothing.out == "A new conversation begins.\n"
    assert something.out == "A new conversation begins. The one before was first.\n"


@pytest.mark.parametrize("output", ["json", "stream-json"])
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--resume", "nowhere"), "there is no session nowhere in "),
        (("--continue",), "there is no session to continue in "),
    ],
)
async def test_a_session_that_is_not_there_is_an_error_result(program, output, flags, said):
    done = await program.run("-p", "Go", *flags, "--output-format", output, "--verbose")

    [result] = done.lines
    assert (done.code, done.err, len(program.requests)) == (1, "", 0)
    assert (result["type"], result["subtype"], result["is_error"]) == ("result", "error_during_execution", True)
    assert result["terminal_reason"] == "turn_setup_failed"
    assert result["errors"][0].startswith(said)
    assert "result" not in result


async def test_a_message_that_is_not_there_is_an_error_result_too(program):
    await program.run("-p", "Go", "--session-id", "mine")
    flags = ("--resume", "mine", "--resume-session-at", "nothing", "--output-format", "json")
    done = await program.run("-p", "Go", *flags)

    [result] = done.lines
    assert (done.code, result["session_id"]) == (1, "mine")
    assert result["errors"] == ["There is no message nothing in session mine to go on from."]


async def test_a_person_is_told_on_standard_error_as_before(program):
    done = await program.run("-p", "Go", "--resume", "nowhere")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("everturn: there is no session nowhere in ")
