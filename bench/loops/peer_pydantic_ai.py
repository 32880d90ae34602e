"""A peer: the same job on pydantic-ai, with each message added to a journal as it comes."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter

agent = Agent("anthropic:claude-sonnet-5")


@agent.tool_plain(name="Bash")
def bash(command: str) -> str:
    """Runs a command in bash and returns its output."""
    done = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


async def main(prompt: str, journal: BinaryIO) -> None:
    written = 0
    async with agent.iter(prompt, usage_limits=None) as run:
        async for _ in run:
            new = run.all_messages()[written:]
            journal.writelines(ModelMessagesTypeAdapter.dump_json([message]) + b"\n" for message in new)
            journal.flush()
            written += len(new)
    if run.result:
        print(run.result.output)


if __name__ == "__main__":
    with Path(os.environ["BENCH_JOURNAL"]).open("ab") as kept:
        asyncio.run(main(sys.argv[1], kept))
