"""The floor: an agent loop on bare h11, with each message encoded once, a shell tool and a journal."""

import asyncio
import os
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import h11
import msgspec

BASH = {
    "name": "Bash",
    "description": "Runs a command in bash and returns its output.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


class Wire:
    """One connection, kept for the whole session."""

    async def open(self, base_url: str) -> None:
        self.url = urlsplit(base_url)
        context = ssl.create_default_context() if self.url.scheme == "https" else None
        self.reader, self.writer = await asyncio.open_connection(self.url.hostname, self.url.port, ssl=context)
        self.http = h11.Connection(h11.CLIENT)

    async def ask(self, body: bytes) -> list[dict[str, Any]]:
        headers = {
            "host": self.url.netloc,
            "x-api-key": os.environ["ANTHROPIC_API_KEY"],
            "anthropic-version": "2023-06-01",
            "content-type": "application/json",
            "content-length": str(len(body)),
        }
        head = self.http.send(
            h11.Request(method="POST", target=f"{self.url.path}/v1/messages", headers=[*headers.items()])
        )
        self.http.send(h11.Data(data=body))
        self.http.send(h11.EndOfMessage())
        self.writer.write((head or b"") + body)
        blocks: list[dict[str, Any]] = []
        parts: list[str] = []
        rest = b""
        while not isinstance(event := self.http.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                self.http.receive_data(await self.reader.read(65_536))
            elif isinstance(event, h11.Data):
                *lines, rest = (rest + bytes(event.data)).split(b"\n")
                for line in lines:
                    if line.startswith(b"data:"):
                        fold(msgspec.json.decode(line[5:]), blocks, parts)
        self.http.start_next_cycle()
        return blocks


def fold(event: dict[str, Any], blocks: list[dict[str, Any]], parts: list[str]) -> None:
    match event["type"]:
        case "content_block_start":
            blocks.append(event["content_block"])
            parts.clear()
        case "content_block_delta":
            delta = event["delta"]
            parts.append(delta["text"] if delta["type"] == "text_delta" else delta["partial_json"])
        case "content_block_stop" if blocks[-1]["type"] == "text":
            blocks[-1]["text"] = "".join(parts)
        case "content_block_stop":
            blocks[-1]["input"] = msgspec.json.decode("".join(parts) or "{}")


async def converse(
    prompt: str, tool: dict[str, Any], run: Callable[[dict[str, Any]], str], base_url: str, journal_path: Path
) -> str:
    wire = Wire()
    await wire.open(base_url)
    encoded: list[bytes] = []
    settings = {"model": "claude-sonnet-5", "max_tokens": 8_000, "stream": True, "tools": [tool]}
    opening = msgspec.json.encode(settings)[:-1] + b',"messages":['
    with journal_path.open("ab", buffering=0) as journal:

        def add(role: str, content: Any) -> None:
            encoded.append(msgspec.json.encode({"role": role, "content": content}))
            journal.write(encoded[-1] + b"\n")

        add("user", prompt)
        while True:
            blocks = await wire.ask(opening + b",".join(encoded) + b"]}")
            add("assistant", blocks)
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                break
            results = [(call["id"], run(call["input"])) for call in calls]
            add("user", [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results])
    wire.writer.close()
    return "".join(block["text"] for block in blocks if block["type"] == "text")


def run_bash(call: dict[str, Any]) -> str:
    done = subprocess.run(
        ["bash", "-c", call["command"]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


if __name__ == "__main__":
    place, kept = os.environ["ANTHROPIC_BASE_URL"], Path(os.environ["BENCH_JOURNAL"])
    print(asyncio.run(converse(sys.argv[1], BASH, run_bash, place, kept)))
