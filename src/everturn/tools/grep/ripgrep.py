"""The fast engine: finds `rg`, runs it, and reads its answer byte by byte, since names of files need not be text."""

import os
import re
import sys
from functools import lru_cache, partial
from pathlib import Path

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.tools.grep.filetypes import TYPES
from everturn.tools.grep.holding import Hold
from everturn.tools.grep.ignore import has_odd_file, is_in_repository
from everturn.tools.grep.program import UnusableError, run_program
from everturn.tools.grep.query import FileMatches, FoundLine, Matches, Query
from everturn.workspace.programs import find_program

MAX_BYTES = {"files_with_matches": 20_000_000, "count": 20_000_000, "content": 5_000_000}
"""Of an answer, by mode; what is beyond is not read, and that is said."""
_NOTHING, _FAILED = 1, 2
"""rg's exit codes. One that failed may have found something all the same."""
_NUMBERED = re.compile(rb"(\d+)([:-])")


def find_ripgrep(folders: tuple[str, ...] = ()) -> str:
    """The one on the PATH, else the one that was installed with us; never one from a working folder. Empty where there is none."""
    return _find(folders, os.environ.get("PATH", os.defpath))


@lru_cache(maxsize=32)
def _find(folders: tuple[str, ...], path: str) -> str:
    """Once: a program that appears later may be anybody's."""
    beside = os.pathsep.join(dict.fromkeys((str(Path(sys.executable).parent), str(Path(sys.prefix) / "bin"))))
    return find_program("rg", folders, path) or find_program("rg", folders, beside)


async def run_ripgrep(program: str, query: Query, abort: AbortSignal, hold: Hold | None = None) -> Matches:
    """Raises `ToolFault` when the pattern, the glob or the type is wrong, and on abort; `UnusableError` where rg itself does not work."""
    arguments = plan_arguments(query, in_repository=is_in_repository(query.root))
    output = await run_program(
        [program, *arguments],
        query.root,
        abort,
        most_bytes=MAX_BYTES[query.mode],
        hold=hold,
        # It opens ignore files whatever they are, and would wait for ever for somebody to write into a pipe.
        obstacle=partial(has_odd_file, query.root, query.file),
    )
    if output.code > _FAILED or (output.code == _NOTHING and output.problem):
        raise UnusableError(f"The search failed: {output.problem}")
    if output.code == _FAILED and not output.data and output.problem:
        raise ToolFault(f"The search failed: {output.problem}")
    if output.code < 0 and output.complete:
        raise ToolFault(
            "The search was ended by the system: it took too much memory, or crashed. Search a smaller folder."
        )
    # What was cut off in mid-row is no row.
    end = b"\0" if query.mode == "files_with_matches" else b"\n"
    data = output.data if output.complete else output.data[: output.data.rfind(end) + 1]
    return Matches(files=parse_output(data, query), complete=output.complete)


def plan_arguments(query: Query, *, in_repository: bool) -> list[str]:
    arguments = [
        "--no-config",
        "--no-messages",
        "--color=never",
        "--hidden",
        "--no-ignore-global",
        "--null",
    ]
    if not in_repository:
        # Inside one it would let newer versions carry its ignore files into the repositories within it.
        arguments.append("--no-require-git")
    if query.ignore_case:
        arguments.append("--ignore-case")
    # A CRLF is one line end to a search by lines; a match across lines sees the file as it is.
    arguments += ["--multiline", "--multiline-dotall"] if query.multiline else ["--crlf"]
    if query.type:
        # Our own list where we have one: versions of ripgrep differ.
        added = [f"--type-add={query.type}:{name}" for name in TYPES.get(query.type, ())]
        arguments += [*([f"--type-clear={query.type}"] if added else []), *added, f"--type={query.type}"]
    # Later globs win: nothing opens what is closed.
    arguments += [f"--glob={glob}" for glob in (*query.globs, *query.closed)]
    # Each value in the word of its option: no program then takes one that begins with a dash for an option.
    return [*arguments, *_mode_arguments(query), f"--regexp={query.pattern}", "--", query.file or "."]


def parse_output(output: bytes, query: Query) -> tuple[FileMatches, ...]:
    """A NUL ends each path, and the first line end after it ends the row: a path may hold line ends, a row none."""
    if query.mode == "files_with_matches":
        return tuple(FileMatches(path=_path(path)) for path in output.split(b"\0") if path)
    path, *pieces = output.split(b"\0")
    counts: dict[bytes, int] = {}
    lines: dict[bytes, list[FoundLine]] = {}
    for piece in pieces:
        row, _, following = piece.partition(b"\n")
        if query.mode == "count":
            counts[path] = int(row)
        elif found := _NUMBERED.match(row):
            text = row[found.end() :].removesuffix(b"\r").decode("utf-8", "replace")
            lines.setdefault(path, []).append(FoundLine(int(found[1]), text, found[2] == b":"))
        path = following
    if query.mode == "count":
        return tuple(FileMatches(path=_path(path), count=count) for path, count in counts.items())
    return tuple(FileMatches(path=_path(path), lines=tuple(found)) for path, found in lines.items())


def _mode_arguments(query: Query) -> list[str]:
    match query.mode:
        case "files_with_matches":
            return ["--files-with-matches"]
        case "count":
            return ["--count", "--with-filename"]
        case _:
            shape = ["--no-heading", "--with-filename", "--line-number", "--no-context-separator"]
            if query.only:
                return [*shape, "--only-matching"]
            return [*shape, f"--before-context={query.before}", f"--after-context={query.after}"]


def _path(path: bytes) -> str:
    return os.fsdecode(path.removeprefix(b"./"))
