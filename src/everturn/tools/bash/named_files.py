"""Files that a command names: which of them it changed, looked at before and after it, and which it printed whole.

What it was meant to do need not be understood for that, and nothing is listed that stayed as it was. A file that no word
of the command names (a formatter that is given a folder, a script that knows its own files) is seen here only if the model
has read it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from posixpath import basename, isdir, join, normpath
from stat import S_ISREG

import msgspec
from msgspec.structs import replace

from everturn.core.errors import ToolFault
from everturn.core.patterns import compile_late
from everturn.ports.files import FileState
from everturn.ports.tool import ToolContext
from everturn.workspace.files import load_text
from everturn.workspace.opening import open_for_reading

_MAX_TEXT = 20_000
"""Characters of a command, and of a patch that it names, that are looked at."""
_MAX_WORDS, _MAX_FOLDERS, _MAX_PATHS = 200, 4, 400
_MAX_LISTED = 2_000
"""Entries of folders that all globs of a command are held against: a few links to `.` would make them endless."""
_MAX_LENGTH = 1_000
_WORD = compile_late(r"""(?:[^\s"'\\;|&<>()`]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""", re.DOTALL)
_MARKS = compile_late(r"""\\(.)|["']""", re.DOTALL)
_QUOTED = compile_late(r"""["'](?=([^"'\s][^"'\n]*)["'])""")
"""What a script within the command may name, however it is quoted itself."""
_ENTERED = compile_late(r"""(?:\bcd|\s-C)\s+(?:--\s+)?((?:[^\s"';|&<>()]|"[^"]*"|'[^']*')+)""")
_PATCHED = compile_late(r"^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+)", re.MULTILINE)
_PATCHES = (".diff", ".patch")
_GLOB = frozenset("*?[")
_INTO_FOLDERS = compile_late(r"\b(?:cp|install|ln|mv|rsync)\b")

_State = tuple[int, int, int]
_PRINTS = compile_late(r"\b(?:cat|sed|head|tail|awk|tac|less|more|bat|git|nl|e?grep|rg)\b")
_NUMBERED = compile_late(r"(?:[^\s:]*:)?\s*([0-9]{1,7})(?:\t|[:-])(.*\S.*)")
"""A line as `cat -n`, `nl` and `grep -n` print it."""
_MAX_FILES, _MAX_IN_PART = 20, 3
_MAX_SIZE = 1_000_000
"""Bytes of a file of which a part is looked for."""
_ENOUGH = 20
"""Characters, blanks not counted, of lines that stand one after the other in both: no chance."""
_COMMON = 50
"""A line that stands so often in a file is not where a part of it begins."""


class NamedFiles(msgspec.Struct, frozen=True):
    before: dict[str, _State | None]
    """By absolute path; None where there was no such file."""

    @classmethod
    def of(cls, command: str, folder: str, project: str, known: Iterable[str] = ()) -> "NamedFiles":
        """Right before the command starts in this folder. What lies outside of both is not touched, not even by a look.

        `known`: files that the model has read, wherever they are; they are looked at whether the command names them or not.
        """
        inside = tuple(f"{root.rstrip('/')}/" for root in (folder, project))
        named = islice(_list_paths(command[:_MAX_TEXT], folder, inside), _MAX_PATHS)
        # A name that could not be shown in one line is not repeated to the model either.
        return cls({path: _look(path) for path in (*named, *known) if path.isprintable()})

    def list_changed(self) -> list[str]:
        """When it has ended. One that goes on may be asked about again."""
        return list(self.find_changed())

    def find_changed(self) -> dict[str, tuple[int, int] | None]:
        """The same, each with its size and time of change; None where it is gone."""
        looked = ((path, state, _look(path)) for path, state in self.before.items())
        return {path: now[1:] if now else None for path, state, now in looked if now != state}


def list_named(command: str, folder: str, project: str) -> Iterator[str]:
    """Files inside of both that a command names and that are there."""
    inside = tuple(f"{root.rstrip('/')}/" for root in (folder, project))
    yield from (path for path in islice(_list_paths(command[:_MAX_TEXT], folder, inside), _MAX_PATHS) if _look(path))


def _list_paths(command: str, folder: str, inside: tuple[str, ...]) -> Iterator[str]:
    """That most of these are no files does no harm."""
    folders = tuple(islice(_follow(command, folder), _MAX_FOLDERS))
    words = dict.fromkeys(islice(filter(_may_name, _list_words(command)), _MAX_WORDS))
    named = [path for path in _place(words, folders) if path.startswith(inside)]
    paths = dict.fromkeys(named)
    budget = iter(range(_MAX_LISTED))
    for path in named:
        if path.endswith(_PATCHES) and _look(path):
            paths |= _place(_PATCHED.findall(_read(path)), folders)
        if not _GLOB.isdisjoint(path):
            paths |= dict.fromkeys(islice(_expand(path, budget), _MAX_WORDS))
    yield from paths
    if _INTO_FOLDERS.search(command):
        yield from (join(path, basename(name)) for path in paths if isdir(path) for name in paths)


def _expand(path: str, budget: Iterator[int]) -> Iterator[str]:
    """What an absolute glob stands for, as far as the budget goes. No link that a glob finds is entered."""
    folders = ["/"]
    *outer, last = path.split("/")[1:]
    for name in outer:
        folders = [found for folder in folders for found in _match(folder, name, budget, only_folders=True)]
    for folder in folders:
        yield from _match(folder, last, budget, only_folders=False)


def _match(folder: str, name: str, budget: Iterator[int], *, only_folders: bool) -> Iterator[str]:
    if _GLOB.isdisjoint(name):
        yield join(folder, name)
        return
    try:
        with os.scandir(folder) as entries:
            # The budget comes second, or an entry too many would be taken from it.
            for entry, _ in zip(entries, budget, strict=False):
                if fnmatchcase(entry.name, name) and (not only_folders or entry.is_dir(follow_symlinks=False)):
                    yield entry.path
    except OSError:
        return


def _place(words: Iterable[str], folders: tuple[str, ...]) -> dict[str, None]:
    return dict.fromkeys(normpath(join(folder, word)) for word in words for folder in folders)


def _follow(command: str, folder: str) -> Iterator[str]:
    """Where it starts, and where it may go from there."""
    yield folder
    for entered in _ENTERED.finditer(command):
        folder = normpath(join(folder, _MARKS.sub(r"\1", entered[1])))
        yield folder


def _list_words(command: str) -> Iterator[str]:
    yield from _PATCHED.findall(command)
    for found in _WORD.finditer(command):
        word = _MARKS.sub(r"\1", found[0])
        yield word
        yield word.partition("=")[2]
    yield from _QUOTED.findall(command)


def _may_name(word: str) -> bool:
    return bool(word) and len(word) <= _MAX_LENGTH and word[0] != "-" and "$" not in word and "\0" not in word


def _look(path: str) -> _State | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - the plain call: there may be a thousand
    except (OSError, ValueError):
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if S_ISREG(found.st_mode) else None


def _read(path: str) -> str:
    try:
        # Another command may put a pipe in its place after we looked: to open that must not keep us waiting.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a descriptor
            return file.read(_MAX_TEXT) if S_ISREG(os.fstat(descriptor).st_mode) else ""
    except (OSError, ValueError):
        return ""


def remember_printed(command: str, folder: str, context: ToolContext, text: str) -> tuple[str, ...]:
    """Those that were printed whole. `text`: all that the command printed, as the model reads it."""
    if not text or not _PRINTS.search(command):
        return ()
    whole: list[str] = []
    printed = f"\n{text}\n"
    paths = list(islice(list_named(command, folder, context.folder), _MAX_FILES))
    in_part = len(paths) <= _MAX_IN_PART
    for path in paths:
        try:
            with open_for_reading(path) as file:
                loaded = load_text(file, most=max(4 * len(text), _MAX_SIZE if in_part else 0))
        except (ToolFault, OSError, ValueError):
            continue
        content = loaded.text.rstrip("\n")
        is_whole = bool(content) and f"\n{content}\n" in printed
        if not is_whole and not (in_part and _shows_part(text.split("\n"), content.split("\n"))):
            continue
        known = context.files.get(file.path)
        same = known if known is not None and known.stamp.digest == loaded.stamp.digest else None
        if is_whole:
            whole.append(file.path)
            state = replace(same, partial=False) if same else FileState(stamp=loaded.stamp)
        else:
            state = same or FileState(stamp=loaded.stamp, partial=True)
        context.files.remember(file.path, state)
    return tuple(whole)


def _shows_part(printed: list[str], lines: list[str]) -> bool:
    """Whole lines of the file: one with its number, or enough of them one after the other."""
    places: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        places.setdefault(line, []).append(at)
    runs: dict[int, int] = {}
    """By the number of their last line: how many characters they have."""
    for line in printed:
        numbered = _NUMBERED.fullmatch(line)
        if numbered and lines[int(numbered[1]) - 1 : int(numbered[1])] == [numbered[2]]:
            return True
        weight = len("".join(line.split()))
        starts = places.get(line, [])
        begun = dict.fromkeys(starts, weight) if len(starts) <= _COMMON else {}
        runs = begun | {at + 1: had + weight for at, had in runs.items() if lines[at + 1 : at + 2] == [line]}
        if any(had >= _ENOUGH for had in runs.values()):
            return True
    return False
