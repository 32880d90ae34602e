"""Asks one question about the present folder and prints the answer as it comes.

python examples/ask.py "What does this project do?"
"""

import asyncio
import sys

from everturn import CallBegan, ResultEvent, TextDelta, query


async def main(prompt: str) -> int:
    async for event in query(prompt, max_turns=10, max_budget_usd=0.50):
        match event:
            case TextDelta(text=text):
                print(text, end="", flush=True)
            case CallBegan(line=line):
                print(f"\n· {line}")
            case ResultEvent() as result:
                print(f"\n[{result.terminal_reason}, rounds: {result.rounds}, ${result.usd:.4f}]", *result.errors)
                return result.exit
    return 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(" ".join(sys.argv[1:]) or "What does this project do?")))
