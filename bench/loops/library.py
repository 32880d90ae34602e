"""Everturn as a library: the same job in a program of its user's."""

import asyncio
import sys

from everturn import Options, query
from everturn.core.events import ResultEvent


async def main(prompt: str) -> None:
    async for event in query(prompt, Options(permission_mode="bypassPermissions", max_turns=0)):
        if isinstance(event, ResultEvent):
            print(event.text)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
