"""Arguments that a tool wants in headers as well."""

import json

import pytest
from tests.mcp.conftest import PATIENCE_S, text_of
from tests.mcp.http_scripts import Script, words

from everturn.mcp.mirrored import MisplacedHeaderError, encode_mirrored, find_mirrored
from everturn.mcp.servers import HttpServer

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "plain": {"type": "string"},
        "deep": {"type": "object", "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry"}}},
        "shown": {"type": "object", "default": {"x-mcp-header": "data"}},
    },
}


def test_annotations_that_the_protocol_allows_are_found_wherever_they_are():
    assert find_mirrored(SCHEMA) == ((("region",), "Region"), (("deep", "dry"), "Dry"))


def text(header, **more):
    return {"type": "string", "x-mcp-header": header, **more}


@pytest.mark.parametrize("schema", [{}, {"properties": 7}, {"properties": {"a": 7}}])
def test_a_schema_without_annotations_gives_none(schema):
    assert find_mirrored(schema) == ()


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"properties": {"a": text("")}}, "the x-mcp-header of a is no name of a header"),
        ({"properties": {"a": text("two words")}}, "the x-mcp-header of a is no name of a header"),
        ({"properties": {"a": text(5)}}, "the x-mcp-header of a is no name of a header"),
        (
            {"properties": {"a": text("A", type="number")}},
            "a has a x-mcp-header and is neither text, a whole number nor a truth value",
        ),
        ({"properties": {"a": text("A"), "b": text("a")}}, "two arguments want the same header"),
        ({"properties": {"a": {"type": "array", "items": text("A")}}}, "x-mcp-header stands inside 'items'"),
        ({"x-mcp-header": "A", "type": "string"}, "x-mcp-header stands outside every argument"),
    ],
)
def test_annotations_that_the_protocol_does_not_allow_are_named(schema, said):
    with pytest.raises(MisplacedHeaderError) as caught:
        find_mirrored(schema)

    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": None, "deep": 7}, {}),
        ({"region": "eu", "deep": {"dry": True}}, {"mcp-param-region": "eu", "mcp-param-dry": "true"}),
        ({"region": "größe"}, {"mcp-param-region": "=?base64?Z3LDtsOfZQ==?="}),
        ({"region": " x"}, {"mcp-param-region": "=?base64?IHg=?="}),
        ({"region": "a\r\nb"}, {"mcp-param-region": "=?base64?YQ0KYg==?="}),
        ({"region": "=?base64?eA==?="}, {"mcp-param-region": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="}),
        ({"region": 5}, {"mcp-param-region": "5"}),
    ],
)
def test_values_are_written_so_that_headers_can_carry_them(arguments, headers):
    assert encode_mirrored(find_mirrored(SCHEMA), arguments) == headers


async def test_a_tool_with_an_annotation_that_is_not_allowed_is_left_out(stage, connect_to):
    async def list_tools(exchange, message):
        tools = [
            {"name": "good", "inputSchema": SCHEMA},
            {"name": "bad", "inputSchema": {"properties": {"a": text("")}}},
        ]
        await script.answer(exchange, message, {"resultType": "complete", "ttlMs": 0, "tools": tools})

    script = Script(stateless=True, **{"tools/list": list_tools})
    server = await stage.serve(script)

    listing = await connect_to(HttpServer(name="web", url=f"{server.url}/mcp")).list_tools()

    assert [tool.name for tool in listing.items] == ["good"]
    assert listing.problems == ("The tool bad was left out: the x-mcp-header of a is no name of a header.",)


async def test_a_call_carries_them_also_where_the_tool_was_never_listed_before(stage, connect_to):
    async def list_tools(exchange, message):
        listed = {"resultType": "complete", "ttlMs": 0, "tools": [{"name": "a", "inputSchema": SCHEMA}]}
        await script.answer(exchange, message, listed)

    async def call(exchange, message):
        if exchange.headers.get("mcp-param-region") == "eu":
            await script.answer(exchange, message, words("fine"))
        else:
            error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32020, "message": "header missing"}}
            await exchange.reply(400, json.dumps(error).encode(), content_type="application/json")

    script = Script(stateless=True, **{"tools/list": list_tools, "tools/call": call})
    server = await stage.serve(script)
    client = connect_to(HttpServer(name="web", url=f"{server.url}/mcp", call_timeout_s=PATIENCE_S))

    assert text_of(await client.call_tool("a", {"region": "eu"})) == "fine"
    assert script.heard == ["server/discover", "tools/call", "tools/list", "tools/call"]
