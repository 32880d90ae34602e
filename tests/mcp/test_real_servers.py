"""Servers that people really use, over every transport, and the same answers as the package `mcp` gets from them."""

import asyncio
import json
import subprocess
import sys
import time

import pytest
from tests.mcp.conftest import PATIENCE_S, SERVERS, text_of
from tests.mcp.foreign import (
    EVERYTHING,
    FILESYSTEM,
    MEMORY,
    find_free_port,
    find_script,
    node_server,
    python_server,
    serving,
)

from everturn.mcp.elicitation import ElicitationAnswer
from everturn.mcp.faults import ServerGone
from everturn.mcp.results import ImageContent, ResourceLink
from everturn.mcp.servers import HttpServer, StdioServer

CALLS = 1_000
SHARE = 0.5
"""Of the processor time of the package's client."""


@pytest.fixture(params=["stdio", "streamableHttp", "sse"])
async def everything(request):
    if request.param == "stdio":
        yield node_server(EVERYTHING, "stdio")
        return
    port = find_free_port()
    async with serving("node", str(find_script(EVERYTHING)), request.param, PORT=str(port)):
        kind, path = ("sse", "sse") if request.param == "sse" else ("http", "mcp")
        yield HttpServer(name="real", url=f"http://127.0.0.1:{port}/{path}", kind=kind)


@pytest.mark.needs("Node", "package registry")
async def test_the_reference_server_does_all_that_it_offers(everything, connect_to):
    asked, told = [], []

    async def elicit(question):
        asked.append(question)
        return ElicitationAnswer(action="accept", content={"name": "Bo"})

    client = connect_to(everything, elicit=elicit)
    facts = await client.connect()
    listing = await client.list_tools()

    assert (facts.name, facts.protocol_version) == ("mcp-servers/everything", "2025-11-25")
    assert listing.problems == ()
    assert {"echo", "get-sum", "get-tiny-image", "trigger-elicitation-request"} <= {tool.name for tool in listing.items}
    assert text_of(await client.call_tool("echo", {"message": "grüß"})) == "Echo: grüß"
    image = await client.call_tool("get-tiny-image")
    assert [type(block) for block in image.content if isinstance(block, ImageContent)] == [ImageContent]
    links = await client.call_tool("get-resource-links", {"count": 2})
    link = next(block for block in links.content if isinstance(block, ResourceLink))
    assert await client.read_resource(link.uri)
    weather = await client.call_tool("get-structured-content", {"location": "New York"})
    assert weather.structured["conditions"] == "Cloudy"
    long = {"duration": 0.2, "steps": 2}
    await client.call_tool("trigger-long-running-operation", long, progress=told.append)
    assert [(step.progress, step.total) for step in told] == [(1, 2), (2, 2)]
    assert (await client.call_tool("trigger-elicitation-request")).is_error is False
    assert asked[0].schema["type"] == "object"
    assert "completable-prompt" in {prompt.name for prompt in (await client.list_prompts()).items}
    assert (await client.get_prompt("simple-prompt")).messages
    assert len((await client.list_resource_templates()).items) == 2


@pytest.mark.needs("Node", "package registry")
async def test_files_are_read_and_written_within_the_folders_that_were_named(connect_to, tmp_path):
    client = connect_to(node_server(FILESYSTEM, str(tmp_path)))

    await client.call_tool("write_file", {"path": str(tmp_path / "a.txt"), "content": "hello"})
    read = await client.call_tool("read_text_file", {"path": str(tmp_path / "a.txt")})
    outside = await client.call_tool("read_text_file", {"path": "/etc/hostname"})

    assert text_of(read) == (tmp_path / "a.txt").read_text() == "hello"
    assert outside.is_error


@pytest.mark.needs("Node", "package registry")
async def test_what_a_memory_server_was_told_it_finds_again(connect_to, tmp_path):
    server = node_server(MEMORY)
    client = connect_to(
        StdioServer(name="m", command="node", args=server.args, env={"MEMORY_FILE_PATH": str(tmp_path / "m.json")})
    )

    entity = {"name": "Bo", "entityType": "person", "observations": ["likes tea"]}
    await client.call_tool("create_entities", {"entities": [entity]})

    assert "likes tea" in text_of(await client.call_tool("search_nodes", {"query": "tea"}))


@pytest.fixture
def repository(tmp_path):
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), (*person, "commit", "-q", "--allow-empty", "-m", "First.")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return str(tmp_path)


@pytest.mark.needs("package registry")
async def test_a_repository_is_asked_for_its_log(connect_to, repository):
    client = connect_to(python_server("mcp-server-git", "--repository", repository))

    assert "First." in text_of(await client.call_tool("git_log", {"repo_path": repository}))


@pytest.mark.needs("package registry")
async def test_the_time_is_told_in_a_zone(connect_to):
    client = connect_to(python_server("mcp-server-time", "--local-timezone", "UTC"))

    told = json.loads(text_of(await client.call_tool("get_current_time", {"timezone": "Europe/Paris"})))

    assert told["timezone"] == "Europe/Paris"


@pytest.fixture(params=["stdio", "http"])
async def modern(request):
    """A server of the stateless era, written with the package."""
    script = str(SERVERS / "modern.py")
    if request.param == "stdio":
        yield StdioServer(name="modern", command=sys.executable, args=(script, "stdio"))
        return
    port = find_free_port()
    async with serving(sys.executable, script, "http", str(port)):
        yield HttpServer(name="modern", url=f"http://127.0.0.1:{port}/mcp")


async def test_a_server_of_the_stateless_era_is_spoken_to_in_its_own_way(modern, connect_to):
    changed, told = asyncio.Event(), []

    async def elicit(question):
        return ElicitationAnswer(action="accept", content={"which": question.message})

    client = connect_to(modern, elicit=elicit, on_change=lambda _: changed.set())
    facts = await client.connect()

    assert (facts.name, facts.version, facts.protocol_version) == ("modern", "7", "2026-07-28")
    assert facts.instructions == "Be kind."
    assert text_of(await client.call_tool("echo", {"text": "grüß"})) == "grüß"
    assert text_of(await client.call_tool("count", {"to": 2}, progress=told.append)) == "2"
    assert [step.message for step in told] == ["at 1", "at 2"]
    assert text_of(await client.call_tool("order")) == "accept: {'which': 'Which one?'} (the state)"
    assert [resource.text for resource in await client.read_resource("memo://today")] == ["Buy bread."]
    assert (await client.get_prompt("greet", {"name": "Bo"})).messages
    assert (await client.call_tool("nope")).is_error


async def test_a_change_in_the_stateless_era_is_told_by_the_subscription(modern, connect_to):
    changed = asyncio.Event()
    client = connect_to(modern, on_change=lambda _: changed.set())
    before = await client.list_tools()

    async with asyncio.timeout(PATIENCE_S):
        number = 0
        while not changed.is_set():
            # The subscription may begin a moment after the first call.
            number += 1
            await client.call_tool("learn", {"name": f"more-{number}"})

    assert before.fresh_s == 0
    assert "more-1" in {tool.name for tool in (await client.list_tools()).items}


@pytest.mark.filterwarnings("ignore")
async def test_both_clients_are_told_the_same(modern, connect_to):
    from mcp import Client, StdioServerParameters

    client = connect_to(modern)
    ours = await client.list_tools()
    our_answer = await client.call_tool("echo", {"text": "x"})
    target = (
        modern.url
        if isinstance(modern, HttpServer)
        else StdioServerParameters(command=modern.command, args=list(modern.args))
    )
    async with Client(target) as other:
        theirs = (await other.list_tools()).tools
        their_answer = await other.call_tool("echo", {"text": "x"})

    assert [(tool.name, tool.description, tool.input_schema) for tool in ours.items] == [
        (tool.name, tool.description, tool.input_schema) for tool in theirs
    ]
    assert (text_of(our_answer), our_answer.structured) == (
        their_answer.content[0].text,
        their_answer.structured_content,
    )


@pytest.mark.needs("Node", "package registry")
@pytest.mark.filterwarnings("ignore")
async def test_a_thousand_calls_cost_half_of_what_they_cost_with_the_package_at_most(connect_to):
    from mcp import Client, StdioServerParameters

    server = node_server(EVERYTHING, "stdio")
    client = connect_to(server)
    await client.connect()
    began = time.process_time()
    for number in range(CALLS):
        await client.call_tool("echo", {"message": str(number)})
    ours = time.process_time() - began

    async with Client(StdioServerParameters(command="node", args=list(server.args))) as other:
        began = time.process_time()
        for number in range(CALLS):
            await other.call_tool("echo", {"message": str(number)})
        theirs = time.process_time() - began

    assert ours <= SHARE * theirs, f"{ours:.3f} s against {theirs:.3f} s"


async def test_a_server_that_nobody_started_is_told_as_such(connect_to):
    with pytest.raises(ServerGone):
        await connect_to(HttpServer(name="none", url=f"http://127.0.0.1:{find_free_port()}/mcp")).connect()
