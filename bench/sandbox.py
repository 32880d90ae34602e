"""What a sandbox costs: the same command with and without it, interleaved, as root and as nobody."""

import asyncio
import json
import os
import subprocess
import tempfile
from pathlib import Path

from bench.aims import Found, Scale
from bench.stage import StageError
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import ToolContext
from everturn.sandbox.confining import CommandSandbox, Surroundings
from everturn.sandbox.probe import find_means
from everturn.sandbox.settings import Wishes
from everturn.tools.bash import bash_tool
from everturn.tools.define import FunctionTool

ROUNDS_EACH = 4
"""Commands in a round: one takes a few milliseconds."""
OUTSIDE = "outside"
NOBODY = 65_534


def make_tools(folder: str) -> dict[str, FunctionTool]:
    around = Surroundings(folders=(), home=folder + "-home")
    wishes = {"closed": Wishes(enabled=True), "with a proxy": Wishes(enabled=True, allowed_hosts=("example.com",))}
    means = {"bubblewrap": find_means(), "landlock": find_means(without="bubblewrap")}
    tools = {OUTSIDE: bash_tool()}
    for kind, found in means.items():
        if found.kind == kind:
            tools[kind] = bash_tool(sandbox=CommandSandbox(wishes["closed"], found, around))
    if means["bubblewrap"].kind == "bubblewrap":
        tools["proxy"] = bash_tool(sandbox=CommandSandbox(wishes["with a proxy"], means["bubblewrap"], around))
    return tools


async def measure_commands(folder: str, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of `true`, the tool's own work included."""
    tools = make_tools(folder)
    context = ToolContext(
        folder=folder, tool_use_id="toolu_1", abort=AbortSignal(), files=FileStates(), progress=lambda _: None
    )
    took: dict[str, list[float]] = {name: [] for name in tools}
    loop = asyncio.get_running_loop()
    for number in range(rounds + 3):
        for name, tool in tools.items():
            call = tool.parse({"command": "true"})
            began = loop.time()
            await tool.run(call, context)
            # The first rounds find programs and make folders.
            if number >= 3:  # noqa: PLR2004
                took[name].append((loop.time() - began) * 1000)
    return took


def run_as(user: int, rounds: int) -> dict[str, list[float]]:
    """In a child, so that the next one can still become somebody else. Modules are loaded by then."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        with open(reader, "rb") as told:  # noqa: PTH123 - a descriptor
            said = told.read()
        _, status = os.waitpid(child, 0)
        if status or not said:
            raise StageError(f"the sandbox could not be measured as user {user} (status {status})")
        took: dict[str, list[float]] = json.loads(said)
        return took
    with tempfile.TemporaryDirectory(prefix="everturn-bench-", dir="/tmp") as made:
        folder = str(Path(made).resolve())
        if os.getuid() != user:
            os.chown(folder, user, user)
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        subprocess.run(["git", "init", "-q", folder], check=True)
        os.write(writer, json.dumps(asyncio.run(measure_commands(folder, rounds))).encode())
    os._exit(0)


def measure(scale: Scale) -> Found:
    """What each sandbox adds to a command, round by round, against the same round without one."""
    import everturn.tools.bash.commands
    import everturn.tools.bash.confined
    import everturn.tools.bash.entering  # noqa: F401 - what nobody could not load

    found: Found = {}
    # Whoever is not root measures what an ordinary user pays, which is what nobody stands for.
    users = {"root": 0, "nobody": NOBODY} if os.getuid() == 0 else {"nobody": os.getuid()}
    for who, user in users.items():
        took = run_as(user, scale.rounds * ROUNDS_EACH)
        for name, times in took.items():
            if name != OUTSIDE:
                found[f"{name}_{who}"] = [after - before for before, after in zip(took[OUTSIDE], times, strict=True)]
    return found
