"""The four tools of a simulated day: they answer what the work says, and touch nothing."""

from collections.abc import Callable
from typing import Any

import msgspec

from bench.day.texts import write
from everturn.core.errors import ToolFault
from everturn.ports.tool import Tool
from everturn.tools.definition.decorator import FunctionTool

TOLD = 4_000
"""Characters of a description."""

Answer = Callable[[str], tuple[str, bool]]
"""From a target to its result, and whether that is an error."""


def make_tools(answer: Answer) -> list[Tool]:
    def look(target: str) -> str:
        text, failed = answer(target)
        if failed:
            raise ToolFault(text)
        return text

    async def read(file_path: str) -> str:
        return look(file_path)

    async def run(command: str) -> str:
        return look(command)

    async def find(pattern: str) -> str:
        return look(pattern)

    async def change(file_path: str, old_string: str, new_string: str) -> str:
        del old_string, new_string
        return look(file_path)

    functions: dict[str, Callable[..., Any]] = {"Read": read, "Bash": run, "Grep": find, "Edit": change}
    return [
        FunctionTool(
            function, name=name, description=write(TOLD, at), reads_only=name in {"Read", "Grep"}, result_limit=100_000
        )
        for at, (name, function) in enumerate(functions.items())
    ]


def encode_tools() -> tuple[bytes, ...]:
    tools = make_tools(lambda target: (target, False))
    return tuple(
        msgspec.json.encode({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
        for tool in tools
    )


SCHEMAS = encode_tools()
