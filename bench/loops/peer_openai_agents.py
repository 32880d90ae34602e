"""A peer: the same job on openai-agents, with its own session store as the journal."""

import asyncio
import os
import subprocess
import sys

from agents import Agent, Runner, SQLiteSession, function_tool


@function_tool(name_override="Bash")
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


async def main(prompt: str) -> None:
    session = SQLiteSession("bench", os.environ["BENCH_JOURNAL"])
    agent = Agent(name="bench", model="gpt-5", tools=[bash])
    result = await Runner.run(agent, prompt, session=session, max_turns=1_000)
    print(result.final_output)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
