"""What a sandbox costs: the same command with and without it, interleaved, as root and as nobody.

Run it by itself: `python -m bench.sandbox [rounds]`. It prints milliseconds; nothing is written.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from statistics import median

from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import ToolContext
from everturn.sandbox.confining import CommandSandbox, Surroundings
from everturn.sandbox.probe import find_means
from everturn.sandbox.settings import Wishes
from everturn.tools.bash import bash_tool
from everturn.tools.define import FunctionTool

ROUNDS = 60
NOBODY = 65_534


def make_tools(folder: str) -> dict[str, FunctionTool]:
    around = Surroundings(folders=(), home=folder + "-home")
    wishes = {"closed": Wishes(enabled=True), "with a proxy": Wishes(enabled=True, allowed_hosts=("example.com",))}
    means = {"bubblewrap": find_means(), "landlock": find_means(without="bubblewrap")}
    tools = {"outside": bash_tool()}
    for kind, found in means.items():
        if found.kind == kind:
            tools[kind] = bash_tool(sandbox=CommandSandbox(wishes["closed"], found, around))
    if means["bubblewrap"].kind == "bubblewrap":
        tools["bubblewrap, a host allowed"] = bash_tool(
            sandbox=CommandSandbox(wishes["with a proxy"], means["bubblewrap"], around)
        )
    return tools


async def measure(folder: str, rounds: int) -> dict[str, list[float]]:
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


def report(who: str, took: dict[str, list[float]]) -> None:
    floor = took["outside"]
    print(f"as {who}: {'':<26} min   median   added (min, median)")
    for name, times in took.items():
        least, middle = min(times), median(times)
        added = f"{least - min(floor):+.1f}  {middle - median(floor):+.1f}" if name != "outside" else ""
        print(f"  {name:<32} {least:5.1f}  {middle:5.1f}    {added}")


def run_as(user: int, who: str, rounds: int) -> None:
    """In a child, so that the next one can still become somebody else. Modules are loaded by then."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    with tempfile.TemporaryDirectory(prefix="everturn-bench-", dir="/tmp") as made:
        folder = str(Path(made).resolve())
        if os.getuid() != user:
            os.chown(folder, user, user)
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        os.system(f"git init -q {folder}")  # noqa: S605 - a name of our own
        report(who, asyncio.run(measure(folder, rounds)))
        sys.stdout.flush()
    os._exit(0)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    import everturn.tools.bash.commands
    import everturn.tools.bash.confined
    import everturn.tools.bash.entering  # noqa: F401 - what nobody could not load

    users = {0: "root", NOBODY: "nobody"} if os.getuid() == 0 else {os.getuid(): "this user"}
    for user, who in users.items():
        run_as(user, who, rounds)


if __name__ == "__main__":
    main()
