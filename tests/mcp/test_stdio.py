"""A server on pipes that keeps to the protocol, and what it can count on."""

import asyncio
import json
import sys

import pytest
from tests.mcp.conftest import SERVERS, text_of

from everturn.mcp.definitions import PromptArgument, PromptDefinition, ResourceTemplate, ServerFacts
from everturn.mcp.elicitation import Elicitation, ElicitationAnswer
from everturn.mcp.exchange import Progress
from everturn.mcp.faults import RequestRefused, ServerGone, ServerTimeout, ToolUnknown
from everturn.mcp.results import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    OtherContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from everturn.mcp.servers import StdioServer

LONG = "n" * 128


async def test_a_server_says_who_it_is_and_what_it_offers(plain):
    facts = await plain().connect()

    kinds = ("tools", "resources", "prompts")
    assert facts == ServerFacts(
        name="plain",
        version="1",
        title="A plain server",
        protocol_version="2025-11-25",
        instructions="Be kind.",
        capabilities={kind: {"listChanged": True} for kind in kinds},
    )


async def test_a_list_is_read_to_its_last_page_and_an_unreadable_entry_costs_only_itself(plain):
    listing = await plain().list_tools()

    assert [tool.name for tool in listing.items] == ["echo", "bare", LONG]
    assert listing.fresh_s == 5
    assert len(listing.problems) == 2
    assert "`$.name`" in listing.problems[0]


async def test_a_tool_without_a_schema_takes_no_arguments_and_references_stay_as_they_are(plain):
    _, bare, long = (await plain().list_tools()).items

    assert bare.input_schema == {"type": "object", "properties": {}}
    assert long.input_schema["properties"] == {"n": {"$ref": "#/$defs/n"}}


@pytest.mark.parametrize("arguments", [None, {}, {"a": None, "b": [1, {"c": "ü"}]}])
async def test_arguments_arrive_as_they_were_given(plain, arguments):
    outcome = await plain().call_tool("echo", arguments)

    assert json.loads(text_of(outcome)) == (arguments or {})


async def test_every_kind_of_content_is_told_apart_and_what_is_unknown_is_kept(plain):
    outcome = await plain().call_tool("blocks")

    assert outcome.content == (
        TextContent(text="a"),
        ImageContent(data="aGk=", mime_type="image/png"),
        AudioContent(data="aGk=", mime_type="audio/wav"),
        ResourceLink(uri="memo://1", name="one"),
        EmbeddedResource(resource=ResourceContents(uri="memo://2", text="two")),
        OtherContent(value={"type": "hologram", "size": 3}),
        OtherContent(value={"type": "text"}),
        OtherContent(value="no block"),
    )
    assert (outcome.structured, outcome.is_error) == ({"n": 1}, False)


async def test_a_tool_that_fails_is_an_outcome_and_no_fault(plain):
    outcome = await plain().call_tool("fail")

    assert (text_of(outcome), outcome.is_error) == ("It does not work.", True)


async def test_an_unknown_tool_and_an_unknown_method_are_refused_by_name(plain):
    client = plain()

    with pytest.raises(ToolUnknown) as caught:
        await client.call_tool("nope")

    assert caught.value.text == 'The MCP server "plain" refused tools/call: Unknown tool: nope'
    assert caught.value.code == -32602


async def test_resources_templates_and_prompts_are_listed_and_read(plain):
    client = plain()

    resources, templates = await client.list_resources(), await client.list_resource_templates()
    prompts, filled = await client.list_prompts(), await client.get_prompt("greet", {"who": "Bo"})

    assert [resource.uri for resource in resources.items] == ["memo://1"]
    assert templates.items == (ResourceTemplate(uri_template="memo://{id}"),)
    assert await client.read_resource("memo://1") == (ResourceContents(uri="memo://1", blob="aGk="),)
    assert prompts.items == (PromptDefinition(name="greet", arguments=(PromptArgument(name="who"),)),)
    assert [message.content for message in filled.messages] == [TextContent(text='{"who": "Bo"}')]


async def test_progress_is_told_while_the_call_runs(plain):
    told = []

    outcome = await plain().call_tool("progress", progress=told.append)

    assert text_of(outcome) == "done"
    assert told == [Progress(progress=at, total=2, message=f"at {at}") for at in (1, 2)]


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
async def test_a_changed_list_is_told(plain, kind):
    changes = []

    await plain(wishes={"on_change": changes.append}).call_tool("change", {"kind": kind})

    assert changes == [kind]


async def test_many_calls_at_once_get_each_its_own_answer(plain):
    client = plain()

    outcomes = await asyncio.gather(*(client.call_tool("echo", {"n": number}) for number in range(200)))

    assert [json.loads(text_of(outcome))["n"] for outcome in outcomes] == list(range(200))


async def test_a_call_that_is_cancelled_is_withdrawn_from_the_server(plain):
    client = plain()
    await client.connect()
    calling = asyncio.create_task(client.call_tool("hang"))
    await client.call_tool("echo")  # request 3; the task begins meanwhile, with request 4

    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    heard = json.loads(text_of(await client.call_tool("heard")))
    assert heard[-3] == "notifications/cancelled"
    assert heard[-2]["requestId"] == 4


async def test_a_call_that_takes_too_long_is_withdrawn_and_named(plain):
    client = plain()

    with pytest.raises(ServerTimeout) as caught:
        await client.call_tool("hang", timeout_s=0.05)

    assert caught.value.text == 'The MCP server "plain" did not answer tools/call within 0.05 s.'
    assert "notifications/cancelled" in text_of(await client.call_tool("heard"))


async def test_a_question_of_the_server_is_put_to_the_person_and_the_call_waits_as_long_as_that_takes(plain):
    asked = []

    async def elicit(question):
        asked.append(question)
        await asyncio.sleep(3.5)  # longer than the call may take
        return ElicitationAnswer(action="accept", content={"age": 7})

    client = plain(wishes={"elicit": elicit})
    await client.connect()
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}}
    outcome = await client.call_tool("elicit", {"message": "How old?", "requestedSchema": schema}, timeout_s=3.0)

    assert asked == [Elicitation(server="plain", message="How old?", schema=schema)]
    assert json.loads(text_of(outcome))["result"] == {"action": "accept", "content": {"age": 7}}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_is_passed_on_without_content(plain, action):
    async def elicit(question):
        return ElicitationAnswer(action=action, content={"ignored": 1})

    outcome = await plain(wishes={"elicit": elicit}).call_tool("elicit", {"message": "?", "requestedSchema": {}})

    assert json.loads(text_of(outcome))["result"] == {"action": action}


async def test_an_address_to_open_is_put_to_the_person_too(plain):
    asked = []

    async def elicit(question):
        asked.append(question)
        return ElicitationAnswer(action="accept")

    given = {"mode": "url", "message": "Log in.", "url": "https://example.com", "elicitationId": "e"}
    await plain(wishes={"elicit": elicit}).call_tool("elicit", given)

    (question,) = asked
    assert (question.mode, question.url, question.elicitation_id) == ("url", "https://example.com", "e")


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("sampling/createMessage", {"messages": []}, -32601),
        ("elicitation/create", {"message": "?"}, -32601),
        ("something/else", {}, -32601),
    ],
)
async def test_what_nobody_offered_is_refused(plain, method, params, code):
    outcome = await plain().call_tool("ask", {"method": method, "params": params})

    assert json.loads(text_of(outcome))["error"]["code"] == code


async def test_a_question_that_cannot_be_read_or_answered_is_refused_too(plain):
    async def elicit(question):
        raise ValueError("no screen")

    client = plain(wishes={"elicit": elicit})
    unreadable = await client.call_tool("elicit", {"mode": "url", "message": "no url"})
    unanswered = await client.call_tool("elicit", {"message": "?"})

    assert json.loads(text_of(unreadable))["error"]["code"] == -32602
    assert json.loads(text_of(unanswered))["error"]["code"] == -32603


async def test_the_server_may_ask_for_the_folders_and_for_a_sign_of_life(plain, tmp_path):
    client = plain()

    roots = await client.call_tool("ask", {"method": "roots/list"})
    ping = await client.call_tool("ask", {"method": "ping"})

    assert json.loads(text_of(roots))["result"] == {"roots": [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]}
    assert json.loads(text_of(ping))["result"] == {}


async def test_a_server_gets_the_variables_that_were_declared_and_a_short_list(plain, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a secret")
    monkeypatch.setenv("LANG", "C.UTF-8")

    outcome = await plain(env={"DECLARED": "yes"}).call_tool("environment")

    environment = json.loads(text_of(outcome))
    assert environment["DECLARED"] == "yes"
    assert {"PATH", "LANG"} <= environment.keys()
    assert "ANTHROPIC_API_KEY" not in environment


async def test_a_server_is_started_in_its_folder(plain, tmp_path):
    assert text_of(await plain(folder=str(tmp_path)).call_tool("folder")) == str(tmp_path)


async def test_what_was_spoken_the_last_time_is_asked_for_first(plain):
    client = plain(protocol_version="2025-11-25")

    heard = json.loads(text_of(await client.call_tool("heard")))

    assert heard == ["initialize", "notifications/initialized", "tools/call"]


async def test_calls_after_the_end_are_refused_and_closing_twice_is_fine(plain):
    client = plain()
    await client.connect()

    await client.aclose()
    await client.aclose()

    with pytest.raises(ServerGone):
        await client.call_tool("echo")


async def test_two_who_connect_at_once_start_one_server(plain):
    client = plain()

    first, second = await asyncio.gather(client.connect(), client.connect())

    assert first is second


async def test_a_program_that_is_missing_is_named(connect_to):
    with pytest.raises(ServerGone) as caught:
        await connect_to(StdioServer(name="none", command="no-such-program")).connect()

    assert caught.value.text == (
        'The MCP server "none" cannot be started: there is no program no-such-program. Is it installed, and on the PATH?'
    )


async def test_a_folder_that_is_missing_is_named(connect_to):
    server = StdioServer(name="none", command=sys.executable, args=(str(SERVERS / "plain.py"),), folder="/no/such")

    with pytest.raises(ServerGone) as caught:
        await connect_to(server).connect()

    assert caught.value.text == 'The MCP server "none" cannot be started: there is no folder /no/such.'


async def test_an_address_that_must_be_opened_first_is_put_to_the_person_and_the_call_made_again(plain):
    asked = []

    async def elicit(question):
        asked.append(question)
        return ElicitationAnswer(action="accept")

    outcome = await plain(wishes={"elicit": elicit}).call_tool("url")

    (question,) = asked
    assert (question.mode, question.url, text_of(outcome)) == ("url", "https://example.com/login", "logged in")


async def test_an_address_that_the_person_does_not_open_leaves_the_call_refused(plain):
    async def elicit(question):
        return ElicitationAnswer(action="decline")

    with pytest.raises(RequestRefused):
        await plain(wishes={"elicit": elicit}).call_tool("url")
