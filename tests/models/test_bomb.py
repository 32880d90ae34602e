"""A small answer that unpacks to gigabytes costs neither the memory nor the time of its size."""

import asyncio
import json
import sys
import zlib

import pytest

PROGRAM = """
import asyncio, json, resource, sys
from everturn.core.errors import ModelFault
from everturn.core.messages import text_block
from everturn.core.transcript import Wire
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.catalog import JsonCatalog
from everturn.models.transport.http1_transport import Http1Transport
from everturn.ports.model import Request

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

async def main():
    model = AnthropicModel(
        transport=Http1Transport(), catalog=JsonCatalog(), credentials=Credentials(api_key="k"), base_url=sys.argv[1]
    )
    request = Request(model="m", messages=(Wire("user", (text_block("x"),)),), max_tokens=1)
    before = peak()
    try:
        async for _ in model.stream(request):
            pass
    except ModelFault as fault:
        print(json.dumps({"kind": fault.kind, "grown": peak() - before}))
    await model.aclose()

asyncio.run(main())
"""


@pytest.mark.parametrize("line", [b": " + b"0" * 1_000_000 + b"\n", b"0" * 1_000_000], ids=["comments", "one line"])
async def test_a_bomb_of_two_gigabytes_is_given_up_early(stage, line):
    async def answer(exchange):
        pack = zlib.compressobj(9, zlib.DEFLATED, 31)
        await exchange.start(content_type="text/event-stream", content_encoding="gzip")
        for _ in range(2_000):
            await exchange.chunk(pack.compress(line) + pack.flush(zlib.Z_SYNC_FLUSH))

    server = await stage.serve(answer)
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, server.url, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await program.communicate()

    told = json.loads(output)
    assert told["kind"] == "response_too_large"
    assert told["grown"] < 200_000_000
