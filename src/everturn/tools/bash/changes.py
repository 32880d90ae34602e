"""Which files a command changed: those that it names are looked at before and after it.

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

from everturn.core.patterns import compile_late

_MOST_TEXT = 20_000
"""Characters of a command, and of a patch that it names, that are looked at."""
_MOST_WORDS, _MOST_FOLDERS, _MOST_PATHS = 200, 4, 400
_MOST_LISTED = 2_000
"""Entries of folders that all globs of a command are held against: a few links to `.` would make them endless."""
_LONGEST = 1_000
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


class NamedFiles(msgspec.Struct, frozen=True):
    before: dict[str, _State | None]
    """By absolute path; None where there was no such file."""

    @classmethod
    def of(cls, command: str, folder: str, project: str, known: Iterable[str] = ()) -> "NamedFiles":
        """Right before the command starts in this folder. What lies outside of both is not touched, not even by a look.

        `known`: files that the model has read, wherever they are; they are looked at whether the command names them or not.
        """
        inside = tuple(f"{root.rstrip('/')}/" for root in (folder, project))
        named = islice(_list_paths(command[:_MOST_TEXT], folder, inside), _MOST_PATHS)
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
    yield from (path for path in islice(_list_paths(command[:_MOST_TEXT], folder, inside), _MOST_PATHS) if _look(path))


def _list_paths(command: str, folder: str, inside: tuple[str, ...]) -> Iterator[str]:
    """That most of these are no files does no harm."""
    folders = tuple(islice(_follow(command, folder), _MOST_FOLDERS))
    words = dict.fromkeys(islice(filter(_may_name, _list_words(command)), _MOST_WORDS))
    named = [path for path in _place(words, folders) if path.startswith(inside)]
    paths = dict.fromkeys(named)
    budget = iter(range(_MOST_LISTED))
    for path in named:
        if path.endswith(_PATCHES) and _look(path):
            paths |= _place(_PATCHED.findall(_read(path)), folders)
        if not _GLOB.isdisjoint(path):
            paths |= dict.fromkeys(islice(_expand(path, budget), _MOST_WORDS))
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
    return bool(word) and len(word) <= _LONGEST and word[0] != "-" and "$" not in word and "\0" not in word


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
            return file.read(_MOST_TEXT) if S_ISREG(os.fstat(descriptor).st_mode) else ""
    except (OSError, ValueError):
        return ""
