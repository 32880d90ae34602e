"""Many sessions in one process on the vendor's SDK: one client shared, a tool in the process, a journal each."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import anthropic

TOOLS: Any = [
    {
        "name": "double",
        "description": "Doubles a number.",
        "input_schema": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    }
]


async def converse(client: anthropic.AsyncAnthropic, prompt: str, journal_path: Path) -> None:
    messages: list[Any] = []
    with journal_path.open("a") as journal:

        def add(role: str, content: Any) -> None:
            messages.append({"role": role, "content": content})
            journal.write(json.dumps(messages[-1]) + "\n")
            journal.flush()

        add("user", prompt)
        while True:
            async with client.messages.stream(
                model="claude-sonnet-5", max_tokens=8_000, tools=TOOLS, messages=messages
            ) as stream:
                answer = await stream.get_final_message()
            add("assistant", [block.to_dict() for block in answer.content])
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                return
            results = [(call.id, str(int(str(call.input["number"])) * 2)) for call in calls]
            add("user", [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results])


async def main(sessions: int, folder: Path) -> None:
    started = time.perf_counter()
    async with anthropic.AsyncAnthropic() as client:
        await asyncio.gather(*(converse(client, "Double it.", folder / f"{n}.jsonl") for n in range(sessions)))
    print(time.perf_counter() - started)


if __name__ == "__main__":
    journals = Path(os.environ["BENCH_JOURNAL"])
    journals.mkdir()
    asyncio.run(main(int(sys.argv[1]), journals))
