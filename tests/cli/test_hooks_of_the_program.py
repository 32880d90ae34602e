"""Hooks of the user's settings around a whole run of the program: its end by a signal, hooks that hang, a side question."""

import asyncio
import json
import os
import signal

import msgspec
import pytest

from everturn.modelserver import call, stall, text, when

STREAM = ("--output-format", "stream-json", "--include-partial-messages")


def configure(program, **hooks):
    program.home.mkdir(parents=True, exist_ok=True)
    written = {name: [{"hooks": [hook]}] for name, hook in hooks.items()}
    (program.home / "settings.json").write_text(json.dumps({"hooks": written}), "utf-8")


def command(words, **more):
    return {"type": "command", "command": words, **more}


async def read_until(process, kind):
    async for line in process.stdout:
        message = msgspec.json.decode(line)
        if message["type"] == kind:
            return message
    raise AssertionError(f"no {kind} came")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
async def test_the_end_of_the_session_is_told_also_where_a_signal_ends_it(program, number, code):
    configure(program, SessionEnd=command("cat > ended"))
    program.model(stall("Once upon a time", after=3))

    async with program.started("-p", "Tell", *STREAM) as process:
        await read_until(process, "stream_event")
        process.send_signal(number)
        await process.communicate()

    assert process.returncode == code
    assert json.loads((program.folder / "ended").read_text("utf-8"))["reason"] == "other"


async def test_a_signal_ends_a_hook_that_hangs_and_the_call_has_not_run(program, tmp_path):
    up, alive = tmp_path / "up", tmp_path / "alive"
    os.mkfifo(up)
    os.mkfifo(alive)
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    configure(program, PreToolUse=command(f"exec 9>{alive}; trap '' TERM; echo up >{up}; while :; do sleep 0.1; done"))
    program.model(call("Bash", {"command": "touch made"}), text("never"))

    async with program.started("-p", "Go", "--dangerously-skip-permissions", *STREAM) as process:
        assert await asyncio.to_thread(up.read_bytes) == b"up\n"
        process.send_signal(signal.SIGTERM)
        result = await read_until(process, "result")
        await process.communicate()

    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""
    os.close(reader)
    assert (process.returncode, result["terminal_reason"]) == (143, "aborted_tools")
    assert not (program.folder / "made").exists()


async def test_a_hook_that_nobody_waits_for_ends_with_the_program(program, tmp_path):
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    configure(
        program, UserPromptSubmit=command(f"exec 9>{alive}; echo; while :; do sleep 0.1; done", **{"async": True})
    )

    done = await program.run("-p", "Hello")

    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""
    os.close(reader)
    assert (done.code, done.out) == (0, "Hello.\n")


async def test_a_side_question_of_the_program_adds_its_cost_to_the_session_and_nothing_else(program):
    program.model(when(text("It is teal."), last_user_contains="Which colour?"), text("Done."), text("Done again."))
    await program.run("-p", "Look.")
    [file] = program.home.rglob("*.jsonl")
    before = file.read_bytes()

    done = await program.run("-p", "/btw Which colour?", "--continue")

    after = file.read_bytes()
    assert (done.code, done.out) == (0, "It is teal.\n")
    assert after.startswith(before)
    added = [json.loads(line)["record"] for line in after[len(before) :].splitlines()]
    assert [(record["type"], record.get("purpose")) for record in added] == [("session", None), ("usage", "aside")]
    await program.run("-p", "More.", "--continue")
    assert "colour" not in json.dumps(program.requests[-1].body)
