"""The Grep tool: plans a search, hands it to an engine, then sorts, cuts and renders what came."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from everturn.core.errors import ToolFault
from everturn.core.hiding import Hiding
from everturn.ports.abort import AbortSignal
from everturn.ports.sandbox import Holder
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.found_files import Names, sort_newest
from everturn.tools.grep.filetypes import TYPES, is_of_type
from everturn.tools.grep.holding import HeldSearch, Hold
from everturn.tools.grep.program import UnusableError
from everturn.tools.grep.query import FileMatches, FoundLine, GrepInput, Matches, Query, plan_query
from everturn.tools.input_corrections import place_globs, settle_grep
from everturn.tools.result_types import GrepShown
from everturn.workspace.files import exists, explain_failure
from everturn.workspace.opening import refuse_unjudged
from everturn.workspace.paths import locate

_LINE_LENGTH = 500
_RESULT_LIMIT = 50_000

SearchEngine = Callable[[Query, AbortSignal, Hold | None], Awaitable[Matches]]
Row = tuple[FileMatches, FoundLine | None]
"""What limit and offset count: a file, a line of it, or, in mode `content`, the gap before its next line."""


def grep_tool(holder: Holder | None = None) -> FunctionTool:
    """`holder` holds the program that searches."""

    @tool(
        name="Grep",
        reads_only=True,
        concurrent=True,
        access=Access.READ,
        settle=settle_grep,
        result_limit=_RESULT_LIMIT,
        line=_line,
        description="""Searches the content of files with a regular expression; ignored and binary files are left out.

By default it names the files, newest first. `output_mode` "content" shows the lines, "count" how many match in each
file. Narrow it with `path`, `glob` or `type`; page with `head_limit` and `offset`. Escape literal braces and dots.""",
    )
    async def grep(call: GrepInput, context: ToolContext) -> ToolResult:
        return await run_grep(call, context, choose_engine(context.folders), holder)

    return grep


async def run_grep(
    call: GrepInput, context: ToolContext, engine: SearchEngine, holder: Holder | None = None
) -> ToolResult:
    query = _locate_query(call, context.folder)
    judged = context.judged
    place = _place_of(query)
    refuse_unjudged(place, judged)
    search = HeldSearch(holder, place, context.folders)
    found = _of_type(query, await engine(query, context.abort, search.hold))
    search.check()
    if judged is not None:
        # It was held to what was judged; who swapped that meanwhile is told so.
        refuse_unjudged(locate(context.folder, call.path), judged)
        found = _without(query, found, judged.hides) if judged.hides else found
    return await asyncio.to_thread(render_matches, call, query, found, context.folder, context.hiding)


def choose_engine(folders: tuple[str, ...]) -> SearchEngine:
    """That of ripgrep, where there is one outside of the working folders."""
    from everturn.tools.grep.ripgrep import find_ripgrep, run_ripgrep

    if program := find_ripgrep(folders):
        return partial(_run_either, partial(run_ripgrep, program), folders)
    from everturn.tools.grep.python_engine import run_python

    return partial(run_python, folders=folders)


async def _run_either(
    first: SearchEngine, folders: tuple[str, ...], query: Query, abort: AbortSignal, hold: Hold | None
) -> Matches:
    """The engine that is always there, where the first does not work as it is started here."""
    try:
        return await first(query, abort, hold)
    except UnusableError:
        from everturn.tools.grep.python_engine import run_python

        return await run_python(query, abort, hold, folders=folders)


def _of_type(query: Query, found: Matches) -> Matches:
    """Both engines let a glob overrule the type; to us they both must hold."""
    if query.type is None or not query.globs or query.file is not None:
        return found
    kind = query.type
    return Matches(files=tuple(file for file in found.files if is_of_type(kind, file.path)), complete=found.complete)


def _without(query: Query, found: Matches, hides: Callable[[str], bool]) -> Matches:
    """Files that may not be read are left out as if they were not there."""
    prefix = f"{query.root.rstrip('/')}/"
    return Matches(files=tuple(file for file in found.files if not hides(prefix + file.path)), complete=found.complete)


def _place_of(query: Query) -> str:
    return query.root if query.file is None else f"{query.root.rstrip('/')}/{query.file}"


def _locate_query(call: GrepInput, folder: str) -> Query:
    if not call.multiline and re.search(r"\n|(?<!\\)(?:\\\\)*\\n", call.pattern):
        raise ToolFault("The pattern holds a line end. Set `multiline` to match across lines.")
    if call.glob and call.type and call.type not in TYPES:
        raise ToolFault(f"The type {call.type!r} does not go with `glob`. Known are {', '.join(TYPES)}.")
    place = locate(folder, call.path)
    if f"{place}/".startswith("/proc/"):
        raise ToolFault("/proc is not searched: it holds the environments of processes, and their keys.")
    if not exists(place):
        raise explain_failure(FileNotFoundError(), place)
    path = Path(place)
    if path.is_dir():
        query = plan_query(call, place, None)
        return replace(query, globs=place_globs(query.globs, place))
    if not path.is_file():
        raise ToolFault(f"{place} is neither a file nor a folder.")
    return plan_query(call, str(path.parent), path.name)


def render_matches(
    call: GrepInput, query: Query, found: Matches, folder: str, hiding: Hiding | None = None
) -> ToolResult:
    """Sorts all, names only what is shown: there may be many thousands."""
    files = _sort(query, found.files)
    rows = _rows(query, files)
    page = list(islice(rows, call.offset, call.offset + call.head_limit if call.head_limit else None))
    total = call.offset + len(page) + sum(1 for _ in rows) if page else _count(query, files)
    names = Names(folder, query.root)
    hide = (hiding or Hiding()).hide
    texts = [_text(call, names.of(file.path), file, line, hide) for file, line in page]
    shown_names = tuple(dict.fromkeys(names.of(file.path) for file, _ in page))
    is_cut = call.offset + len(page) < total
    lists_files = call.output_mode == "files_with_matches"
    return ToolResult(
        content=_content(call, found, texts, total),
        shown=GrepShown(
            mode=call.output_mode,
            num_files=len(shown_names),
            filenames=shown_names if lists_files else (),
            content=None if lists_files else "\n".join(texts),
            num_lines=len(page) if call.output_mode == "content" else None,
            num_matches=sum(file.count for file in files) if call.output_mode == "count" else None,
            total_files=len(files) if is_cut else None,
            total_lines=total if is_cut and call.output_mode == "content" else None,
            applied_limit=call.head_limit if is_cut else None,
            applied_offset=call.offset or None,
        ),
    )


def _sort(query: Query, files: tuple[FileMatches, ...]) -> list[FileMatches]:
    """Names are a choice of what to look at: the newest first. Lines and counts are read: by path."""
    if query.mode == "files_with_matches":
        return sort_newest(query.root, files, lambda file: file.path)
    return sorted(files, key=lambda file: file.path)


def _rows(query: Query, files: list[FileMatches]) -> Iterator[Row]:
    if query.mode != "content":
        yield from ((file, None) for file in files)
        return
    gaps = bool(query.before or query.after)
    begun = False
    for file in files:
        last = None
        for line in file.lines:
            if gaps and begun and last != line.number - 1:
                yield file, None
            yield file, line
            begun, last = True, line.number


def _count(query: Query, files: list[FileMatches]) -> int:
    return sum(1 for _ in _rows(query, files))


def _text(call: GrepInput, name: str, file: FileMatches, line: FoundLine | None, hide: Callable[[str], str]) -> str:
    match call.output_mode:
        case "files_with_matches":
            return name
        case "count":
            return f"{name}:{file.count}"
        case _ if line is None:
            return "--"
    mark = ":" if line.matched else "-"
    shown = line.text if len(line.text) <= _LINE_LENGTH else f"{hide(line.text)[:_LINE_LENGTH]}… (line cut)"
    return f"{name}{mark}{line.number}{mark}{shown}" if call.numbers else f"{name}{mark}{shown}"


def _content(call: GrepInput, found: Matches, texts: list[str], total: int) -> str:
    partial = "(There was more than could be read. Narrow the search.)"
    if not total:
        return "No matches found." if found.complete else f"No matches found so far.\n{partial}"
    if not texts:
        return f"No entries at this offset; there are {total}."
    notes = []
    if call.output_mode == "count":
        matches, files = sum(file.count for file in found.files), len(found.files)
        notes.append(f"({matches} match{'es' * (matches > 1)} in {files} file{'s' * (files > 1)}.)")
    last = call.offset + len(texts)
    if last < total:
        notes.append(f"({call.offset + 1} to {last} of {total}. Go on with offset={last}, or narrow the search.)")
    if not found.complete:
        notes.append(partial)
    return "\n".join([*texts, *notes])


def _line(call: GrepInput) -> str:
    place = f" in {call.path}" if call.path != "." else ""
    return f"Grep {call.pattern}{place}"
