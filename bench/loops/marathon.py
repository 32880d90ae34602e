"""One session of Everturn with so many turns, and what its own work in a turn costs: prints it for turn 10 and for the last.

The watch stops where a request is handed to the client, which joins its body and sends it, and runs on when the head of the
answer is there. What is left of a turn: reading the stream, permission, tool, journal, and preparing the next request.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from statistics import median

from everturn import Engine, Options, __version__, tool
from everturn.compose.catalog import build_catalog
from everturn.core.stream import StreamEvent
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.transport.http1_transport import Http1Response, Http1Transport
from everturn.ports.model import Request

AROUND = 100
"""Turns whose median is taken: those from the tenth on, and the last."""
TENTH = 9


class WatchedTransport(Http1Transport):
    def __init__(self) -> None:
        super().__init__()
        self.answered: list[float] = []

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Http1Response:
        response = await super().post(url, headers, body)
        self.answered.append(time.perf_counter())
        return response


class WatchedModel(AnthropicModel):
    asked: list[float]

    def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        self.asked.append(time.perf_counter())
        return super().stream(request)


@tool(reads_only=True)
async def double(number: int) -> str:
    """Doubles a number."""
    return str(number * 2)


async def main(turns: int) -> None:
    options = Options(builtin_tools=False, tools=[double], allowed_tools=["double"], max_turns=turns, base_url=BASE)
    transport = WatchedTransport()
    model = WatchedModel(
        transport=transport,
        catalog=build_catalog(options),
        credentials=Credentials(api_key="made-up"),
        base_url=BASE,
        version=__version__,
    )
    model.asked = []
    async with Engine(options, model=model) as engine:
        async for _ in engine.submit("Double it."):
            pass
    costs = [asked - answered for asked, answered in zip(model.asked[1:], transport.answered, strict=False)]
    if len(model.asked) < turns:
        sys.exit(f"The session ended after {len(model.asked)} turns.")
    print(json.dumps([median(costs[TENTH : TENTH + AROUND]), median(costs[-AROUND:])]))


if __name__ == "__main__":
    BASE = os.environ["ANTHROPIC_BASE_URL"]
    asyncio.run(main(int(sys.argv[1])))
