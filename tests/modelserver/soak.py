"""litellm's proxy between a client and the model server: `python -m tests.modelserver.soak`.

Not among the tests: it installs 700 MB once and takes the proxy ten seconds to start.
"""

import asyncio
import json
import socket
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from anthropic import AsyncAnthropic, beta_async_tool
from tests.shelf import clean_environment, find_python

from everturn.modelserver import ModelServer, calls, say, script, text, thinking, when

LITELLM = "1.106.2"
MODEL = "claude-opus-5"
KEY = "sk-proxy-0123456789abcdef0123456789"
PATIENCE_S = 300
READY = b"Uvicorn running on"
BOTH = calls(("get_weather", {"location": "Paris"}), ("get_time", {"zone": "CET"}))
PLAYED = script(
    when(say(thinking("I need both."), "I look.", BOTH), last_user_contains="weather"),
    when(lambda ask: f"{len(ask.messages)} messages, {len(ask.tools)} tools.", has_tool_result=True),
    text("Hello there.", chunk=5),
)


def find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@asynccontextmanager
async def proxy_of(server: ModelServer, program: Path, folder: Path):
    """The proxy's own address, once it listens."""
    behind = {"model": f"anthropic/{MODEL}", "api_base": server.url, "api_key": "any"}
    settings = {
        "model_list": [{"model_name": MODEL, "litellm_params": behind}],
        "litellm_settings": {"telemetry": False},
        "general_settings": {"master_key": KEY},
    }
    config = folder / "proxy.yaml"
    config.write_text(json.dumps(settings), "utf-8")
    port = find_port()
    process = await asyncio.create_subprocess_exec(
        *(program, "--config", config, "--host", "127.0.0.1", "--port", str(port)),
        cwd=folder,
        env=clean_environment() | {"HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said = [line async for line in until_ready(process.stdout)]
        assert any(READY in line for line in said), b"".join(said).decode()
        # It goes on talking: nobody may keep it waiting.
        drained = asyncio.create_task(process.stdout.read())
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    await drained


async def until_ready(stream):
    async for line in stream:
        yield line
        if READY in line:
            return


async def ask_the_sdk(url: str) -> None:
    hello = [{"role": "user", "content": "Hello"}]
    async with AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        whole = await client.messages.create(model=MODEL, max_tokens=100, messages=hello)
        async with client.messages.stream(model=MODEL, max_tokens=100, messages=hello) as stream:
            streamed = await stream.get_final_message()
        assert (whole.content[0].text, streamed.content[0].text) == ("Hello there.", "Hello there.")
        assert (await client.messages.count_tokens(model=MODEL, messages=hello)).input_tokens == 5

        @beta_async_tool
        async def get_weather(location: str) -> str:
            """The weather in a place."""
            return f"sunny in {location}"

        @beta_async_tool
        async def get_time(zone: str) -> str:
            """The time in a zone."""
            return f"12:00 {zone}"

        # Without a thread: this proxy leaves `thread` out of what it passes on.
        runner = client.beta.messages.tool_runner(
            model=MODEL,
            max_tokens=1000,
            tools=[get_weather, get_time],
            messages=[{"role": "user", "content": "What weather?"}],
            thread=False,
        )
        said = [[block.type for block in message.content] async for message in runner]
        assert said == [["thinking", "text", "tool_use", "tool_use"], ["text"]]
    print("the vendor's SDK: a message, a stream, a count, two tools")  # noqa: T201 - what it is for


async def ask_everturn(url: str, folder: Path) -> None:
    env = clean_environment() | {"HOME": str(folder), "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "everturn", "-p", "Hello", "--model", MODEL, "--output-format", "json"),
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert (process.returncode, json.loads(out)["result"]) == (0, "Hello there.")
    print("everturn: a prompt")  # noqa: T201 - what it is for


async def ask_all(program: Path, folder: Path) -> None:
    async with asyncio.timeout(PATIENCE_S), ModelServer(PLAYED) as server:
        async with proxy_of(server, program, folder) as url:
            await ask_the_sdk(url)
            await ask_everturn(url, folder)
        assert {received.refused for received in server.requests} == {None}


def main() -> None:
    try:
        python = find_python(f"litellm-{LITELLM}", f"litellm[proxy]=={LITELLM}")
    except pytest.skip.Exception as lack:
        sys.exit(str(lack))
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(ask_all(python.with_name("litellm"), Path(place).resolve()))


if __name__ == "__main__":
    main()
