"""The tool Read as the model and the gate see it; `look` does the work."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from everturn.core.limits import Limits
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.input_corrections import settle_read

LINES = 2_000
LINE_LENGTH = 2_000
RESULT_LIMIT = 100_000
"""A page with its line numbers stays below: what the engine cuts was not read."""


class ReadInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(min_length=1, description="Path of the file, absolute or in the working folder")]
    offset: Annotated[int, Meta(ge=1, description="First line to read, from 1")] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, description=f"How many lines to read, {LINES} if left out")] | UnsetType = UNSET
    pages: Annotated[str, Meta(description='Pages of a PDF, such as "3" or "1-5"; at most 20')] | UnsetType = UNSET


def read_tool(most_tokens: int = Limits().read_tokens) -> FunctionTool:
    @tool(
        name="Read",
        reads_only=True,
        concurrent=True,
        access=Access.READ,
        settle=settle_read,
        result_limit=max(RESULT_LIMIT, most_tokens * 4),
        line=_line,
        description=f"""Reads a file and shows its lines with their numbers (number, tab, text).

Up to {LINES} lines and {most_tokens} tokens at a time, each line cut at {LINE_LENGTH} characters; use `offset` and `limit` for
other parts (a part that is larger is refused). Pictures are shown. Of a PDF with more than 10 pages give `pages`. Notebooks (.ipynb) are shown as cells with
their outputs; there `offset` and `limit` count cells.
Read a file before you change it. Folders are not read: list them with Glob. Several files can be read at once.""",
    )
    async def read(call: ReadInput, context: ToolContext) -> ToolResult:
        from everturn.tools.read.look import run_read

        return await asyncio.to_thread(run_read, call, context, most_tokens)

    return read


def asks_for_all(call: ReadInput) -> bool:
    return call.offset is UNSET and call.limit is UNSET and not call.pages


def span_of(call: ReadInput) -> tuple[int, int]:
    """The first line, and how many."""
    return 1 if call.offset is UNSET else call.offset, LINES if call.limit is UNSET else call.limit


def _line(call: ReadInput) -> str:
    if call.pages:
        return f"Read {call.file_path} (pages {call.pages})"
    if asks_for_all(call):
        return f"Read {call.file_path}"
    first, count = span_of(call)
    return f"Read {call.file_path} (lines {first}–{first + count - 1})"  # noqa: RUF001 - a range
