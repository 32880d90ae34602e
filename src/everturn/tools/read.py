"""Read: a page of a text file with line numbers, remembered so that a later change can be refused when it is stale."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from everturn.ports.files import FileState, FileStates
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.define import FunctionTool, tool
from everturn.tools.shown import FilePage, SameFile, TextShown, UnchangedShown
from everturn.workspace.files import read_file
from everturn.workspace.paths import locate
from everturn.workspace.text import FileText

LINES = 2_000
LINE_LENGTH = 2_000
RESULT_LIMIT = 100_000
_NOTICE_ROOM = 1_000
"""A page ends early rather than be cut: what is cut was not read."""


class ReadInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(min_length=1, description="Path of the file, absolute or in the working folder")]
    offset: Annotated[int, Meta(ge=1, description="First line to read, from 1")] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, description=f"How many lines to read, {LINES} if left out")] | UnsetType = UNSET


class Page(msgspec.Struct, frozen=True, kw_only=True):
    numbered: str
    plain: str
    first: int
    count: int
    total: int
    whole: bool
    """Every character of the file is on it."""


def read_tool() -> FunctionTool:
    """One per session: it knows which files it has shown whole."""
    shown = FileStates()

    @tool(
        name="Read",
        reads_only=True,
        concurrent=True,
        access=Access.READ,
        result_limit=RESULT_LIMIT,
        line=_line,
        description=f"""Reads a text file and shows its lines with their numbers (number, tab, text).

Up to {LINES} lines at a time, each cut at {LINE_LENGTH} characters; use `offset` and `limit` for other parts.
Read a file before you change it. Folders are not read: list them with Glob. Several files can be read at once.""",
    )
    async def read(call: ReadInput, context: ToolContext) -> ToolResult:
        path = locate(context.folder, call.file_path)
        file = await asyncio.to_thread(read_file, path)
        before = context.files.get(path)
        known = before is not None and not before.partial and before.stamp.digest == file.stamp.digest
        last = shown.get(path)
        if _asks_for_all(call) and known and last and last.stamp.digest == file.stamp.digest:
            return _unchanged(path)
        page = plan_page(file, *_span(call))
        context.files.remember(path, FileState(stamp=file.stamp, partial=not page.whole and not known))
        if page.whole:
            shown.remember(path, FileState(stamp=file.stamp))
        return ToolResult(content=_render(page), shown=_shown(path, page))

    return read


def plan_page(file: FileText, offset: int, limit: int) -> Page:
    lines = split_lines(file.text)
    wanted = lines[offset - 1 : offset - 1 + limit]
    numbered: list[str] = []
    room = RESULT_LIMIT - _NOTICE_ROOM
    uncut = True
    for number, line in enumerate(wanted, offset):
        uncut = uncut and len(line) <= LINE_LENGTH
        text = f"{number:>6}\t{line if len(line) <= LINE_LENGTH else line[:LINE_LENGTH] + '… (line cut)'}"
        room -= len(text) + 1
        if room < 0:
            break
        numbered.append(text)
    return Page(
        numbered="\n".join(numbered),
        plain="\n".join(wanted[: len(numbered)]),
        first=offset,
        count=len(numbered),
        total=len(lines),
        whole=uncut and len(numbered) == len(lines),
    )


def split_lines(text: str) -> list[str]:
    """At the line feed alone, as compilers and Grep count; a last line without its end is a line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _render(page: Page) -> str:
    if page.total == 0:
        return "(The file exists and is empty.)"
    if page.count == 0:
        return f"(The file has {page.total} lines; line {page.first} is past its end.)"
    last = page.first + page.count - 1
    if last == page.total:
        return page.numbered
    return f"{page.numbered}\n\n(Lines {page.first} to {last} of {page.total}. Go on with offset={last + 1}.)"


def _shown(path: str, page: Page) -> TextShown:
    return TextShown(
        file=FilePage(
            file_path=path,
            content=page.plain,
            num_lines=page.count,
            start_line=page.first,
            total_lines=page.total,
        )
    )


def _unchanged(path: str) -> ToolResult:
    return ToolResult(
        content="(Unchanged since you last read it; what you saw then still holds. Give `offset` to see it again.)",
        shown=UnchangedShown(file=SameFile(file_path=path)),
    )


def _asks_for_all(call: ReadInput) -> bool:
    return call.offset is UNSET and call.limit is UNSET


def _span(call: ReadInput) -> tuple[int, int]:
    return 1 if call.offset is UNSET else call.offset, LINES if call.limit is UNSET else call.limit


def _line(call: ReadInput) -> str:
    if _asks_for_all(call):
        return f"Read {call.file_path}"
    first, limit = _span(call)
    return f"Read {call.file_path} (lines {first}–{first + limit - 1})"  # noqa: RUF001 - a range
