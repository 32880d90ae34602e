"""What walls cost: the same command with and without a sandbox, or held, interleaved, as root and as nobody."""

import asyncio
import json
import os
import subprocess
import tempfile
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import NamedTuple

from msgspec.structs import replace

import everturn.sandbox
import everturn.tools.bash
from bench.aims import Found, Scale
from bench.stage import StageError
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.holding import Holding
from everturn.ports.tool import ToolContext
from everturn.sandbox.command_sandbox import CommandSandbox, SandboxSurroundings
from everturn.sandbox.held.holder import CommandHolder, Premises
from everturn.sandbox.probe import find_means
from everturn.sandbox.settings import SandboxSettings
from everturn.tools.bash import bash_tool
from everturn.tools.definition.decorator import FunctionTool

ROUNDS_EACH = 4
"""Commands in a round: one takes a few milliseconds."""
OUTSIDE = "outside"
NOBODY = 65_534


class Way(NamedTuple):
    """How a command runs."""

    tool: FunctionTool
    holding: Holding | None = None


def list_ways(folder: str) -> dict[str, Way]:
    around = SandboxSurroundings(folders=(), home=folder + "-home")
    wishes = {
        "closed": SandboxSettings(enabled=True),
        "with a proxy": SandboxSettings(enabled=True, allowed_hosts=("example.com",)),
    }
    means = {"bubblewrap": find_means(), "landlock": find_means(without="bubblewrap")}
    ways = {OUTSIDE: Way(bash_tool())}
    for kind, found in means.items():
        if found.kind == kind:
            ways[kind] = Way(bash_tool(sandbox=CommandSandbox(wishes["closed"], found, around)))
    if means["bubblewrap"].kind == "bubblewrap":
        ways["proxy"] = Way(bash_tool(sandbox=CommandSandbox(wishes["with a proxy"], means["bubblewrap"], around)))
    premises = Premises(folders=lambda: (folder,), home=around.home)
    for kind, other in (("landlock", "bubblewrap"), ("bubblewrap", "landlock")):
        holder = CommandHolder(premises, without=other)
        if holder.walls.reads:
            ways[f"held_{kind}"] = Way(bash_tool(holder=holder), Holding())
    if (holder := CommandHolder(premises)).walls.edits:
        ways["held_edits"] = Way(bash_tool(holder=holder), Holding(writes=True))
    return ways


async def measure_commands(folder: str, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of `true`, the tool's own work included."""
    ways = list_ways(folder)
    context = ToolContext(
        folder=folder, tool_use_id="toolu_1", abort=AbortSignal(), files=FileStates(), progress=lambda _: None
    )
    took: dict[str, list[float]] = {name: [] for name in ways}
    loop = asyncio.get_running_loop()
    for number in range(rounds + 3):
        for name, way in ways.items():
            call, held = way.tool.parse({"command": "true"}), replace(context, holding=way.holding)
            began = loop.time()
            await way.tool.run(call, held)
            # The first rounds find programs and make folders.
            if number >= 3:  # noqa: PLR2004
                took[name].append((loop.time() - began) * 1000)
    await context.tasks.aclose()
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
    """What each wall adds to a command, round by round, against the same round without one."""
    # What nobody could not load.
    import_module("concurrent.futures.thread")
    for package in (everturn.sandbox, everturn.tools.bash):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    import_module("concurrent.futures.thread")

    found: Found = {}
    # Whoever is not root measures what an ordinary user pays, which is what nobody stands for.
    users = {"root": 0, "nobody": NOBODY} if os.getuid() == 0 else {"nobody": os.getuid()}
    for who, user in users.items():
        took = run_as(user, scale.rounds * ROUNDS_EACH)
        for name, times in took.items():
            if name != OUTSIDE:
                found[f"{name}_{who}"] = [after - before for before, after in zip(took[OUTSIDE], times, strict=True)]
    return found
