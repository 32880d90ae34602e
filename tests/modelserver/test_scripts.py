"""Which answer a request gets: by turn, or because it matches."""

import json

import pytest

from everturn.modelserver import Model, ModelServer, calls, say, script, text, thinking, when

TOOLS = [{"name": "Read", "input_schema": {"type": "object"}}]
ROUND = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "of a file"}]},
]


async def said(client, url, body) -> str:
    reply = await client.post(url, body)
    return reply.json["content"][0]["text"] if reply.status == 200 else reply.json["error"]["message"]


async def test_answers_come_in_turn_and_the_last_repeats(client, ask):
    async with ModelServer(["one", "two"]) as server:
        assert [await said(client, server.url, ask()) for _ in range(4)] == ["one", "two", "two", "two"]


async def test_running_out_of_answers_can_be_an_error(client, ask):
    async with ModelServer(script("one", at_end="error")) as server:
        assert [await said(client, server.url, ask()) for _ in range(2)] == [
            "one",
            "The script has no answer left: it holds 1, this is request 2.",
        ]


async def test_a_script_without_an_answer_says_so(client, ask):
    async with ModelServer(script(when("yes", messages=2))) as server:
        assert await said(client, server.url, ask()) == "The script has no answer left: it holds 0, this is request 1."


MATCHES = [
    ({"model": "claude-opus-5"}, {"model": "claude-opus-5"}, {}),
    ({"last_user_contains": "ell"}, {}, {"prompt": "Good bye"}),
    ({"last_user_matches": r"^H\w+$"}, {}, {"prompt": "Oh, Hello"}),
    ({"system_contains": "concise"}, {"system": [{"type": "text", "text": "Be concise."}]}, {"system": "Be long."}),
    ({"has_tool_result": True}, {"prompt": ROUND, "tools": TOOLS}, {}),
    ({"has_tool_result": False}, {}, {"prompt": ROUND, "tools": TOOLS}),
    ({"tool_result_of": "Read"}, {"prompt": ROUND, "tools": TOOLS}, {}),
    ({"tool_result_contains": "file"}, {"prompt": ROUND, "tools": TOOLS}, {}),
    ({"offers_tool": "Read"}, {"tools": TOOLS}, {}),
    ({"messages": 3}, {"prompt": ROUND, "tools": TOOLS}, {}),
    ({"stream": False}, {}, None),
    ({"model": "claude-opus-4-8", "messages": 1}, {}, {"model": "claude-opus-5"}),
]


@pytest.mark.parametrize(("conditions", "fits", "fits_not"), MATCHES, ids=lambda value: str(value)[:40])
async def test_a_request_that_matches_gets_its_own_answer(conditions, fits, fits_not, client, ask):
    async with ModelServer(script("other", when("own", **conditions))) as server:
        assert await said(client, server.url, ask(**fits)) == "own"
        if fits_not is not None:
            assert await said(client, server.url, ask(**fits_not)) == "other"


async def test_a_match_has_its_own_sequence_and_may_pass_on(client, ask):
    played = script(
        "main one",
        "main two",
        when("a", "b", last_user_contains="sum", at_end="pass"),
        when("c", last_user_contains="sum"),
    )
    async with ModelServer(played) as server:
        prompts = ["sum", "hello", "sum", "sum", "hello", "sum"]
        assert [await said(client, server.url, ask(prompt)) for prompt in prompts] == [
            "a",
            "main one",
            "b",
            "c",
            "main two",
            "c",
        ]


async def test_a_refused_request_uses_up_no_answer(client, ask):
    async with ModelServer(["one", "two"]) as server:
        refused = await said(client, server.url, ask(model="nobody"))
        assert [refused, await said(client, server.url, ask())] == ["model: nobody", "one"]


async def test_counting_tokens_uses_up_no_answer(client, ask):
    async with ModelServer(["one", "two"]) as server:
        body = {key: value for key, value in ask().items() if key != "max_tokens"}
        await client.post(server.url, body, path="/v1/messages/count_tokens")
        assert await said(client, server.url, ask()) == "one"
        assert [received.path for received in server.requests] == ["/v1/messages/count_tokens", "/v1/messages"]
        assert len(server.asked()) == 1


async def test_a_function_can_make_the_answer(client, ask):
    async with ModelServer([lambda asked: f"You said {asked.last_user_text}."]) as server:
        assert await said(client, server.url, ask("this")) == "You said this."


async def test_a_function_that_raises_is_told_to_the_client(client, ask):
    async with ModelServer([lambda asked: text(asked.body["nothing"])]) as server:
        assert await said(client, server.url, ask()) == "The script raised KeyError: 'nothing'"


async def test_a_script_can_be_put_on_while_the_server_runs(client, ask):
    async with ModelServer(["one"]) as server:
        first = await said(client, server.url, ask())
        server.play(["two"])
        assert [first, await said(client, server.url, ask())] == ["one", "two"]


async def test_without_strictness_anything_is_answered(client, ask):
    async with ModelServer(script("yes", strict=False)) as server:
        for body in (ask(model="m", strange=1), {}, [], b"no json", b"[" * 100_000):
            reply = await client.post(server.url, body, headers={})
            assert (reply.status, reply.json["content"]) == (200, [{"type": "text", "text": "yes"}])


async def test_a_script_serves_models_of_its_own(client, ask):
    own = Model(id="small", window=10, max_output=50)
    async with ModelServer(script("yes", models=[own])) as server:
        assert await said(client, server.url, ask("x" * 20, model="small", max_tokens=50)) == "yes"
        assert (
            await said(client, server.url, ask("x" * 40, model="small", max_tokens=50))
            == "prompt is too long: 13 tokens > 10 maximum"
        )
        assert await said(client, server.url, ask()) == "yes"
    async with ModelServer(script("yes", models="any")) as server:
        assert await said(client, server.url, ask(model="whatever")) == "yes"


async def test_a_whole_conversation_with_tools_is_accepted(client, ask):
    """What the server says can be sent back to it: ids, pairs and signatures hold."""
    answer = say(thinking("Read it."), "I look.", calls(("Read", {"file_path": "a"}), ("Read", {"file_path": "b"})))
    async with ModelServer([answer]) as server:
        messages = [{"role": "user", "content": "Hello"}]
        for _ in range(3):
            reply = await client.post(server.url, ask(messages, tools=TOOLS, thinking={"type": "adaptive"}))
            assert reply.status == 200, reply.body
            content = reply.json["content"]
            results = [
                {"type": "tool_result", "tool_use_id": part["id"]} for part in content if part["type"] == "tool_use"
            ]
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
        assert json.loads(server.requests[-1].raw) == server.requests[-1].body
