"""The yardstick: a small agent loop on the vendor's SDK, with a shell tool and a journal."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anthropic

TOOLS: Any = [
    {
        "name": "Bash",
        "description": "Runs a command in bash and returns its output.",
        "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    }
]


def run_bash(command: str) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def main(prompt: str) -> None:
    client = anthropic.Anthropic()
    messages: list[Any] = []
    with Path(os.environ["BENCH_JOURNAL"]).open("a") as journal:

        def add(role: str, content: Any) -> None:
            messages.append({"role": role, "content": content})
            journal.write(json.dumps(messages[-1]) + "\n")
            journal.flush()

        add("user", prompt)
        while True:
            with client.messages.stream(
                model="claude-sonnet-5", max_tokens=8_000, tools=TOOLS, messages=messages
            ) as stream:
                answer = stream.get_final_message()
            add("assistant", [block.to_dict() for block in answer.content])
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                break
            results = [(call.id, run_bash(str(call.input["command"]))) for call in calls]
            add("user", [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results])
    print("".join(block.text for block in answer.content if block.type == "text"))


if __name__ == "__main__":
    main(sys.argv[1])
