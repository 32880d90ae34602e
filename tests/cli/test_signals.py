"""Real signals to a real process: each is sent when something that the program did says that the time has come."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from everturn.modelserver import calls, hold, stall

STREAM = ("--output-format", "stream-json", "--include-partial-messages")
STUBBORN = """\
exec 9>{alive}
trap 'echo asked > {asked}' TERM
echo up > {up}
while :; do sleep 1; done"""
"""A command that does not end when it is asked to; whoever reads `alive` sees the end of its last process."""


async def read_until(process: asyncio.subprocess.Process, kind: str) -> dict:
    async for line in process.stdout:
        message = msgspec.json.decode(line)
        if message["type"] == kind:
            return message
    raise AssertionError(f"no {kind} came")


async def read_word(path: Path) -> str:
    """Waits until somebody writes into the pipe and closes it."""
    return await asyncio.to_thread(path.read_text, "utf-8")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)], ids=["INT", "TERM", "HUP"]
)
async def test_a_signal_while_the_model_speaks_ends_the_query_with_a_result(program, number, code):
    program.model(stall("Once upon a time", after=3))
    async with program.started("-p", "Tell", *STREAM) as process:
        await read_until(process, "stream_event")
        process.send_signal(number)
        result = await read_until(process, "result")
        out, err = await process.communicate()
    assert (result["subtype"], result["terminal_reason"]) == ("error_during_execution", "aborted_streaming")
    assert (process.returncode, out, err) == (code, b"", b"")


async def test_ctrl_c_while_a_tool_runs_ends_the_tool_and_answers_its_call(program):
    up = program.folder / "up"
    os.mkfifo(up)
    program.model(calls(("Bash", {"command": f"echo up > {up}; sleep 60"})))
    async with program.started("-p", "Go", "--allowed-tools", "Bash,Edit", *STREAM) as process:
        await read_word(up)
        process.send_signal(signal.SIGINT)
        result = await read_until(process, "result")
        await process.communicate()
    assert (process.returncode, result["terminal_reason"]) == (130, "aborted_tools")


async def test_ctrl_c_twice_ends_the_program_and_all_it_started_at_once(program):
    pipes = {name: program.folder / name for name in ("up", "asked", "alive")}
    for path in pipes.values():
        os.mkfifo(path)
    program.model(calls(("Bash", {"command": STUBBORN.format(**pipes)})))
    limits = ("--settings", '{"everturn": {"limits": {"abort_grace_s": 600}}}')
    async with program.started("-p", "Go", "--allowed-tools", "Bash,Edit", *limits) as process:
        alive = asyncio.ensure_future(read_word(pipes["alive"]))
        await read_word(pipes["up"])
        process.send_signal(signal.SIGINT)
        await read_word(pipes["asked"])
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
        assert await alive == ""
    assert (process.returncode, out, err) == (130, b"", b"")


async def test_ctrl_c_before_the_first_word_ends_the_query_too(program):
    program.model(hold("Never said.", after=-1))
    async with program.started("-p", "Go", "--output-format", "json") as process:
        await program.server.wait_for(1)
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
    result = msgspec.json.decode(out)
    assert (process.returncode, result["terminal_reason"]) == (130, "aborted_streaming")
    assert result["errors"] == ["Interrupted before the answer was complete."]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
async def test_a_signal_while_a_conversation_is_compacted_ends_it_like_a_query(program, number, code):
    await program.run("-p", "Tell")
    program.model(hold("Never said.", after=-1))
    async with program.started("-p", "/compact", "--continue", "--output-format", "stream-json") as process:
        await program.server.wait_for(2)
        process.send_signal(number)
        out, err = await process.communicate()
    *_, busy, idle, said, result = (msgspec.json.decode(line) for line in out.splitlines())
    assert (process.returncode, err) == (code, b"")
    assert [(line["subtype"], line["status"]) for line in (busy, idle)] == [("status", "compacting"), ("status", None)]
    assert said["content"] == "The compaction was interrupted; nothing changed."
    assert (result["subtype"], result["is_error"], result["terminal_reason"], result["errors"]) == (
        "error_during_execution",
        True,
        "aborted_streaming",
        ["The compaction was interrupted; nothing changed."],
    )


async def test_who_interrupts_is_not_promised_a_session_that_could_not_be_saved(program):
    program.home.parent.mkdir()
    program.home.write_text("in the way", "utf-8")
    program.model(hold("Never said.", after=-1))
    async with program.started("-p", "Go") as process:
        await program.server.wait_for(1)
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert (process.returncode, err.decode().splitlines()[-1]) == (
        130,
        "everturn: Interrupted. The session is not kept.",
    )


async def test_an_interrupted_session_can_be_continued(program):
    program.model(stall("Once upon a time", after=3), "The end.")
    async with program.started("-p", "Tell", *STREAM) as process:
        await read_until(process, "stream_event")
        process.send_signal(signal.SIGINT)
        await process.communicate()
    done = await program.run("-p", "Go on", "--continue")
    assert (done.code, done.out) == (0, "The end.\n")
    assert program.requests[-1].body["messages"][0]["content"][0]["text"] == "Tell"


async def test_a_reader_that_leaves_in_mid_answer_ends_the_query(program):
    reader, writer = os.pipe()
    program.model(hold("Hello there", after=3), "More.")
    async with program.started("-p", "Go", *STREAM, stdout=writer) as process:
        os.close(writer)
        await program.server.wait_for(1)
        os.close(reader)
        program.server.release()
        _, err = await process.communicate()
    assert (process.returncode, err) == (141, b"")


async def test_ctrl_c_while_standard_input_is_awaited_ends_quietly(program):
    async with program.started("-p", "Go", stdin=asyncio.subprocess.PIPE) as process:
        assert await process.stderr.readline() == (
            b"everturn: waiting for standard input to end; if there is none, add < /dev/null\n"
        )
        process.send_signal(signal.SIGINT)
        await process.wait()
        assert (process.returncode, await process.stdout.read(), await process.stderr.read()) == (130, b"", b"")
    assert program.requests == []


SCRIPT = """\
import atexit, sys

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            wait()

def wait():
    print("now", flush=True)
    sys.stdin.read()

sys.meta_path.insert(0, Watch())
if not {name!r}:
    atexit.register(wait)
from everturn.__main__ import main
sys.argv[1:] = {words!r}
sys.exit(main())
"""
"""As the console script begins; it stands still where a module is imported, or at its very end."""


async def start(program, *words: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *words, cwd=program.folder, env=program.env, stdin=pipe, stdout=pipe, stderr=pipe
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("everturn.cli.main", ["--version"]),
        ("everturn.workspace.load_paths", ["--version"]),
        ("msgspec", ["-p", "Go"]),
        ("everturn.cli.dispatch", ["-p", "Go"]),
        ("everturn.cli.run", ["-p", "Go"]),
        ("", ["sessions", "--help"]),
    ],
)
async def test_ctrl_c_while_the_program_is_loaded_or_leaves_shows_no_traceback(program, name, words):
    process = await start(program, sys.executable, "-c", SCRIPT.format(name=name, words=words))
    while await process.stdout.readline() != b"now\n":
        assert not process.stdout.at_eof()
    process.send_signal(signal.SIGINT)
    await process.wait()

    assert (process.returncode, await process.stderr.read()) == (130, b"")


async def test_who_switched_ctrl_c_off_before_the_start_is_not_interrupted(program):
    line = """trap '' INT; exec "$0" -c "$1" """
    script = SCRIPT.format(name="everturn.cli.main", words=["--version"])
    process = await start(program, "sh", "-c", line, sys.executable, script)
    assert await process.stdout.readline() == b"now\n"
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate(b"")

    assert (process.returncode, out.startswith(b"everturn "), err) == (0, True, b"")
