"""Threads: the server holds a conversation, and a request brings only what is new."""

import pytest
from tests.modelserver.conftest import HEADERS

from everturn.modelserver import ModelServer, calls, cut, overloaded, pause, say, script, text, thinking

THREADED = HEADERS | {"anthropic-beta": "message-threads-2026-08-12"}
TOOLS = [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}]
LONG = [{"type": "text", "text": "x" * 8000, "cache_control": {"type": "ephemeral"}}]


class Talk:
    """A client that keeps nothing but the id of the last answer."""

    def __init__(self, client, url, ask):
        self.client, self.url, self.ask = client, url, ask
        self.last = None

    async def say(self, content, *, last=None, **fields):
        identity = last or self.last
        thread = {"type": "continue", "previous_message_id": identity} if identity else {"type": "create"}
        messages = content if isinstance(content, list) else [{"role": "user", "content": content}]
        reply = await self.client.post(self.url, self.ask(messages, thread=thread, **fields), headers=THREADED)
        if reply.headers["content-type"] == "application/json" and reply.status == 200:
            self.last = reply.json["id"]
        return reply


@pytest.fixture
def talk(client, ask):
    return lambda server: Talk(client, server.url, ask)


def seen(ask):
    """What the model is asked, whole."""
    return f"{[message['role'] for message in ask.messages]} {len(ask.tools)} {ask.body.get('system')}"


def words(reply):
    return reply.json["content"][0]["text"]


def code(reply):
    return (reply.status, reply.json["error"]["type"], reply.json["error"]["details"]["error_code"])


async def test_a_continuation_is_answered_from_the_whole_conversation(talk):
    async with ModelServer([seen]) as server:
        chat = talk(server)
        first = await chat.say("Hello", system="Be brief.", tools=TOOLS)
        second = await chat.say("And now?")
        third = await chat.say("And then?")
        assert words(first) == "['user'] 1 Be brief."
        assert words(second) == "['user', 'assistant', 'user'] 1 Be brief."
        assert words(third) == "['user', 'assistant', 'user', 'assistant', 'user'] 1 Be brief."
        assert [len(received.body["messages"]) for received in server.requests] == [1, 1, 1]
        counts = [reply.json["usage"]["input_tokens"] for reply in (first, second, third)]
        assert counts == sorted(set(counts))


async def test_calls_are_answered_with_their_results_alone_and_thinking_is_held(talk):
    async with ModelServer([say(thinking("Look."), calls(("Read", {}))), seen]) as server:
        chat = talk(server)
        first = await chat.say("Hello", tools=TOOLS)
        results = [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "x"}
            for block in first.json["content"]
            if block["type"] == "tool_use"
        ]
        second = await chat.say([{"role": "user", "content": results}])
    assert words(second) == "['user', 'assistant', 'user'] 1 None"


async def test_a_conversation_stays_when_another_script_is_put_on(talk):
    async with ModelServer(["Hello"]) as server:
        chat = talk(server)
        await chat.say("Hello")
        server.play([seen])
        assert words(await chat.say("And now?")) == "['user', 'assistant', 'user'] 0 None"


async def test_a_paused_turn_is_continued_with_nothing_new(talk):
    async with ModelServer([pause(), seen]) as server:
        chat = talk(server)
        await chat.say("Search.", tools=[{"type": "web_search_20260318", "name": "web_search"}])
        assert words(await chat.say([])) == "['user', 'assistant'] 1 None"


async def test_nothing_is_held_five_minutes_after_the_last_answer(talk):
    now = 0.0
    async with ModelServer(["Hello"], clock=lambda: now) as server:
        chat = talk(server)
        await chat.say("Hello")
        now = 299.0
        assert (await chat.say("And now?")).status == 200
        now = 598.0
        assert (await chat.say("And then?")).status == 200
        now = 899.0
        assert code(await chat.say("Still there?")) == (404, "not_found_error", "thread_not_found")


async def test_an_answer_is_continued_once(talk):
    async with ModelServer(["Hello"]) as server:
        chat = talk(server)
        first = (await chat.say("Hello")).json["id"]
        await chat.say("And now?")
        again = await chat.say("And now?", last=first)
    assert code(again) == (400, "invalid_request_error", "thread_already_continued")


async def test_a_continuation_that_failed_can_be_sent_again(talk):
    async with ModelServer(["Hello", overloaded(), cut("Hello there"), seen]) as server:
        chat = talk(server)
        first = (await chat.say("Hello")).json["id"]
        assert (await chat.say("And now?")).status == 529
        assert (await chat.say("And now?", stream=True)).kinds[-1] == "content_block_delta"
        assert words(await chat.say("And now?", last=first)) == "['user', 'assistant', 'user'] 0 None"


async def test_a_request_has_its_four_marks_for_itself_and_reads_what_earlier_ones_wrote(talk):
    async with ModelServer(script("Hello", min_cacheable=0)) as server:
        chat = talk(server)
        used = [(await chat.say([{"role": "user", "content": LONG}])).json["usage"] for _ in range(6)]
    assert [usage["cache_read_input_tokens"] for usage in used] == [0, 2003, 4011, 6019, 8027, 10_035]


async def test_without_a_thread_an_answer_is_not_held(client, ask):
    async with ModelServer([text("Hello", id="msg_1")]) as server:
        await client.post(server.url, ask(), headers=THREADED)
        thread = {"type": "continue", "previous_message_id": "msg_1"}
        assert code(await client.post(server.url, ask(thread=thread), headers=THREADED)) == (
            404,
            "not_found_error",
            "thread_not_found",
        )
