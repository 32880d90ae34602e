"""Glob: files whose path fits a pattern, the newest first."""

import asyncio
import heapq
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.abort import AbortSignal
from everturn.ports.judged_paths import JudgedPath
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.found_files import Names
from everturn.tools.input_corrections import settle_glob
from everturn.tools.result_types import GlobShown
from everturn.tools.wildcards import plan_walk, split_globs, translate_glob
from everturn.workspace.files import exists, explain_failure
from everturn.workspace.opening import Place, open_place, refuse_unjudged
from everturn.workspace.paths import locate

MAX_FILES = 100
MAX_WAIT_S = 20.0
Hides = Callable[[str], bool]
"""Told by a real path."""
_MAX_LENGTH = 4_096
"""Characters of a name that is looked up."""
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_OPEN = 200
"""Folders held open at once: as many levels, where each has something left to be entered."""
_LOOK = 1_000
"""After so many entries, the clock and the signal are looked at."""


class GlobInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(min_length=1, description="Such as `**/*.py` or `src/*.{ts,tsx}`")]
    path: Annotated[str, Meta(min_length=1, description="Folder to search; the working folder if left out")] = "."


class FoundFiles(msgspec.Struct, frozen=True, kw_only=True):
    paths: tuple[str, ...]
    """Relative to the root; newest first, of the same time by path; at most `MAX_FILES`."""
    total: int
    """How many fit, shown or not."""
    complete: bool
    """The whole tree was seen in time."""


def glob_tool() -> FunctionTool:
    @tool(
        name="Glob",
        reads_only=True,
        concurrent=True,
        access=Access.READ,
        settle=settle_glob,
        line=lambda call: f"Glob {call.pattern}" + (f" in {call.path}" if call.path != "." else ""),
        description=f"""Finds files by a path pattern, newest first, at most {MAX_FILES}.

`*` and `?` match inside one folder's names, `**` any folders, `{{a,b}}` either. `*.py` looks in one folder, `**/*.py`
in all below it. Hidden and ignored files are found too; links to folders and the inside of `.git` are not followed.""",
    )
    async def glob(call: GlobInput, context: ToolContext) -> ToolResult:
        if call.pattern.startswith(("/", "~")) or ".." in call.pattern.split("/"):
            # Of a call that nobody has settled.
            raise InputFault("`pattern`: expected a pattern relative to `path`, got one that leaves it. Set `path`.")
        root = locate(context.folder, call.path)
        refuse_unjudged(root, context.judged)
        began = time.monotonic()
        hides = context.judged.hides if context.judged else None
        found = await asyncio.to_thread(find_files, root, call.pattern, context.abort, hides=hides)
        notes = explain_form(call.pattern, root) if found.complete else ()
        return _render(found, Names(context.folder, root), time.monotonic() - began, notes)

    return glob


def find_files(
    root: str, pattern: str, abort: AbortSignal, *, max_wait_s: float = MAX_WAIT_S, hides: Hides | None = None
) -> FoundFiles:
    """Holds no more than what is shown, however large the tree. Gives up, incomplete, on abort and when it takes too long.

    `hides` names files that are left out as if they were not there. Raises `ToolFault` where there is no folder.
    """
    if not exists(root):
        raise explain_failure(FileNotFoundError(), root)
    if not Path(root).is_dir():
        raise ToolFault(f"{root} is not a folder.")
    pattern = pattern.removeprefix("./")
    walk = _Walk(root, pattern, abort, time.monotonic() + max_wait_s, hides or _hides_nothing)
    # By descriptors: a link that somebody puts in a folder's place meanwhile leads nowhere.
    with open_place(root, judged=JudgedPath(target=root)) as place:
        newest = heapq.nsmallest(MAX_FILES, walk.fitting(place))
    return FoundFiles(paths=tuple(path for _, path in newest), total=walk.total, complete=walk.complete)


class _Open:
    """A folder that is held open for as long as there are folders in it to be entered."""

    def __init__(self, name: str, above: int) -> None:
        """Raises `OSError`, also for a link."""
        self.descriptor = os.open(name, _LISTED, dir_fd=above)
        self._users = 1

    def enter(self, name: str) -> "_Open":
        """In place of this one. Raises `OSError`."""
        try:
            return _Open(name, self.descriptor)
        finally:
            self.let_go()

    def share(self) -> "_Open":
        self._users += 1
        return self

    def let_go(self) -> bool:
        """Whether it is closed now."""
        self._users -= 1
        if not self._users:
            os.close(self.descriptor)
        return not self._users


class _Waiting(NamedTuple):
    """A folder that is still to be listed."""

    above: _Open
    name: str
    prefix: str
    depth: int


class _Walk:
    def __init__(self, root: str, pattern: str, abort: AbortSignal, deadline: float, hides: Hides) -> None:
        self.total = 0
        self._is_ended = False
        self._root = root
        patterns = split_globs(pattern)
        self._fits = re.compile("|".join(map(translate_glob, patterns)), re.DOTALL).fullmatch
        self._start, self._levels = plan_walk(pattern) if len(patterns) == 1 else ((), None)
        self._abort = abort
        self._deadline = deadline
        self._hides = hides
        self._seen = 0
        self._open = 0
        self._is_too_deep = False

    @property
    def complete(self) -> bool:
        return not (self._is_ended or self._is_too_deep)

    def fitting(self, place: Place) -> Iterator[tuple[int, str]]:
        """Age and relative path of each file that fits. `place`: the root."""
        for entry, relative in self._files(place):
            if self._fits(relative) and not self._hides(f"{self._root.rstrip('/')}/{relative}"):
                self.total += 1
                yield -_changed_ns(entry), relative

    def _files(self, place: Place) -> Iterator[tuple["os.DirEntry[str]", str]]:
        if ".git" in self._start:
            return
        try:
            start = _Open(place.name, place.folder)
            for name in self._start:
                start = start.enter(name)
        except OSError:
            # The fixed folders of the pattern are not followed either where they are links.
            return
        waiting = [_Waiting(start, ".", "".join(f"{name}/" for name in self._start), len(self._start))]
        self._open = 1
        try:
            while waiting and self._may_go_on(self._seen == 0):
                yield from self._list(waiting.pop(), waiting)
        finally:
            for folder in waiting:
                folder.above.let_go()

    def _list(self, folder: _Waiting, waiting: list[_Waiting]) -> Iterator[tuple["os.DirEntry[str]", str]]:
        """Its files; folders in it are left to wait."""
        try:
            here = _Open(folder.name, folder.above.descriptor)
        except OSError:
            # Not ours to list, gone since, or a link by now.
            return
        finally:
            self._open -= folder.above.let_go()
        self._open += 1
        try:
            with suppress(OSError), os.scandir(here.descriptor) as entries:
                for entry in entries:
                    self._seen += 1
                    if not self._may_go_on(self._seen % _LOOK == 0):
                        return
                    if _is_folder(entry):
                        if self._enters(entry.name, folder.depth):
                            waiting.append(
                                _Waiting(here.share(), entry.name, f"{folder.prefix}{entry.name}/", folder.depth + 1)
                            )
                    elif not _leads_to_folder(entry):
                        yield entry, folder.prefix + entry.name
        finally:
            self._open -= here.let_go()

    def _enters(self, name: str, depth: int) -> bool:
        if name == ".git" or (self._levels is not None and depth >= self._levels):
            return False
        if self._open >= _MAX_OPEN:
            self._is_too_deep = True
            return False
        return True

    def _may_go_on(self, due: bool) -> bool:
        if due and (self._abort.raised or time.monotonic() > self._deadline):
            self._is_ended = True
        return not self._is_ended


def _hides_nothing(_path: str) -> bool:
    return False


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _leads_to_folder(entry: "os.DirEntry[str]") -> bool:
    """A link that cannot be followed is a file to us."""
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError:
        return False


def _changed_ns(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:
        return 0


def explain_form(pattern: str, root: str) -> tuple[str, ...]:
    """What a pattern finds less than it seems to ask for, because of how it is written."""
    notes = []
    if re.search(r"[^/*]\*\*|\*\*[^/*,}]", pattern):
        notes.append(
            "`**` crosses folders only where it stands alone between slashes (`**/*.py`); inside a name it is `*`."
        )
    if re.search(r"\\\w", pattern):
        notes.append("A backslash takes the next character as it is; folders are parted by `/`.")
    folder = Path(root, pattern)
    if not re.search(r"[*?\[{\\]", pattern) and len(pattern) < _MAX_LENGTH and folder.is_dir():
        notes.append(f"{pattern!r} is a folder, and only files are found: use `{pattern}/**`.")
    return tuple(f"({note})" for note in notes)


def _render(found: FoundFiles, names: Names, seconds: float, remarks: tuple[str, ...]) -> ToolResult:
    shown = tuple(names.of(path) for path in found.paths)
    notes = []
    if not found.complete:
        notes.append("(The search was ended before it had seen everything. Search a smaller folder.)")
    if found.total > len(shown):
        notes.append(f"(The newest {len(shown)} of {found.total} files. Use a narrower pattern to see others.)")
    content = "\n".join([*(shown or ("No files found.",)), *notes, *remarks])
    return ToolResult(
        content=content,
        shown=GlobShown(
            duration_ms=round(seconds * 1000),
            num_files=len(shown),
            filenames=shown,
            truncated=found.total > len(shown) or not found.complete,
            total_matches=found.total,
            count_is_complete=found.complete,
        ),
    )
