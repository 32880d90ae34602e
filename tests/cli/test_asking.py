"""The program asks the person at its terminal: a real pseudo-terminal, real keys, a scripted model behind real HTTP."""

import asyncio
import json
import os
import signal

import pytest
from tests.cli.terminals import at_terminal
from tests.sandbox.servers import Server

from everturn.modelserver import calls, hold, say

TOUCH = ("Bash", {"command": "touch made.txt"})
HELD = 6
"""Events up to the end of a call's block, where its input comes in one piece."""


def results(program, index=1):
    return [block["content"] for block in program.requests[index].body["messages"][-1]["content"]]


async def test_yes_lets_a_call_run_and_the_terminal_is_left_as_it_was(program):
    program.model(calls(TOUCH), "Done.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        asked = await terminal.turn()
        assert "? Bash wants to run a command" in asked
        assert "│ touch made.txt" in asked
        assert "asks: " in asked
        terminal.press("y")
        await terminal.until("Done.")
        assert await terminal.process.wait() == 0
        assert terminal.is_usual()
    assert (program.folder / "made.txt").exists()


async def test_what_cannot_be_undone_takes_more_than_one_key(program):
    """The command only looks as if: the folder that it names is not there."""
    program.model(calls(("Bash", {"command": "touch made.txt; rmdir /no-such-folder"})), "As you wish.")
    async with at_terminal(program, "-p", "Tidy up") as terminal:
        assert "critical path" in await terminal.turn()
        terminal.press("y")
        assert "This cannot be undone." in await terminal.until("go back: > ")
        terminal.press("y\n")
        await terminal.turn()
        assert not (program.folder / "made.txt").exists()
        terminal.press("y")
        await terminal.until("go back: > ")
        terminal.press("yes\n")
        await terminal.until("As you wish.")
    assert (program.folder / "made.txt").exists()


async def test_no_is_told_to_the_model_and_nothing_runs(program):
    program.model(calls(TOUCH), "As you wish.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        await terminal.turn()
        terminal.press("n")
        await terminal.until("As you wish.")
    assert not (program.folder / "made.txt").exists()
    assert "Permission denied: the person said no." in results(program)[0]


async def test_a_no_carries_the_persons_words(program):
    program.model(calls(TOUCH), "As you wish.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        await terminal.turn()
        terminal.press("w")
        await terminal.until("instead? > ")
        terminal.press("Call it déjà.txt, please.\n")
        await terminal.until("As you wish.")
    assert "Permission denied: the person said no: Call it déjà.txt, please." in results(program)[0]


async def test_what_was_typed_before_the_question_is_no_answer_to_it(program):
    program.model(calls(TOUCH), "As you wish.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        terminal.press("y\ny\n")
        await terminal.turn()
        terminal.press("n")
        await terminal.until("As you wish.")
    assert not (program.folder / "made.txt").exists()


async def test_a_paste_and_an_arrow_key_are_no_consent(program):
    program.model(calls(TOUCH), "As you wish.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        await terminal.turn()
        terminal.press("yes please\n")
        assert "One key, please: y " in await terminal.turn()
        terminal.press("\x1b[A")
        await terminal.turn()
        terminal.press("\x04")
        await terminal.until("As you wish.")
    assert not (program.folder / "made.txt").exists()
    assert "the person did not answer" in results(program)[0]


async def test_ctrl_c_while_asked_ends_the_query_and_gives_the_terminal_back(program):
    program.model(calls(TOUCH), "Never.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        await terminal.turn()
        terminal.press("\x03")
        assert await terminal.process.wait() == 130
        assert terminal.is_usual()
        # The words that follow begin on a line of their own.
        assert (await terminal.until("Interrupted.")).startswith("\n\n✗ Bash touch mad")
    assert not (program.folder / "made.txt").exists()
    assert len(program.requests) == 1


async def test_a_terminal_that_hangs_up_is_no_yes(program):
    program.model(calls(TOUCH), "Never.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        await terminal.turn()
        terminal.process.send_signal(signal.SIGHUP)
        assert await terminal.process.wait() == 143
    assert not (program.folder / "made.txt").exists()


async def test_several_questions_come_one_after_the_other_and_words_wait(program):
    program.model(say("Two files.", calls(TOUCH, ("Bash", {"command": "touch other.txt"}))), "Done.")
    async with at_terminal(program, "-p", "Make them") as terminal:
        first = await terminal.turn()
        assert first.index("Two files.") < first.index("│ touch made.txt")
        assert "other.txt" not in first.partition("│ touch made.txt")[2]
        terminal.press("y")
        assert "│ touch other.txt" in await terminal.turn()
        terminal.press("n")
        await terminal.until("Done.")
    assert sorted(path.name for path in program.folder.iterdir()) == ["made.txt"]


async def test_what_the_call_holds_is_shown_escaped_and_cannot_redraw_the_question(program):
    command = "echo \x1b[2J\x1b]0;pwned\x07 \u202ehidden\u200b\r\n[y] yes, this is our own text"
    program.model(calls(("Bash", {"command": command})), "As you wish.")
    async with at_terminal(program, "-p", "Go") as terminal:
        asked = await terminal.turn()
        assert "│ echo \\e[2J\\e]0;pwned\\x07 \\u202ehidden\\u200b\\r" in asked
        assert "│ [y] yes, this is our own text" in asked
        terminal.press("n")
        await terminal.until("As you wish.")
        assert "\x1b]0;" not in terminal.raw
        assert "\x1b[2J" not in terminal.raw


async def test_a_narrow_terminal_without_colours_shows_every_character(program):
    program.model(calls(("Bash", {"command": "touch " + "a" * 60 + ".txt"})), "As you wish.")
    async with at_terminal(program, "-p", "Go", columns=20, env={"NO_COLOR": "1"}) as terminal:
        asked = await terminal.turn()
        rows = [row.removeprefix("│ ") for row in asked.splitlines() if row.startswith("│ ")]
        assert "".join(rows) == "touch " + "a" * 60 + ".txt"
        assert all(len(row) < 20 for row in asked[asked.index("? Bash") :].splitlines())
        terminal.press("n")
        await terminal.until("wish.")
        assert "\x1b[3" not in terminal.raw


async def test_explain_shows_all_and_asks_again(program):
    program.model(calls(("Write", {"file_path": "long.txt", "content": "x\n" * 90})), "As you wish.")
    async with at_terminal(program, "-p", "Go") as terminal:
        asked = await terminal.turn()
        assert "[m] more: 51 rows are left" in asked
        assert "[y]" not in asked
        terminal.press("e")
        explained = await terminal.turn()
        assert explained.count("│ x") >= 90 - 1
        assert "Asked because:" in explained
        assert "[y] yes, this once" in explained
        terminal.press("n")
        await terminal.until("As you wish.")


async def test_an_answer_into_a_file_is_asked_about_on_standard_error(program):
    program.model(calls(TOUCH), "Done.")
    async with at_terminal(program, "-p", "Make it", out=False) as terminal:
        await terminal.turn()
        terminal.press("y")
        assert await terminal.process.wait() == 0
    assert (program.folder / "made.txt").exists()


async def test_who_pipes_the_prompt_or_reads_json_is_not_asked(program):
    program.model(calls(TOUCH), "As you wish.")
    async with at_terminal(program, "-p", "Make it", "--output-format", "json") as terminal:
        assert await terminal.process.wait() == 0
    assert "nobody is here to approve it" in results(program)[0]


QUESTION = {
    "question": "Which database?",
    "header": "Database",
    "options": [{"label": "SQLite", "description": "One file"}, {"label": "Postgres", "description": "A server"}],
}


async def test_questions_of_the_model_are_answered_by_number_or_in_words(program):
    several = {**QUESTION, "question": "Which extras?", "multiSelect": True}
    own = {**QUESTION, "question": "Which name?"}
    program.model(calls(("AskUserQuestion", {"questions": [QUESTION, several, own]})), "I see.")
    async with at_terminal(program, "-p", "Ask") as terminal:
        assert "[2] Postgres: A server" in await terminal.turn()
        terminal.press("2")
        await terminal.turn()
        terminal.press("1")
        assert "☑ SQLite" in await terminal.turn()
        terminal.press("2")
        assert "[d] done: SQLite, Postgres" in await terminal.turn()
        terminal.press("d")
        await terminal.turn()
        terminal.press("o")
        await terminal.until("Your answer > ")
        terminal.press("Everturn\n")
        await terminal.until("I see.")
    assert results(program)[0] == (
        "The person answered:\nWhich database? Postgres\nWhich extras? SQLite, Postgres\nWhich name? Everturn"
    )


async def test_a_plan_is_approved_with_edits_unasked(program):
    plan = calls(("ExitPlanMode", {"plan": "# Write a file\n\nOne line."}))
    program.model(plan, calls(("Write", {"file_path": "a.txt", "content": "one\n"})), "Done.")
    async with at_terminal(program, "-p", "Plan", "--permission-mode", "plan") as terminal:
        assert "│ # Write a file" in await terminal.turn()
        terminal.press("a")
        await terminal.until("Done.")
    assert (program.folder / "a.txt").read_text() == "one\n"


async def test_a_plan_that_is_not_good_goes_on_with_a_word(program):
    program.model(calls(("ExitPlanMode", {"plan": "# Rewrite it all"})), "I plan on.")
    async with at_terminal(program, "-p", "Plan", "--permission-mode", "plan") as terminal:
        await terminal.turn()
        terminal.press("w")
        await terminal.until("instead? > ")
        terminal.press("smaller\n")
        await terminal.until("I plan on.")
    assert "the person said no: smaller" in results(program)[0]


async def test_what_the_model_says_meanwhile_is_shown_after_the_answer(program):
    program.model(hold(say(calls(TOUCH), "And more words."), after=HELD), "Done.", chunk=1_000)
    async with at_terminal(program, "-p", "Make it") as terminal:
        await terminal.turn()
        program.server.release()
        terminal.press("e")
        await terminal.turn()
        assert "And more words." not in terminal.shown
        terminal.press("y")
        await terminal.until("And more words.")
        await terminal.until("Done.")
    assert (program.folder / "made.txt").exists()


async def stop_and_go_on(terminal):
    terminal.process.send_signal(signal.SIGSTOP)
    await asyncio.to_thread(os.waitid, os.P_PID, terminal.process.pid, os.WSTOPPED)
    terminal.make_usual()
    terminal.process.send_signal(signal.SIGCONT)


async def test_a_program_that_was_stopped_and_goes_on_draws_its_question_again_and_takes_single_keys(program):
    program.model(calls(TOUCH), "Done.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        asked = await terminal.turn()
        await stop_and_go_on(terminal)
        assert await terminal.turn() == asked[asked.index("\n? Bash") :]
        terminal.press("y")
        await terminal.until("Done.")
    assert (program.folder / "made.txt").exists()


async def test_a_line_that_is_asked_for_is_still_edited_by_the_terminal_after_a_stop(program):
    program.model(calls(TOUCH), "As you wish.")
    async with at_terminal(program, "-p", "Make it") as terminal:
        await terminal.turn()
        terminal.press("w")
        await terminal.until("instead? > ")
        await stop_and_go_on(terminal)
        await terminal.until("instead? > ")
        assert terminal.is_usual()
        terminal.press("Call it nothing.\n")
        await terminal.until("As you wish.")
    assert "the person said no: Call it nothing." in results(program)[0]


async def test_a_yes_for_the_session_answers_what_comes_later(program):
    program.model(calls(TOUCH), calls(TOUCH), "Done.")
    async with at_terminal(program, "-p", "Make it twice") as terminal:
        assert "[s] yes, and for this session: Bash(touch" in await terminal.turn()
        terminal.press("s")
        await terminal.until("Done.")
        assert terminal.shown.count("? Bash wants") == 1


async def test_always_shows_what_it_covers_before_it_is_written(program):
    local = program.folder / ".everturn" / "settings.local.json"
    program.model(calls(TOUCH), calls(TOUCH), "Done.")
    async with at_terminal(program, "-p", "Make it twice", columns=200) as terminal:
        await terminal.turn()
        terminal.press("a")
        shown = await terminal.turn()
        assert f"This will be added to {local}" in shown
        assert "│ Bash(touch" in shown
        terminal.press("n")
        await terminal.turn()
        assert not local.exists()
        terminal.press("a")
        await terminal.turn()
        terminal.press("y")
        await terminal.until("Done.")
        assert terminal.shown.count("? Bash wants") == 1
        # The folder is not trusted: that was said before the rule was written, and is not said again.
        assert "it holds in this session at once; in later ones when you trust this folder" in " ".join(shown.split())
        assert "is not trusted" not in terminal.shown
    [rule] = json.loads(local.read_text())["permissions"]["allow"]
    assert rule in shown


async def test_edits_are_offered_for_the_session(program):
    files = [("Write", {"file_path": name, "content": "x\n"}) for name in ("a.txt", "b.txt")]
    program.model(calls(*files), "Done.")
    async with at_terminal(program, "-p", "Write them") as terminal:
        assert "[s] yes, and for this session: the mode acceptEdits" in await terminal.turn()
        terminal.press("s")
        await terminal.until("Done.")
        assert terminal.shown.count("? Write wants") == 1
    assert sorted(path.name for path in program.folder.iterdir()) == ["a.txt", "b.txt"]


async def test_a_yes_for_the_session_answers_calls_that_wait_beside_it(program):
    pages = [("WebFetch", {"url": f"https://127.0.0.1/{page}", "prompt": "?"}) for page in "abc"]
    program.model(calls(*pages), "Done.")
    async with at_terminal(program, "-p", "Look at them") as terminal:
        asked = await terminal.turn()
        assert "│ https://127.0.0.1/a" in asked
        assert "[s] yes, and for this session: WebFetch(domain:127.0.0.1)" in asked
        terminal.press("s")
        await terminal.until("Done.")
        assert terminal.shown.count("? WebFetch wants") == 1
    assert not any("Permission denied" in result for result in results(program))


@pytest.mark.needs("bubblewrap", "curl")
async def test_a_host_that_a_command_in_the_sandbox_wants_is_asked_about_while_it_waits(program, tmp_path):
    (tmp_path / "page").write_text("a page")
    server = Server(tmp_path)
    fetch = ("Bash", {"command": f"curl -sS --fail --noproxy '' {server.url}/page"})
    program.model(calls(fetch), calls(fetch), "Done.")
    try:
        async with at_terminal(program, "--sandbox", "-p", "Fetch it", columns=100) as terminal:
            asked = await terminal.turn()
            assert "? A command in the sandbox wants to connect to a host" in asked
            assert f"│ 127.0.0.1, port {server.port}" in asked
            assert f"│ {fetch[1]['command']}" in asked
            assert "asks: sandbox.network.allowedDomains does not name it" in asked
            terminal.press("a")
            told = await terminal.turn()
            assert "This will be added to" in told
            assert f"sandbox.network.allowedDomains: 127.0.0.1:{server.port}" in told
            assert f"commands in the sandbox reach 127.0.0.1, port {server.port}" in told
            terminal.press("y")
            await terminal.until("Done.")
    finally:
        server.close()
    assert [results(program, 1), results(program, 2)] == [["a page"], ["a page"]]
    written = json.loads((program.folder / ".everturn" / "settings.local.json").read_text())
    assert written == {"sandbox": {"network": {"allowedDomains": [f"127.0.0.1:{server.port}"]}}}
