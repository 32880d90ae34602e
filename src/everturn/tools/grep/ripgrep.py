"""The fast engine: runs `rg` and reads its answer, bounded in time and memory."""

import asyncio
import re
import subprocess

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortSignal
from everturn.tools.grep.filetypes import TYPES
from everturn.tools.grep.query import FileMatches, Line, Matches, Query

_MOST_BYTES = 5_000_000
_PATIENCE_S = 30.0
_FAILED = 2
"""rg's exit code; it may have found something all the same."""


async def run_ripgrep(program: str, query: Query, abort: AbortSignal) -> Matches:
    """Raises `ToolFault` when the pattern, the glob or the type is wrong, when it takes too long, and on abort."""
    process = _start([program, *plan_arguments(query)], query.root)
    reading = asyncio.ensure_future(asyncio.to_thread(_read, process, query))
    watching = asyncio.ensure_future(abort.wait())
    try:
        await asyncio.wait({reading, watching}, timeout=_PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
        if abort.raised:
            raise ToolFault("The search was interrupted.")
        if not reading.done():
            raise ToolFault(f"The search took longer than {_PATIENCE_S:g} s. Search a smaller folder.")
    finally:
        watching.cancel()
        # The reading thread sees the end of the output, and ends too.
        process.kill()
    return reading.result()


def plan_arguments(query: Query) -> list[str]:
    arguments = [
        "--no-config",
        "--no-messages",
        "--color=never",
        "--hidden",
        "--no-require-git",
        "--no-ignore-global",
        "--null",
    ]
    if query.ignore_case:
        arguments.append("--ignore-case")
    # A CRLF is one line end to a search by lines; a match across lines sees the file as it is.
    arguments += ["--multiline", "--multiline-dotall"] if query.multiline else ["--crlf"]
    if query.type:
        # Our own list where we have one: versions of ripgrep differ.
        added = [f"--type-add={query.type}:{name}" for name in TYPES.get(query.type, ())]
        arguments += [*([f"--type-clear={query.type}"] if added else []), *added, "--type", query.type]
    if query.glob:
        arguments += ["--glob", query.glob]
    # Later globs win: nothing opens the inside of .git.
    arguments += ["--glob", "!.git", *_mode_arguments(query), "--regexp", query.pattern, "--", query.file or "."]
    return arguments


def parse_output(output: str, query: Query) -> tuple[FileMatches, ...]:
    if query.mode == "files_with_matches":
        return tuple(FileMatches(path=_plain(path)) for path in output.split("\0") if path)
    rows = [(path, rest) for path, mark, rest in (row.partition("\0") for row in output.split("\n")) if mark]
    if query.mode == "count":
        return tuple(FileMatches(path=_plain(path), count=int(rest)) for path, rest in rows)
    lines: dict[str, list[Line]] = {}
    for path, rest in rows:
        if found := re.match(r"(\d+)([:-])", rest):
            text = rest[found.end() :].removesuffix("\r")
            lines.setdefault(_plain(path), []).append(Line(int(found[1]), text, found[2] == ":"))
    return tuple(FileMatches(path=path, lines=tuple(found)) for path, found in lines.items())


def _mode_arguments(query: Query) -> list[str]:
    match query.mode:
        case "files_with_matches":
            return ["--files-with-matches"]
        case "count":
            return ["--count", "--with-filename"]
        case _:
            shape = ["--no-heading", "--with-filename", "--line-number"]
            if query.only:
                return [*shape, "--only-matching"]
            return [*shape, f"--before-context={query.before}", f"--after-context={query.after}"]


def _start(arguments: list[str], folder: str) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise ToolFault(f"The search could not be started: {error}") from None


def _read(process: "subprocess.Popen[bytes]", query: Query) -> Matches:
    with process:
        output = process.stdout.read(_MOST_BYTES) if process.stdout else b""
        complete = len(output) < _MOST_BYTES
        if not complete:
            process.kill()
        problem = process.stderr.read(10_000) if process.stderr else b""
    if process.returncode == _FAILED and not output and problem:
        raise ToolFault(f"The search failed: {problem.decode('utf-8', 'replace').strip()}")
    # What was cut off in mid-row is no row.
    whole = output if complete else output[: output.rfind(b"\0" if query.mode == "files_with_matches" else b"\n")]
    return Matches(files=parse_output(whole.decode("utf-8", "replace"), query), complete=complete)


def _plain(path: str) -> str:
    return path.removeprefix("./")
