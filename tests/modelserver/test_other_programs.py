"""Other people's programs talk to the model server: clients that nobody wrote for it are served as the API serves them."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.shelf import find_node_modules, find_python, run

from everturn.modelserver import ModelServer, calls, say, script, text, thinking, when

PROGRAMS = Path(__file__).parent / "programs"
JAVASCRIPT_SDK = ("@anthropic-ai/sdk@1.10.0", "zod@4.6.7")
FRAMEWORKS = ("pydantic-ai-slim[anthropic]==2.66.0", "langchain-anthropic==1.7.7")
BOTH = calls(("get_weather", {"location": "Paris"}), ("get_time", {"zone": "CET"}))
PERSON = {"name": "Ann", "age": 3}


@pytest.fixture
async def server():
    played = script(
        when(say(thinking("I need both."), "I look.", BOTH), last_user_contains="weather"),
        when(lambda ask: f"{len(ask.messages)} messages, {len(ask.tools)} tools.", has_tool_result=True),
        when(json.dumps(PERSON), last_user_contains="JSON"),
        text("Hello there.", chunk=5),
    )
    async with ModelServer(played) as server:
        yield server


async def tell(server, *command, cwd):
    """What the program prints; meanwhile the server runs in this process."""
    told = await asyncio.to_thread(run, *command, cwd=cwd, MODEL_SERVER=server.url)
    return json.loads(told)


def find_frameworks():
    return find_python("frameworks-1", *FRAMEWORKS)


@pytest.mark.needs("Node")
async def test_the_vendors_javascript_sdk_runs_its_tools_streams_parses_and_counts(server, tmp_path):
    folder = await asyncio.to_thread(find_node_modules, "javascript-sdk-1", *JAVASCRIPT_SDK)
    program = tmp_path / "runner.mjs"
    program.write_text((PROGRAMS / "runner.mjs").read_text("utf-8"), "utf-8")
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")

    told = await tell(server, "node", program, cwd=tmp_path)

    assert told == {
        "runner": [["thinking", "text", "tool_use", "tool_use"], ["text"]],
        "streaming_runner": ["tool_use", "text"],
        "ran": ["Paris", "CET", "Paris", "CET"],
        "stream": ["Hello there.", "end_turn"],
        "parsed": PERSON,
        "counted": 5,
        "model": "Claude Opus 5.5",
        "refused": ["NotFoundError", 404],
    }
    threads = [received.body.get("thread", {}).get("type") for received in server.asked()]
    assert threads == ["create", "continue", "create", "continue", None, None, None]
    assert [received.refused for received in server.asked()] == [None] * 6 + ["model-known"]


async def test_pydantic_ai_runs_its_tools_streams_and_parses(server, tmp_path):
    python = await asyncio.to_thread(find_frameworks)

    told = await tell(server, python, PROGRAMS / "pydantic_agent.py", cwd=tmp_path)

    assert told == {
        "parts": [
            *("SystemPromptPart", "UserPromptPart"),
            *("ThinkingPart", "TextPart", "ToolCallPart", "ToolCallPart"),
            *("ToolReturnPart", "ToolReturnPart"),
            "TextPart",
        ],
        "answer": "3 messages, 2 tools.",
        "ran": ["CET", "Paris"],
        "streamed": "Hello there.",
        "parsed": PERSON,
    }
    assert [received.refused for received in server.asked()] == [None] * 4


async def test_langchain_runs_its_tools_streams_parses_and_counts(server, tmp_path):
    python = await asyncio.to_thread(find_frameworks)

    told = await tell(server, python, PROGRAMS / "langchain_chat.py", cwd=tmp_path)

    assert told == {
        "answer": "3 messages, 2 tools.",
        "tokens": told["tokens"],
        "ran": ["Paris", "CET"],
        "streamed": "Hello there.",
        "parsed": PERSON,
        "counted": 5,
    }
    assert told["tokens"] > 0
    assert [received.refused for received in server.asked()] == [None] * 4
