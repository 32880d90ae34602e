"""The Grep tool: plans a search, hands it to an engine, then sorts, cuts and renders what came."""

import asyncio
import os
import re
from pathlib import Path

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.define import FunctionTool, tool
from everturn.tools.grep.filetypes import TYPES, is_of_type
from everturn.tools.grep.query import FileMatches, GrepInput, Matches, Query, plan_query
from everturn.tools.shown import GrepShown
from everturn.workspace.files import exists, explain_failure
from everturn.workspace.paths import locate, shorten

_LINE_LENGTH = 500
_RESULT_LIMIT = 50_000


class Entry(msgspec.Struct, frozen=True):
    """One row of the answer, which limit and offset count."""

    path: str
    text: str


def grep_tool() -> FunctionTool:
    @tool(
        name="Grep",
        reads_only=True,
        concurrent=True,
        access=Access.READ,
        result_limit=_RESULT_LIMIT,
        line=_line,
        description="""Searches the content of files with a regular expression; ignored and binary files are left out.

By default it names the files, newest first. `output_mode` "content" shows the lines, "count" how many match in each
file. Narrow it with `path`, `glob` or `type`; page with `head_limit` and `offset`. Escape literal braces and dots.""",
    )
    async def grep(call: GrepInput, context: ToolContext) -> ToolResult:
        return await run_grep(call, context)

    return grep


async def run_grep(call: GrepInput, context: ToolContext, *, engine: str | None = None) -> ToolResult:
    """`engine`: the program to use, "" for Python; None takes ripgrep where it is installed."""
    query = _locate_query(call, context.folder)
    if engine is None:
        from shutil import which

        engine = which("rg") or ""
    found = _of_type(query, await _search(query, engine, context.abort))
    return await asyncio.to_thread(render_matches, call, query, found, context.folder)


async def _search(query: Query, engine: str, abort: AbortSignal) -> Matches:
    if engine:
        from everturn.tools.grep.ripgrep import run_ripgrep

        return await run_ripgrep(engine, query, abort)
    from everturn.tools.grep.python import run_search

    return await asyncio.to_thread(run_search, query, abort)


def _of_type(query: Query, found: Matches) -> Matches:
    """Both engines let a glob overrule the type; to us they both must hold."""
    if query.type is None or query.glob is None or query.file is not None:
        return found
    kind = query.type
    return Matches(files=tuple(file for file in found.files if is_of_type(kind, file.path)), complete=found.complete)


def _locate_query(call: GrepInput, folder: str) -> Query:
    if not call.multiline and re.search(r"\n|(?<!\\)(?:\\\\)*\\n", call.pattern):
        raise ToolFault("The pattern holds a line end. Set `multiline` to match across lines.")
    if call.glob and call.type and call.type not in TYPES:
        raise ToolFault(f"The type {call.type!r} does not go with `glob`. Known are {', '.join(TYPES)}.")
    place = locate(folder, call.path)
    if not exists(place):
        raise explain_failure(FileNotFoundError(), place)
    path = Path(place)
    if path.is_dir():
        return plan_query(call, place, None)
    if not path.is_file():
        raise ToolFault(f"{place} is neither a file nor a folder.")
    return plan_query(call, str(path.parent), path.name)


def render_matches(call: GrepInput, query: Query, found: Matches, folder: str) -> ToolResult:
    files = _sorted(query, found.files)
    names = {file.path: shorten(folder, str(Path(query.root) / file.path)) for file in files}
    entries = [entry for file in files for entry in _entries(call, file, names[file.path])]
    if call.output_mode == "content" and (query.before or query.after):
        entries = _separated(call, files, names)
    limit = call.head_limit or len(entries)
    page = entries[call.offset : call.offset + limit]
    shown_names = tuple(dict.fromkeys(entry.path for entry in page))
    return ToolResult(
        content=_content(call, query, page, entries, found),
        shown=GrepShown(
            mode=call.output_mode,
            num_files=len(shown_names),
            filenames=shown_names if call.output_mode == "files_with_matches" else (),
            content="\n".join(entry.text for entry in page) if call.output_mode != "files_with_matches" else None,
            num_lines=len(page) if call.output_mode == "content" else None,
            num_matches=sum(file.count for file in files) if call.output_mode == "count" else None,
            applied_limit=call.head_limit if len(entries) > call.offset + limit else None,
            applied_offset=call.offset or None,
        ),
    )


def _sorted(query: Query, files: tuple[FileMatches, ...]) -> list[FileMatches]:
    by_name = sorted(files, key=lambda file: file.path)
    if query.mode != "files_with_matches":
        return by_name
    return sorted(by_name, key=lambda file: -_changed_ns(Path(query.root) / file.path))


def _changed_ns(path: Path) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns  # noqa: PTH116 - one call, thousands of times
    except OSError:
        return 0


def _entries(call: GrepInput, file: FileMatches, name: str) -> list[Entry]:
    match call.output_mode:
        case "files_with_matches":
            return [Entry(name, name)]
        case "count":
            return [Entry(name, f"{name}:{file.count}")]
        case _:
            return [_row(call, name, line.number, line.text, ":" if line.matched else "-") for line in file.lines]


def _separated(call: GrepInput, files: list[FileMatches], names: dict[str, str]) -> list[Entry]:
    """With context, `--` stands between lines that do not follow each other."""
    entries: list[Entry] = []
    last: tuple[str, int] | None = None
    for file in files:
        name = names[file.path]
        for line in file.lines:
            if last is not None and last != (name, line.number - 1):
                entries.append(Entry(name, "--"))
            entries.append(_row(call, name, line.number, line.text, ":" if line.matched else "-"))
            last = (name, line.number)
    return entries


def _row(call: GrepInput, name: str, number: int, text: str, mark: str) -> Entry:
    shown = text if len(text) <= _LINE_LENGTH else f"{text[:_LINE_LENGTH]}… (line cut)"
    place = f"{name}{mark}{number}" if call.numbers else name
    return Entry(name, f"{place}{mark}{shown}")


def _content(call: GrepInput, query: Query, page: list[Entry], entries: list[Entry], found: Matches) -> str:
    if not entries:
        return "No matches found."
    if not page:
        return f"No entries at this offset; there are {len(entries)}."
    notes = []
    if query.mode == "count":
        notes.append(f"({sum(file.count for file in found.files)} matches in {len(found.files)} files.)")
    last = call.offset + len(page)
    if last < len(entries):
        notes.append(
            f"({call.offset + 1} to {last} of {len(entries)}. Go on with offset={last}, or narrow the search.)"
        )
    if not found.complete:
        notes.append("(There was more than could be read. Narrow the search.)")
    return "\n".join([*(entry.text for entry in page), *notes])


def _line(call: GrepInput) -> str:
    place = f" in {call.path}" if call.path != "." else ""
    return f"Grep {call.pattern}{place}"
