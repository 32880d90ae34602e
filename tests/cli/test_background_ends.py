"""The end of the program is the end of what it started, however it ends."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from tests.tools.processes import named, until

from everturn.cli.options import warn_root
from everturn.modelserver import call, hold, stall, text

STUBBORN = "exec 9>{alive}; trap '' TERM; echo up >{up}; while :; do sleep 0.1; done"
"""Whoever reads `alive` sees the end of the last process."""


async def read_word(path: Path) -> str:
    """Waits until somebody has held the pipe and nobody does any more. Can be cancelled: no thread hangs on it."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    pieces: list[bytes] = []

    def take() -> None:
        pieces.append(os.read(descriptor, 4_096))
        if not pieces[-1] and not ended.done():
            ended.set_result(None)

    # Without a writer the opening would wait; the loop is told nothing until one has come.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    loop.add_reader(descriptor, take)
    try:
        await ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return b"".join(pieces).decode()


@pytest.fixture
def pipes(program):
    made = {name: program.folder / name for name in ("up", "alive")}
    for path in made.values():
        os.mkfifo(path)
    return made


@pytest.mark.parametrize(
    "wrapped", ["{}", "(setsid bash -c '{}' &); cat up", "nohup bash -c '{}' &>/dev/null & cat up"]
)
async def test_nothing_that_a_command_started_outlives_the_program(program, pipes, wrapped):
    stubborn = STUBBORN.format(**pipes).replace("trap '' TERM; ", "" if "'" in wrapped else "trap '' TERM; ")
    behind = wrapped == "{}"
    start = call("Bash", {"command": wrapped.format(stubborn), "run_in_background": behind})
    program.model(start, hold("It runs.", after=-1) if behind else text("It runs."))
    async with program.started("-p", "Go", "--dangerously-skip-permissions") as process:
        alive = asyncio.ensure_future(read_word(pipes["alive"]))
        if behind:
            await read_word(pipes["up"])
            program.server.release()
        out, err = await process.communicate()
        assert await alive == ""
    # Root is warned where this machine is no container.
    warning = warn_root("bypassPermissions", None)
    assert (process.returncode, out) == (0, b"It runs.\n")
    told = [warning] if warning else []
    told += [f"still running in the background, and ended now: {stubborn}"] if behind else []
    assert err.decode() == "".join(f"everturn: {line}\n" for line in told)


@pytest.mark.parametrize("times", [1, 2])
async def test_ctrl_c_ends_what_runs_in_the_background_too(program, pipes, times):
    start = call("Bash", {"command": STUBBORN.format(**pipes), "run_in_background": True})
    program.model(start, stall("Once upon a time", after=3))
    async with program.started("-p", "Go", "--dangerously-skip-permissions") as process:
        alive = asyncio.ensure_future(read_word(pipes["alive"]))
        await read_word(pipes["up"])
        for _ in range(times):
            process.send_signal(signal.SIGINT)
        await process.communicate()
        assert await alive == ""
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("command", "behind"),
    [
        (STUBBORN, True),
        (STUBBORN.replace("do sleep 0.1", "do sleep 1000 & sleep 0.01"), True),
        ("(setsid bash -c '{}' &); cat {{up}}".format(STUBBORN.replace("trap '' TERM; ", "")), False),
        (STUBBORN, False),
    ],
    ids=["in the background", "that starts others all the time", "left behind", "in the foreground"],
)
async def test_a_program_that_was_killed_leaves_nothing_running(program, pipes, command, behind):
    """Killed as soon as the command runs: nothing needs a while until it is watched."""
    start = call("Bash", {"command": command.format(**pipes), "run_in_background": behind})
    program.model(start, stall("Once upon a time", after=3))
    temporary = program.folder / "tmp"
    temporary.mkdir()
    words = ("-p", "Go", "--dangerously-skip-permissions")
    async with program.started(*words, env={"TMPDIR": str(temporary)}) as process:
        alive = asyncio.ensure_future(read_word(pipes["alive"]))
        if "cat" in command:
            await program.server.wait_for(2)
        else:
            await read_word(pipes["up"])
        process.kill()
        await process.communicate()
        assert await alive == ""
        await until(lambda: not list(temporary.iterdir()))
    assert process.returncode == -signal.SIGKILL


@pytest.mark.needs("Landlock")
async def test_a_program_that_was_killed_leaves_no_held_command_running(program):
    seconds = f"600.{os.getpid()}"
    program.model(call("Bash", {"command": f"sleep {seconds}"}), text("Never."))
    async with program.started("-p", "Go") as process:
        await until(lambda: named(seconds))
        process.kill()
        await process.communicate()
        await until(lambda: not named(seconds))
    assert process.returncode == -signal.SIGKILL


async def test_what_a_command_printed_outlives_a_program_that_was_killed(program, pipes):
    start = call("Bash", {"command": f"seq 20000; {STUBBORN.format(**pipes)}", "run_in_background": True})
    program.model(start, stall("Once upon a time", after=3))
    async with program.started("-p", "Go", "--dangerously-skip-permissions") as process:
        alive = asyncio.ensure_future(read_word(pipes["alive"]))
        await read_word(pipes["up"])
        await program.server.wait_for(2)
        # What is still in the pipe dies with the program.
        await until(lambda: read_outputs(program).endswith("19999\n20000\n"))
        process.kill()
        await process.communicate()
        assert await alive == ""
    assert read_outputs(program).endswith("19999\n20000\n")


def read_outputs(program):
    return "".join(path.read_text() for path in program.home.glob("projects/*/*/results/*.log"))


async def test_a_command_that_ends_with_the_program_is_named(program):
    program.model(call("Bash", {"command": "sleep 60; echo done", "run_in_background": True}), text("It runs."))
    done = await program.run("-p", "Go", "--dangerously-skip-permissions", "--output-format", "json")
    assert done.code == 0
    assert "everturn: still running in the background, and ended now: sleep 60; echo done" in done.err
    system = " ".join(block["text"] for block in program.requests[0].body["system"])
    assert "wait for them with TaskOutput first" in system
