"""Many sessions of Everturn in one process: an engine and a journal each, a tool in the process."""

import asyncio
import sys
import time

from everturn import Engine, Options, tool


@tool(reads_only=True)
async def double(number: int) -> str:
    """Doubles a number."""
    return str(number * 2)


async def converse(prompt: str) -> None:
    async with Engine(Options(builtin_tools=False, tools=[double], allowed_tools=["double"], max_turns=0)) as engine:
        async for _ in engine.submit(prompt):
            pass


async def main(sessions: int) -> None:
    started = time.perf_counter()
    await asyncio.gather(*(converse("Double it.") for _ in range(sessions)))
    print(time.perf_counter() - started)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
