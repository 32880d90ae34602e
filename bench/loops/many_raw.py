"""Many sessions in one process on bare h11: a connection, a journal and a tool in the process for each."""

import asyncio
import os
import sys
import time
from pathlib import Path

from floor_raw import converse  # type: ignore[import-not-found]  # a program finds its neighbours

DOUBLE = {
    "name": "double",
    "description": "Doubles a number.",
    "input_schema": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
}


async def main(sessions: int, folder: Path) -> None:
    base_url = os.environ["ANTHROPIC_BASE_URL"]
    started = time.perf_counter()
    await asyncio.gather(
        *(
            converse("Double it.", DOUBLE, lambda call: str(call["number"] * 2), base_url, folder / f"{n}.jsonl")
            for n in range(sessions)
        )
    )
    print(time.perf_counter() - started)


if __name__ == "__main__":
    journals = Path(os.environ["BENCH_JOURNAL"])
    journals.mkdir()
    asyncio.run(main(int(sys.argv[1]), journals))
