"""Reads that rules may cover, although only running the line would show it."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from posixpath import basename
from urllib.parse import unquote

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import FileUse, JudgedWorld
from everturn.permissions.paths.judge import is_within
from everturn.permissions.shell.files.clearness import (
    list_fed,
    reads_code,
)
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.files.opened_files import OpenedFiles, is_adrift, of_redirect
from everturn.permissions.shell.files.openers import (
    find_operands,
    is_searcher,
    opens_nothing,
    takes_folders,
)
from everturn.permissions.shell.files.shown_by_git import find_opened_by_git, list_endings, may_git_show
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, write_marks
from everturn.permissions.shell.running.runners import RUNNERS, SHELLS
from everturn.permissions.shell.running.scripts import is_interpreter
from everturn.permissions.shell.running.survey import Candidate, Survey

_SHOWN = 80
_MAX_WORDS = 200
"""Of a command, so many are looked at."""
_NAMES = compile_late(r"[^\s'\"`(){};|&<>,]+")
_FILE_URL = compile_late(r"^file://(?:localhost)?")
_BY_PROCESS = compile_late(r"/proc/[^/]+/(?:cwd|root|fd|task)\b|/dev/fd/[^/]+/")
"""What these lead to is another file for each process."""
_HANDERS = frozenset({"env", "export", "declare", "typeset", "sudo", "doas", "systemd-run", "cross-env"})
_NAMES_A_FILE = compile_late(r".*(?:CONFIG(?:_PATH|_FILE)?|RC|STARTUP|FILE|_CONF|_INI|INIT)|ENV")
_READ_ALL_THE_SAME = frozenset({"man"})
_TAKE_FILES = {
    "xargs": "a",
    "parallel": "a",
    "gdb": "x",
    "apt": "c",
    "apt-get": "c",
    "dnf": "c",
    "yum": "c",
    "pgrep": "F",
    "pkill": "F",
    "hostname": "F",
}
"""Letters of options that are given a file."""
_LISTED = compile_late(
    r"--?(?:files0?-from|fromfile|infofile|arg-file|config-file|config|pidfile|env-file|file)(?:=(.*))?$", re.DOTALL
)
_JOINED_OPTION = compile_late(r"-[A-Za-z]")


class ReadDoubts:
    """About one line."""

    def __init__(self, survey: Survey, world: JudgedWorld, guard: FileGuard, files: OpenedFiles) -> None:
        self._survey, self._world, self._guard, self._files = survey, world, guard, files

    def find(self) -> str:
        for candidate in self._files.candidates:
            name = basename(candidate.argv[0])
            shown = write_marks(" ".join(candidate.argv))[:_SHOWN]
            if name == "git":
                if may_git_show(candidate, self._guard, self._world.home):
                    return f"{shown!r} shows what files hold or have held, and a rule keeps some from being read"
                for word in find_opened_by_git(candidate, self._world.home):
                    if self._may_be_read(word, candidate):
                        return f"{shown!r} may open a file that a rule keeps from being read"
                continue
            if opens_nothing(name) or (name in RUNNERS and name not in SHELLS):
                # What a runner runs is looked at by itself.
                if any(self._may_be_read(word, candidate) for word in _list_given(candidate.argv)):
                    return f"{shown!r} may read a file that a rule keeps from being read"
                continue
            operands = find_operands(candidate.argv)
            if takes_folders(candidate.argv) and any(
                self._may_lie_below(each, candidate) for each in operands or (".",) if UNKNOWN not in each
            ):
                return f"{shown!r} goes through a folder that may hold a file that a rule keeps from being read"
            for word in operands if is_searcher(name) else candidate.argv[1:_MAX_WORDS]:
                if self._may_be_read(word, candidate):
                    return f"{shown!r} may read a file that a rule keeps from being read ({write_marks(word)[:_SHOWN]})"
            if len(candidate.argv) > _MAX_WORDS:
                return "it names too many files"
            if (is_interpreter(name) or reads_code(candidate.argv)) and any(
                self._is_named("read", text, candidate) for text in self._fed
            ):
                return f"{shown!r} is given code that names a file which a rule keeps from being read"
        if trouble := self._find_handed():
            return trouble
        for redirect, target in self._guard.targets:
            is_open = target.path is None or self._files.is_made(target.path, redirect.here, None)
            if target.use == "read" and is_open and redirect.target is not None:
                candidate = self._files.place(of_redirect(redirect.target, redirect))
                if self._may_be_read(candidate.argv[1], candidate):
                    return f"it may read a file that a rule keeps from being read ({redirect.target.raw[:_SHOWN]})"
        return ""

    @cached_property
    def _fed(self) -> tuple[str, ...]:
        return list_fed(self._survey)

    def _find_handed(self) -> str:
        """`HISTFILE=.env history -r`, `export RIPGREP_CONFIG_PATH=$X`: variables name files to programs."""
        for candidate in self._files.candidates:
            given = [
                (each.name, each.value.template) for each in (candidate.source.assignments if candidate.source else ())
            ]
            if basename(candidate.argv[0]) in _HANDERS:
                given += [
                    (name, value) for name, equals, value in (word.partition("=") for word in candidate.argv) if equals
                ]
            for name, value in given:
                values = (
                    [value]
                    if _NAMES_A_FILE.fullmatch(name)
                    else [each for each in value.split(":") if UNKNOWN not in each]
                )
                if name != "PATH" and any(self._may_be_read(each, candidate) for each in values if each):
                    return f"{name} may name a file that a rule keeps from being read ({write_marks(value)[:_SHOWN]})"
        return ""

    def _may_be_read(self, word: str, candidate: Candidate) -> bool:
        opening = self._files.open(word, candidate, "read")
        if any(
            not text.startswith("-") and self._files.is_made(text, candidate.here, candidate) for text in opening.texts
        ):
            return True
        return (
            any(self._is_named("read", text, candidate) for text in opening.texts)
            or any(self._may_lie_below(folder, candidate, opening.like) for folder in opening.folders)
            or (opening.ends is not None and self._may_end("read", opening.ends))
        )

    def _is_named(self, use: FileUse, text: str, candidate: Candidate) -> bool:
        """A rule covers a file that stands somewhere in the text: whole, behind a sign, or as a part of code."""
        names = dict.fromkeys(_list_names(text))
        parts = [part for part in dict.fromkeys(_list_parts(text)) if self._is_spoken_of(part)]
        for name in (*names, *parts):
            place = name.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)
            if "\0" in place or not self._looks_like_file(place, candidate):
                continue
            if (
                _BY_PROCESS.match("/" + os.path.normpath(place).lstrip("/") if place.startswith("/") else place)
                or self._guard.find_rule(use, place, candidate.here) is not None
            ):
                return True
            if is_adrift(place, candidate) and self._may_end(use, place.rpartition("/")[2]):
                return True
        return False

    def _is_spoken_of(self, part: str) -> bool:
        """Of code, which is full of dots: the part has a name in it that is fixed in a rule."""
        folded = part.casefold()
        return any(all(end in folded for end in ends) for ends in self._endings)

    @cached_property
    def _endings(self) -> list[list[str]]:
        return [list_endings(rule)[-1:] for rule in self._guard.read_rules]

    def _looks_like_file(self, place: str, candidate: Candidate) -> bool:
        """`build` is mostly a word; where a file has that name, it is that file."""
        if "/" in place or "." in place:
            return place.strip("./") != "" or place == ".."
        if is_adrift(place, candidate):
            return True
        return any(os.path.isfile(each) for each in resolve(candidate.here, place) or ())  # noqa: PTH113 - paths as text

    def _may_lie_below(self, folder: str, candidate: Candidate, like: str = "*") -> bool:
        """Something that a rule keeps from being read is there, or may be. `like`: what its name is like."""
        there = self._files.list_covered("read", like)
        place = folder.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)
        if there is None:
            return self._guard.may_pass_by(place, candidate.here)
        places = resolve(candidate.here, place)
        if places is None:
            return bool(there)
        reals = [os.path.realpath(each) for each in places]
        return any(is_within(real, each) or is_within(each, real) for real in reals for each in there)

    def _may_end(self, use: FileUse, ends: str) -> bool:
        """A file that a rule covers may be called like this."""
        there = self._files.list_covered(use)
        if there is None:
            return True
        folded = ends.casefold().rstrip("/")
        return any(each.casefold().endswith(folded) or os.path.isdir(each) for each in there)  # noqa: PTH112 - as text


def _list_names(text: str) -> Iterable[str]:
    yield text
    yield text.lstrip("@")
    for sign in ("=", ":", "@"):
        if sign in text:
            yield text.partition(sign)[2].lstrip("@")
            yield text.rpartition(sign)[2]
    if (bare := _FILE_URL.sub("", text)) != text:
        yield from (bare, unquote(bare))
    if _JOINED_OPTION.match(text):
        yield text[2:].lstrip("@=")


def _list_given(argv: tuple[str, ...]) -> Iterator[str]:
    """Of runners, and of programs that open none of their operands: what their options open."""
    name, words = basename(argv[0]), argv[1:_MAX_WORDS]
    if name in _READ_ALL_THE_SAME:
        yield from (word for word in words if not word.startswith("-"))
    before = ("", *words)
    for at, word in enumerate(words):
        letters = _TAKE_FILES.get(name, "")
        if (option := _LISTED.match(word)) is not None:
            yield option[1] or "".join(words[at + 1 : at + 2])
        elif letters and re.match(rf"-[A-Za-z0]*[{letters}]", word):
            yield re.sub(rf"^-[A-Za-z0]*?[{letters}]", "", word) or "".join(words[at + 1 : at + 2])
        elif "::" in before[at] + word and "=" in word:
            yield word.partition("=")[2]


def _list_parts(text: str) -> Iterable[str]:
    """Of a text that is more than one word."""
    if len(parts := _NAMES.findall(text)) > 1:
        for part in parts:
            yield from (part, part.rpartition("=")[2])
