"""Looks at processes from outside, and waits for what they do."""

import asyncio
from contextlib import suppress
from pathlib import Path


async def until(condition):
    """Waits for another process; the test's own time limit is ten seconds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the world announces nothing
            await asyncio.sleep(0.01)


def living():
    """Process ids that are no zombies, with their group."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, group = status.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if state not in {"Z", "X"}:
                found[int(status.parent.name)] = int(group)
    return found


def is_alive(pid):
    return int(pid) in living()
