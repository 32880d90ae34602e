"""Glob: files whose path fits a pattern, the newest first."""

import asyncio
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.define import FunctionTool, tool
from everturn.tools.globs import translate_glob
from everturn.tools.shown import GlobShown
from everturn.workspace.files import exists, explain_failure
from everturn.workspace.paths import locate, shorten

MOST_FILES = 100
_PATIENCE_S = 20.0


class GlobInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(min_length=1, description="Such as `**/*.py` or `src/*.{ts,tsx}`")]
    path: Annotated[str, Meta(min_length=1, description="Folder to search; the working folder if left out")] = "."


class Found(msgspec.Struct, frozen=True, kw_only=True):
    paths: tuple[str, ...]
    """Newest first."""
    complete: bool
    """The whole tree was seen in time."""


def glob_tool() -> FunctionTool:
    @tool(
        name="Glob",
        reads_only=True,
        concurrent=True,
        access=Access.READ,
        line=lambda call: f"Glob {call.pattern}" + (f" in {call.path}" if call.path != "." else ""),
        description=f"""Finds files by a path pattern, newest first, at most {MOST_FILES}.

`*` and `?` match inside one folder's names, `**` any folders, `{{a,b}}` either. `*.py` looks in one folder, `**/*.py`
in all below it. Hidden and ignored files are found too; links to folders and the inside of `.git` are not followed.""",
    )
    async def glob(call: GlobInput, context: ToolContext) -> ToolResult:
        if call.pattern.startswith(("/", "~")) or ".." in call.pattern.split("/"):
            raise InputFault("`pattern`: expected a pattern relative to `path`, got one that leaves it. Set `path`.")
        root = locate(context.folder, call.path)
        began = time.monotonic()
        found = await asyncio.to_thread(find_files, root, call.pattern, context.abort)
        return _render(found, context.folder, time.monotonic() - began)

    return glob


def find_files(root: str, pattern: str, abort: AbortSignal) -> Found:
    """Gives up, incomplete, on abort and when the tree takes too long. Raises `ToolFault` where there is no folder."""
    if not exists(root):
        raise explain_failure(FileNotFoundError(), root)
    if not Path(root).is_dir():
        raise ToolFault(f"{root} is not a folder.")
    fits = re.compile(translate_glob(pattern.removeprefix("./")), re.DOTALL).fullmatch
    deep = "**" in pattern
    levels = pattern.removeprefix("./").count("/")
    deadline = time.monotonic() + _PATIENCE_S
    found: list[tuple[int, str]] = []
    complete = True
    for entry, relative in _walk(root, most=None if deep or "{" in pattern else levels):
        if abort.raised or time.monotonic() > deadline:
            complete = False
            break
        if fits(relative):
            found.append((-_changed_ns(entry), entry.path))
    return Found(paths=tuple(path for _, path in sorted(found)), complete=complete)


def _walk(root: str, most: int | None) -> Iterator[tuple["os.DirEntry[str]", str]]:
    """Files below `root` with their relative path, down to `most` folders deep; what cannot be listed is left out."""
    folders = [(root, "", 0)]
    while folders:
        folder, prefix, depth = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git" and (most is None or depth < most):
                    folders.append((entry.path, f"{prefix}{entry.name}/", depth + 1))
            elif not entry.is_dir():
                yield entry, prefix + entry.name


def _changed_ns(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:
        return 0


def _render(found: Found, folder: str, seconds: float) -> ToolResult:
    total = len(found.paths)
    names = tuple(shorten(folder, path) for path in found.paths[:MOST_FILES])
    notes = []
    if not found.complete:
        notes.append("(The search was ended before it had seen everything. Search a smaller folder.)")
    if total > MOST_FILES:
        notes.append(f"(The newest {MOST_FILES} of {total} files. Use a narrower pattern to see others.)")
    content = "\n".join([*names, *notes]) or "No files found."
    return ToolResult(
        content=content,
        shown=GlobShown(
            duration_ms=round(seconds * 1000),
            num_files=len(names),
            filenames=names,
            truncated=total > MOST_FILES or not found.complete,
            total_matches=total,
            count_is_complete=found.complete,
        ),
    )
