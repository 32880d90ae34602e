"""Looks at processes from outside, and waits for what they do."""

import asyncio
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 60.0
"""Far beyond what anything takes on a busy machine: whoever waits so long waits in vain."""


async def until(condition):
    """Waits for another process."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - the world announces nothing
            await asyncio.sleep(0.01)


def living():
    """Process ids that are no zombies, with their group."""
    found = {}
    for pid in list_processes():
        with suppress(OSError):
            state, _, group = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
            if state not in {"Z", "X"}:
                found[pid] = int(group)
    return found


def list_processes():
    """The numbers in /proc. A pattern such as `*/stat` would look at each file, and fail at a process that ends meanwhile."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def is_alive(pid):
    return int(pid) in living()


def named(word, parent=None):
    """Living processes with this word among their arguments; of one parent's children, where that is given."""
    found = []
    for pid in living():
        with suppress(OSError):
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            status = Path(f"/proc/{pid}/status").read_text(errors="replace")
            if word.encode() in arguments and (parent is None or f"\nPPid:\t{parent}\n" in status):
                found.append(pid)
    return found
