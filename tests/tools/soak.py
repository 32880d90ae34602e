"""A tree of a million files: Glob and Grep answer in time and in little memory. `python -m tests.tools.soak [folder]`."""

import asyncio
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.glob import MAX_WAIT_S, glob_tool
from everturn.tools.grep import grep_tool

FOLDERS = 1_000
FILES = 1_000
MAX_SECONDS = 60.0
MAX_MEMORY = 64 * 1024 * 1024
NEEDLE = 777
"""In this many files, one in each of as many folders."""


def plant(root: Path) -> None:
    for folder in range(FOLDERS):
        place = root / f"f{folder:03}"
        place.mkdir()
        for file in range(FILES):
            descriptor = os.open(f"{place}/{file:03}.txt", os.O_WRONLY | os.O_CREAT, 0o600)
            if file == 0 and folder < NEEDLE:
                os.write(descriptor, b"needle\n")
            os.close(descriptor)


async def ask(root: Path, tool, **fields) -> ToolResult:
    context = ToolContext(
        folder=str(root), tool_use_id="toolu_1", abort=AbortSignal(), files=FileStates(), progress=lambda _: None
    )
    before, began = memory(), time.monotonic()
    result = await tool.run(tool.parse(fields), context)
    took, grown = time.monotonic() - began, memory() - before
    print(f"{tool.name} {fields}: {took:.1f} s, {grown / 1024**2:.0f} MB more")  # noqa: T201 - what it is for
    assert took < MAX_SECONDS, "too slow"
    assert grown < MAX_MEMORY, "too much memory"
    return result


def memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def search(root: Path) -> None:
    found = (await ask(root, glob_tool(), pattern="**/*.txt")).shown
    assert found.num_files == 100
    assert found.truncated
    assert found.total_matches == FOLDERS * FILES or not found.count_is_complete, (
        "not all were seen, and that was not said"
    )
    found = (await ask(root, glob_tool(), pattern="f000/*.txt")).shown
    assert (found.total_matches, found.count_is_complete) == (FILES, True)
    found = (await ask(root, grep_tool(), pattern="needle", head_limit=10)).shown
    assert (found.num_files, found.total_files) == (10, NEEDLE)


def main(arguments: list[str]) -> int:
    print(f"planting {FOLDERS * FILES:,} files; Glob gives up after {MAX_WAIT_S:g} s")  # noqa: T201 - what it is for
    with tempfile.TemporaryDirectory(dir=arguments[0] if arguments else None) as root:
        plant(Path(root))
        asyncio.run(search(Path(root)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
