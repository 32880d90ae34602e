"""Servers of this process, and those that somebody else speaks for."""

import asyncio

import pytest
from tests.mcp.conftest import text_of

from everturn.mcp.faults import ProtocolFault, RequestRefused, ServerTimeout
from everturn.mcp.servers import InProcessServer

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "in", "version": "1"}}


class Calculator:
    """Answers as the control protocol has it: a notification gets nothing."""

    def __init__(self):
        self.heard = []
        self.withdrawn = asyncio.Event()

    async def answer(self, message):
        self.heard.append(message["method"])
        if message["method"] == "notifications/cancelled":
            self.withdrawn.set()
        if "id" not in message:
            return None
        head = {"jsonrpc": "2.0", "id": message["id"]}
        match message["method"]:
            case "initialize":
                return head | {"result": HELLO}
            case "tools/list":
                return head | {"result": {"tools": [{"name": "add"}]}}
            case "tools/call":
                return await self.call(head, message["params"])
            case _:
                return head | {"error": {"code": -32601, "message": "Method not found"}}

    async def call(self, head, params):
        given = params["arguments"]
        match params["name"]:
            case "add":
                return head | {"result": {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}}
            case "raise":
                raise LookupError("no such number")
            case "silence":
                return None
            case "nonsense":
                return head | {"result": {"a": object()}}
            case _:
                return await asyncio.get_running_loop().create_future()


@pytest.fixture
def calculator():
    return Calculator()


@pytest.fixture
def client(calculator, connect_to):
    return connect_to(InProcessServer(name="calc", server=calculator))


async def test_it_is_listed_and_called_like_any_other(client, calculator):
    facts = await client.connect()

    assert (facts.name, facts.protocol_version) == ("in", "2025-06-18")
    assert [tool.name for tool in (await client.list_tools()).items] == ["add"]
    assert text_of(await client.call_tool("add", {"a": 2, "b": 3})) == "5"
    assert calculator.heard[:3] == ["server/discover", "initialize", "notifications/initialized"]


async def test_what_it_raises_fails_the_call_with_its_text(client):
    with pytest.raises(RequestRefused) as caught:
        await client.call_tool("raise")

    assert caught.value.text == 'The MCP server "calc" failed: no such number'


@pytest.mark.parametrize("tool", ["silence", "nonsense"])
async def test_no_answer_and_one_that_is_no_json_are_faults(client, tool):
    with pytest.raises(ProtocolFault):
        await client.call_tool(tool)


async def test_a_call_that_is_given_up_is_withdrawn_and_cancelled(client, calculator):
    with pytest.raises(ServerTimeout):
        await client.call_tool("hang", timeout_s=0.05)

    async with asyncio.timeout(60):
        await calculator.withdrawn.wait()
