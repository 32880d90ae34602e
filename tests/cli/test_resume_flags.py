"""The flags that go on with a session: from a message, in a copy, and without a new prompt."""

import signal

from everturn.modelserver import call, hold, text
from everturn.sessions.places import session_file

SESSION = ("--session-id", "mine")


def file_of(program, session_id="mine"):
    return session_file(program.home, session_id, program.folder.resolve())


async def kill_in_second_answer(program):
    """A process that dies when its tool has run and the model begins to speak."""
    program.model(call("Glob", {"pattern": "*"}), hold("Half an answer"))
    flags = ("--output-format", "stream-json", "--include-partial-messages", "--verbose")
    async with program.started("-p", "Look around", *SESSION, *flags) as process:
        while b"text_delta" not in await process.stdout.readline():
            pass
        process.send_signal(signal.SIGKILL)
        await process.communicate()


async def test_a_run_that_was_killed_goes_on_without_a_prompt(program):
    await kill_in_second_answer(program)
    asked = program.requests[-1].raw
    program.model(text("Nothing there."))
    done = await program.run("-p", "--continue")

    assert (done.code, done.out) == (0, "Nothing there.\n")
    assert program.requests[-1].raw == asked


async def test_so_does_one_that_is_named(program):
    await kill_in_second_answer(program)
    program.model(text("Nothing there."))
    done = await program.run("-p", "--resume=mine", "--output-format", "json")

    assert (done.code, done.lines[0]["result"]) == (0, "Nothing there.")


async def test_where_the_last_answer_is_complete_a_prompt_is_asked_for(program):
    await program.run("-p", "Go", *SESSION)
    done = await program.run("-p", "--continue")

    assert done.code == 2
    assert "there is nothing to go on with" in done.err + done.out


async def test_a_copy_has_another_id_and_the_session_stays_as_it_is(program):
    await program.run("-p", "Go", *SESSION)
    before = file_of(program).read_bytes()
    done = await program.run("-p", "And now?", "--continue", "--fork-session", "--output-format", "json")

    assert done.code == 0
    assert done.lines[0]["session_id"] != "mine"
    assert len(program.requests[-1].body["messages"]) == 3
    assert file_of(program).read_bytes() == before


async def test_a_copy_may_be_named(program):
    await program.run("-p", "Go", *SESSION)
    done = await program.run("-p", "On", "-c", "--fork-session", "--session-id", "copy", "--output-format", "json")
    assert done.lines[0]["session_id"] == "copy"


async def test_a_session_goes_on_from_the_message_that_stream_json_named(program):
    program.model(text("One."), text("Two."), text("Three."))
    done = await program.run("-p", "First", *SESSION, "--output-format", "stream-json", "--verbose")
    answer = next(line["uuid"] for line in done.lines if line["type"] == "assistant")
    await program.run("-p", "Second", "--resume", "mine")
    await program.run("-p", "Otherwise", "--resume", "mine", "--resume-session-at", answer)

    messages = program.requests[-1].body["messages"]
    assert [message["content"][0]["text"] for message in messages] == ["First", "One.", "Otherwise"]


async def test_flags_that_need_a_session_say_so(program):
    for flags in (["--fork-session"], ["--resume-session-at", "m"]):
        done = await program.run("-p", "Go", *flags)
        assert (done.code, f"{flags[0]} needs --continue or --resume" in done.err) == (2, True)


async def test_resume_without_a_name_lists_the_sessions_of_this_folder(program):
    await program.run("-p", "Sort out the parser", *SESSION)
    done = await program.run("-p", "Go", "--resume")

    assert done.code == 2
    assert "give its id or its title, or use --continue for the newest" in done.err
    assert "mine  Sort out the parser" in done.err


async def test_an_empty_name_is_none(program):
    """As a script gives it that has lost its variable."""
    done = await program.run("-p", "Go", "--resume", "")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("everturn: --resume needs to know which session to go on with: give its id")


async def test_a_session_that_is_open_in_another_process_is_refused_and_the_fork_is_named(program):
    program.model(hold("Never to be read."))
    async with program.started("-p", "Go", *SESSION, "--output-format", "stream-json", "--verbose") as process:
        await process.stdout.readline()
        done = await program.run("-p", "Me too", "--resume", "mine")
        process.kill()
        await process.communicate()

    assert done.code == 2
    assert "Session mine is open elsewhere" in done.err
    assert "--fork-session" in done.err


async def test_the_sessions_own_model_and_mode_beat_the_settings_and_lose_to_a_flag(program):
    program.model(*[text("Hello.")] * 3)
    (program.home).mkdir(parents=True)
    (program.home / "settings.json").write_text('{"model": "haiku", "permissions": {"defaultMode": "dontAsk"}}')
    await program.run("-p", "Go", *SESSION, "--model", "claude-opus-5", "--permission-mode", "acceptEdits")
    kept = await program.run("-p", "On", "-c", "--output-format", "stream-json", "--verbose")
    other = await program.run(
        *("-p", "On", "-c", "--output-format", "stream-json", "--verbose"),
        *("--model", "claude-sonnet-5", "--permission-mode", "default"),
    )

    assert (kept.lines[0]["model"], kept.lines[0]["permissionMode"]) == ("claude-opus-5", "acceptEdits")
    assert (other.lines[0]["model"], other.lines[0]["permissionMode"]) == ("claude-sonnet-5", "default")
    assert [request.body["model"] for request in program.requests[1:]] == ["claude-opus-5", "claude-sonnet-5"]
