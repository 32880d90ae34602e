"""The vendor's client as an independent judge: it reads what the server writes, streamed and whole."""

import pytest
from anthropic import (
    APIStatusError,
    AsyncAnthropic,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    beta_async_tool,
)

from everturn.modelserver import (
    ModelServer,
    broken,
    calls,
    error,
    overloaded,
    pause,
    redacted,
    refusal,
    say,
    text,
    thinking,
    truncated,
)

MODEL = "claude-opus-4-8"
PROMPT = [{"role": "user", "content": "Hello"}]
TOOLS = [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}]


def client_of(server: ModelServer, case: str = "") -> AsyncAnthropic:
    return AsyncAnthropic(api_key="sk-test", base_url=server.url_of(case), max_retries=0)


ANSWERS = {
    "text": text("Hello there, how are you?", chunk=4),
    "thinking and calls": say(
        thinking("Look."), "I look.", calls(("Read", {"file_path": "/a", "deep": {"list": [1, "é"]}}))
    ),
    "redacted": say(redacted(), "Hello"),
    "refusal": refusal(category="cyber", explanation="No."),
    "truncated": truncated("Once upon"),
    "pause": pause(),
}


def comparable(message) -> dict:
    """All but the ids, which differ from request to request."""
    dumped = message.model_dump(
        exclude={"id": True, "content": {"__all__": {"id", "parsed_output"}}}, exclude_none=True
    )
    return dumped | {"usage": {key: dumped["usage"][key] for key in ("input_tokens", "output_tokens")}}


@pytest.mark.parametrize("name", ANSWERS)
async def test_the_sdk_reads_the_same_message_streamed_and_whole(name):
    async with ModelServer([ANSWERS[name]]) as server, client_of(server) as client:
        whole = await client.messages.create(model=MODEL, max_tokens=1000, messages=PROMPT, tools=TOOLS)
        async with client.messages.stream(model=MODEL, max_tokens=1000, messages=PROMPT, tools=TOOLS) as stream:
            streamed = await stream.get_final_message()
    assert comparable(streamed) == comparable(whole)
    assert whole._request_id.startswith("req_")


async def test_the_sdk_holds_a_conversation_with_tools():
    answers = [say(thinking("Look."), calls(("Read", {"file_path": "/a"}))), text("Done.")]
    async with ModelServer(cases={"talk": answers}) as server, client_of(server, "talk") as client:
        first = await client.messages.create(model=MODEL, max_tokens=1000, messages=PROMPT, tools=TOOLS)
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "x"}
            for block in first.content
            if block.type == "tool_use"
        ]
        messages = [
            *PROMPT,
            {"role": "assistant", "content": [block.to_dict() for block in first.content]},
            {"role": "user", "content": results},
        ]
        second = await client.messages.create(model=MODEL, max_tokens=1000, messages=messages, tools=TOOLS)
    assert (first.stop_reason, second.content[0].text) == ("tool_use", "Done.")


async def test_the_sdk_understands_the_errors():
    async with ModelServer([overloaded(), error(500)]) as server, client_of(server) as client:
        with pytest.raises(APIStatusError) as caught:
            await client.messages.create(model=MODEL, max_tokens=10, messages=PROMPT)
        assert (caught.value.status_code, caught.value.body["error"]["type"]) == (529, "overloaded_error")
        with pytest.raises(InternalServerError):
            await client.messages.create(model=MODEL, max_tokens=10, messages=PROMPT)
        with pytest.raises(NotFoundError, match="model: nobody"):
            await client.messages.create(model="nobody", max_tokens=10, messages=PROMPT)
        with pytest.raises(BadRequestError, match="at least one message is required"):
            await client.messages.create(model=MODEL, max_tokens=10, messages=[])


async def test_the_sdk_sees_an_error_in_mid_stream():
    async with ModelServer([broken("Hello there")]) as server, client_of(server) as client:
        with pytest.raises(APIStatusError, match="overloaded_error"):
            async with client.messages.stream(model=MODEL, max_tokens=10, messages=PROMPT) as stream:
                await stream.get_final_message()


async def test_the_sdk_counts_tokens_and_lists_models():
    async with ModelServer(["Hello"]) as server, client_of(server) as client:
        count = await client.messages.count_tokens(model=MODEL, messages=PROMPT)
        models = [model async for model in client.models.list(limit=5)]
        one = await client.models.retrieve(MODEL)
    assert count.input_tokens == 5
    assert one in models
    assert (one.max_input_tokens, one.max_tokens, one.capabilities.thinking.types.adaptive.supported) == (
        1_000_000,
        128_000,
        True,
    )


LOST = error(404, message="Gone.", details={"error_code": "thread_not_found"})
UNTHREADED = error(400, message="Not here.", details={"error_code": "thread_unsupported_request"})
BOTH = say(thinking("I need both."), calls(("get_weather", {"location": "Paris"}), ("get_time", {"zone": "CET"})))


def seen(ask):
    return f"{len(ask.messages)} messages, {len(ask.tools)} tools."


RUNS = {
    "held": ([BOTH, seen], ["create", "continue"]),
    "lost": ([BOTH, LOST, seen], ["create", "continue", "create"]),
    "not to be had": ([UNTHREADED, BOTH, seen], ["create", None, None]),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", RUNS)
async def test_the_sdks_tool_runner_finishes_whether_its_thread_is_held_or_not(name, stream):
    """Where it is not, the runner sends the whole conversation again."""
    ran = []

    @beta_async_tool
    async def get_weather(location: str) -> str:
        """The weather in a place."""
        ran.append(location)
        return "sunny"

    @beta_async_tool
    async def get_time(zone: str) -> str:
        """The time in a zone."""
        ran.append(zone)
        return "12:00"

    answers, threads = RUNS[name]
    async with ModelServer(answers) as server, client_of(server) as client:
        runner = client.beta.messages.tool_runner(
            model=MODEL,
            max_tokens=1000,
            system="Be brief.",
            tools=[get_weather, get_time],
            messages=PROMPT,
            stream=stream,
        )
        said = [await each.get_final_message() if stream else each async for each in runner]
        sent = [(received.body.get("thread") or {}).get("type") for received in server.asked()]
    assert [[block.type for block in message.content] for message in said] == [
        ["thinking", "tool_use", "tool_use"],
        ["text"],
    ]
    assert (said[-1].content[0].text, sorted(ran), sent) == ("3 messages, 2 tools.", ["CET", "Paris"], threads)
