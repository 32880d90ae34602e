"""Lets the agent work until the tests pass: a stop hook sends it back, budgets make sure that it ends.

python examples/until_tests_pass.py "python -m pytest -q" "Make the tests pass."
"""

import asyncio
import sys

from everturn import Continued, Engine, ResultEvent, StopInput, StopPhaseProgressed, StopVerdict


async def main(command: str, prompt: str) -> int:
    passed = False

    async def tests_pass(_: StopInput) -> StopVerdict:
        nonlocal passed
        process = await asyncio.create_subprocess_shell(
            command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output, _ignored = await process.communicate()
        passed = process.returncode == 0
        failed = f"`{command}` failed:\n{output.decode(errors='replace')[-2_000:]}"
        return StopVerdict(block=None if passed else failed)

    async with Engine(
        permission_mode="bypassPermissions", hooks={"stop": tests_pass}, max_turns=30, max_budget_usd=2.0
    ) as engine:
        async for event in engine.submit(prompt):
            match event:
                case StopPhaseProgressed(text=text):
                    print(f"· {text.splitlines()[0]}")
                case Continued(transition=transition, turn=turn):
                    print(f"· turn {turn}: {transition}")
                case ResultEvent() as result:
                    print(f"{result.text}\n[{result.terminal_reason}, ${result.total_usd:.4f}]", *result.errors)
                    return result.exit if passed else 1
    return 1


if __name__ == "__main__":
    command, *words = sys.argv[1:] or ["python -m pytest -q"]
    sys.exit(asyncio.run(main(command, " ".join(words) or "Make the tests pass.")))
