"""A program that holds commands, for places where a test itself cannot be: `python held_program.py WAY FOLDER COMMAND …` prints what they said.

`WAY`: `once`, or `copied`: half of the commands run in a copy of the program, made after the first of them; or `beside`: the copy's run,
one after the other, while the command of the program itself waits for the pipe `go` to be written.
"""

import asyncio
import json
import os
import select
import sys
from contextlib import suppress
from pathlib import Path

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Holding
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolContext
from everturn.sandbox.held.holder import CommandHolder
from everturn.sandbox.held.premises import Premises
from everturn.tools.bash import bash_tool

NAP = os.environ["NAP"].encode()
"""Told from what other programs start."""
PATIENCE_S = 5


async def run_all(bash, folder, commands):
    tasks = Tasks()
    context = ToolContext(
        folder=folder,
        tool_use_id="toolu_1",
        abort=AbortSignal(),
        files=FileStates(),
        progress=lambda _: None,
        tasks=tasks,
        holding=Holding(),
    )
    said = []
    for command in commands:
        try:
            said.append((await bash.run(bash.parse({"command": command}), context)).content)
        except ToolFault as fault:
            said.append(f"fault: {fault}")
    left = list_left()
    await tasks.aclose()
    return {"parent": os.getppid(), "said": said, "left": left}


def list_left():
    """Naps that somebody still takes, before the session ends. Who was sent SIGKILL has a moment to die."""
    left = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if NAP in (place / "cmdline").read_bytes().split(b"\0"):
                descriptor = os.pidfd_open(int(place.name))
                left += [] if select.select([descriptor], [], [], PATIENCE_S)[0] else [int(place.name)]
    return left


def tell(*answers):
    sys.stdout.write("".join(f"{json.dumps(each)}\n" for each in answers))
    sys.stdout.flush()


def main():
    way, folder, *commands = sys.argv[1:]
    bash = bash_tool(holder=CommandHolder(Premises(folders=lambda: (folder,), home=folder)))
    if way == "once":
        tell(asyncio.run(run_all(bash, folder, commands)))
        return
    first = asyncio.run(run_all(bash, folder, commands[:1]))
    if way == "beside":
        os.mkfifo(f"{folder}/go")
    copy = os.fork()
    if way == "beside":
        if copy:
            answer = asyncio.run(run_all(bash, folder, ["read -r line < go; echo heard"]))
        else:
            # It opens once the other's command waits.
            with open(f"{folder}/go", "w", encoding="utf-8") as go:  # noqa: PTH123 - a path as text
                asyncio.run(run_all(bash, folder, commands[1:]))
                go.write("go\n")
            os._exit(0)
        os.waitpid(copy, 0)
        tell(answer)
        return
    answer = asyncio.run(run_all(bash, folder, commands[1:]))
    if not copy:
        tell(first, answer)
        os._exit(0)
    _, status = os.waitpid(copy, 0)
    tell(answer)
    sys.exit(status)


main()
