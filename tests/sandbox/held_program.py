"""A program that holds commands, for places where a test itself cannot be: `python held_program.py WAY FOLDER COMMAND …` prints what they said.

`WAY`: `once`, or `copied`: half of the commands run in a copy of the program, made after the first of them.
"""

import asyncio
import json
import os
import select
import sys
from contextlib import suppress

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Holding
from everturn.ports.tasks import Tasks
from everturn.ports.tool import ToolContext
from everturn.sandbox.held.holder import CommandHolder, Premises
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
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
            if NAP in file.read().split(b"\0"):
                descriptor = os.pidfd_open(int(name))
                left += [] if select.select([descriptor], [], [], PATIENCE_S)[0] else [int(name)]
    return left


def main():
    way, folder, *commands = sys.argv[1:]
    bash = bash_tool(holder=CommandHolder(Premises(folders=lambda: (folder,), home=folder)))
    if way == "once":
        print(json.dumps(asyncio.run(run_all(bash, folder, commands))))
        return
    first = asyncio.run(run_all(bash, folder, commands[:1]))
    copy = os.fork()
    answer = asyncio.run(run_all(bash, folder, commands[1:]))
    if not copy:
        print(json.dumps(first), json.dumps(answer), sep="\n", flush=True)
        os._exit(0)
    _, status = os.waitpid(copy, 0)
    print(json.dumps(answer))
    sys.exit(status)


main()
