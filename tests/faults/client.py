"""One prompt in a process of its own: prints the kind of each event, or why it was refused, and how its memory grew."""

import asyncio
import json
import resource
import sys
from contextlib import aclosing
from typing import Any

from everturn import Engine, Options
from everturn.core.errors import JournalError

KILOBYTE = 1 if sys.platform == "darwin" else 1_024
"""What the peak is counted in."""


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE


async def run(task: dict[str, Any]) -> None:
    try:
        engine = Engine(Options.of(**task["options"]), env=task["env"])
    except JournalError as error:
        say(f"refused: {error}")
        return
    before = peak()
    async with engine, aclosing(engine.submit(task["prompt"])) as events:
        async for event in events:
            say(str(event.__struct_config__.tag))
    say(str(peak() - before))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(run(json.loads(sys.argv[1])))
