"""The question about a folder that nobody has trusted yet, at a real terminal."""

import asyncio
import json
import os
import pty
import re
import signal
from pathlib import Path

import pytest
from tests.cli.terminals import at_terminal

from everturn.modelserver import calls

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
QUESTION = "Trust it? [y/N] "
TERMINAL = {"TERM": "xterm-256color"}


class Terminal:
    """Both ends of a pseudo-terminal; what the program shows is gathered as it comes."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()
        self.shown = ""

    async def wait_for(self, text: str) -> None:
        async with asyncio.timeout(120):
            while text not in self.shown:
                piece = await asyncio.to_thread(os.read, self.ours, 65_536)
                self.shown += piece.decode("utf-8", "replace")

    async def read_rest(self) -> None:
        try:
            while piece := await asyncio.to_thread(os.read, self.ours, 65_536):
                self.shown += piece.decode("utf-8", "replace")
        except OSError:
            return  # Linux ends a terminal that nobody holds open any more with an error.

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())


async def ask(program, answer: str, *, ahead: str = "") -> tuple[int | None, str]:
    terminal = Terminal()
    pipes = {"stdin": terminal.theirs, "stdout": terminal.theirs, "stderr": terminal.theirs}
    if ahead:
        terminal.type(ahead)
    async with program.started("-p", "Do it.", env=TERMINAL, **pipes) as process:
        os.close(terminal.theirs)
        if answer:
            await terminal.wait_for(QUESTION)
            terminal.type(answer)
        await terminal.read_rest()
        code = await process.wait()
    os.close(terminal.ours)
    return code, COLOURS.sub("", terminal.shown)


@pytest.fixture
def wishes(program) -> Path:
    path = program.folder / ".claude" / "settings.json"
    path.parent.mkdir()
    hook = {"SessionStart\x1b[2J": [{"hooks": [{"type": "command", "command": "echo \u202e hidden\U000e0041"}]}]}
    values = {"permissions": {"allow": ["Bash(touch made)"]}, "env": {"A": "\x1b]52;c;x\x07"}, "hooks": hook}
    path.write_text(json.dumps(values))
    program.model("Done.", "Done.")
    return path


async def test_a_yes_is_kept_and_nobody_is_asked_again(program, wishes):
    program.model(calls(("Bash", {"command": "touch made"})), "Done.", "Done.")
    code, shown = await ask(program, "y\n")
    assert code == 0
    assert (program.folder / "made").exists()
    assert str(program.folder) in json.loads((program.home / "trust.json").read_text())["folders"]
    code, shown = await ask(program, "")
    assert QUESTION not in shown


async def test_after_a_stop_the_question_is_written_again(program, wishes):
    async with at_terminal(program, "-p", "Do it.") as terminal:
        asked = await terminal.until(QUESTION)
        terminal.process.send_signal(signal.SIGSTOP)
        await asyncio.to_thread(os.waitid, os.P_PID, terminal.process.pid, os.WSTOPPED)
        terminal.process.send_signal(signal.SIGCONT)
        assert await terminal.until(QUESTION) == asked
        terminal.press("n\n")
        await terminal.until("Done.")


async def test_what_is_shown_is_whole_and_obeyed_by_no_terminal(program, wishes):
    _, shown = await ask(program, "n\n")
    before = shown.partition(QUESTION)[0]
    assert re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\U000e0000-\U000e007f]", before) is None
    for part in ("SessionStart\\e[2J", "\\u202e hidden\\U000e0041", "\\e]52;c;x\\x07", "Bash(touch made)"):
        assert part in before


async def test_a_no_is_kept_too_and_nothing_of_the_folder_counts(program, wishes):
    for answer in ("\n", ""):
        _, shown = await ask(program, answer)
        assert "are ignored" in shown
    assert QUESTION not in shown


async def test_what_was_typed_before_the_question_is_no_answer(program, wishes):
    """extra-terminal-04."""
    _, shown = await ask(program, "n\n", ahead="y\ny\n")
    assert "It is not trusted" in shown
    assert "are ignored" in shown


async def test_the_end_of_the_input_is_no_answer_and_is_not_kept(program, wishes):
    _, shown = await ask(program, "\x04")
    assert "are ignored" in shown
    assert not (program.home / "trust.json").exists()


async def test_a_folder_without_wishes_is_not_asked_about(program):
    (program.folder / ".claude").mkdir()
    (program.folder / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Bash"]}}')
    code, shown = await ask(program, "")
    assert (code, QUESTION in shown) == (0, False)


async def test_without_a_terminal_trust_needs_a_word(program, wishes):
    done = await program.run("trust")
    assert (done.code, "--yes" in done.err) == (2, True)
    assert not (program.home / "trust.json").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--lst"], "unknown flag '--lst'; did you mean '--list'?"),
        (["a", "b"], "one folder at a time"),
        (["nowhere"], "there is no folder nowhere"),
        (["--revoke"], "is not in the list of trusted folders"),
        (["--list", "--revoke"], "--list and --revoke cannot be given together"),
        (["--revoke", "--yes"], "--revoke and --yes cannot be given together"),
        (["--list", "--below"], "--below and --list cannot be given together"),
        (["--list", "."], "--list shows all folders; it takes none"),
    ],
)
async def test_what_cannot_be_trusted_is_told(program, words, said):
    done = await program.run("trust", *words)
    assert done.code == 2
    assert said in done.err


async def test_what_is_trusted_from_above_is_taken_back_there(program, wishes):
    above = program.folder.parent
    await program.run("trust", "--below", "--yes", str(above))

    done = await program.run("trust", "--revoke")

    assert done.code == 2
    assert done.err.endswith(
        f"is trusted with everything below {above}; to take that back: everturn trust --revoke {above}\n"
    )


async def test_what_cannot_be_read_of_a_folder_is_said_before_it_is_trusted(program, wishes):
    local = wishes.with_name("settings.local.json")
    local.write_text('{"hooks": {')

    done = await program.run("trust")

    assert f"  cannot be read, so that more may be in it than is shown: {local}:1: is not valid JSON" in done.out
    assert "would run without a question: Bash(touch made)" in done.out


async def test_what_git_would_run_is_shown_before_a_folder_is_trusted(program):
    (program.folder / ".git").mkdir()
    (program.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        (program.folder / ".git" / name).mkdir()
    (program.folder / ".git" / "config").write_text("[core]\n\tfsmonitor = ./evil\n")

    run = await program.run("trust", "--yes")

    assert f"git would run or follow core.fsmonitor in {program.folder}/.git/config" in run.out


async def test_the_doctor_names_the_way_to_what_is_held_back(program, wishes):
    assert "everturn trust shows it whole, and asks." in (await program.run("doctor")).out


async def test_a_broken_book_trusts_nothing_and_stops_the_start(program, wishes):
    program.home.mkdir(parents=True)
    (program.home / "trust.json").write_text("{")
    done = await program.run("-p", "Do it.")
    assert (done.code, "trust.json:1" in done.err, program.requests) == (2, True, [])


async def test_a_folder_whose_name_is_no_text_is_told(program, wishes):
    program.folder = program.folder.rename(os.fsdecode(os.fsencode(program.folder) + b"-\xff"))
    done = await program.run("trust", "--yes")
    assert (done.code, "whose name is no text" in done.err) == (2, True)
    assert (await program.run("-p", "Go.", "--trust")).code == 0
