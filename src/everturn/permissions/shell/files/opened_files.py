"""Which files the words of a line may mean when it runs, by the folder at that point, the effects of earlier parts, and the rules."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cached_property
from posixpath import basename

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import FileUse, JudgedWorld
from everturn.permissions.paths.judge import is_within
from everturn.permissions.shell.files.clearness import (
    list_set_names,
)
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.files.openers import (
    brings_files,
    find_files,
)
from everturn.permissions.shell.files.openings import WordFiles, find_listed, open_word
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, Command, Here, Redirect, Word
from everturn.permissions.shell.running.survey import Candidate, Survey

_OF_FOLDERS = frozenset({"HOME", "CDPATH", "OLDPWD", "PWD"})
"""Variables that decide where `cd` goes."""
_RENAME = frozenset({"ln", "mv", "cp", "install", "rsync", "link"})
_KEEPS_LINKS = compile_late(r"-[A-Za-z]*[adPRrsl]|--(?:rec|arc|no-d|pre|sy|li)")
_FIRST = -1
"""The place of a part that may run before all others."""
_REPEATS = compile_late(r"\b(?:for|while|until|function|eval|trap)\b|\(\)")
"""A part that stands first may run once more."""
_Made = tuple[int, str | None, Here]
"""The place of a part in the line, a name that it makes there (None for any), and where it runs."""


class OpenedFiles:
    """Of one line."""

    def __init__(self, survey: Survey, world: JudgedWorld, guard: FileGuard) -> None:
        self._survey, self._world, self._guard = survey, world, guard

    @cached_property
    def candidates(self) -> list[Candidate]:
        """Of a line that is understood, those that were read and not guessed: they know what its variables hold."""
        is_known = self._survey.reading.holdable
        return [
            self.place(candidate)
            for candidate in self._survey.candidates
            if candidate.source is not None or not is_known
        ]

    def place(self, candidate: Candidate) -> Candidate:
        """With what `~`, `$PWD` and the folder are by then, where the line or an export has set them."""
        moves = any(reading.moves for reading in self._survey.readings)
        here = None if moves and not self.set_names.isdisjoint(_OF_FOLDERS) else candidate.here
        is_one = here is not None and len(here) == 1 and "PWD" not in self.set_names
        folder = (next(iter(here)) if here else UNKNOWN) if is_one else UNKNOWN
        home = HOME if "HOME" not in self.set_names else UNKNOWN
        folder = FOLDER if folder == self._world.cwd else folder
        argv = tuple(word.replace(FOLDER, folder).replace(HOME, home) for word in candidate.argv)
        return Candidate(argv, here, candidate.source)

    @cached_property
    def set_names(self) -> frozenset[str]:
        return list_set_names(self._survey) | self._world.exports.keys() | self._world.unset

    @cached_property
    def _made(self) -> list[_Made]:
        """Names that a part of the line gives to what has another one."""
        made: list[_Made] = []
        parts = {id(command) for command in self._survey.reading.commands}
        for number, unplaced in enumerate(self._survey.candidates):
            candidate = self.place(unplaced)
            name = basename(candidate.argv[0])
            # A script's commands are listed behind those of the line, and run where the script does.
            at = number if id(candidate.source) in parts else _FIRST
            if brings_files(candidate.argv):
                made.append((at, None, None))
            elif name in _RENAME and not _takes_plain_files(candidate):
                targets = [
                    path.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)
                    for use, path in find_files(candidate.argv)
                    if use == "write" and not path.endswith("/_")
                ]
                varies = any(UNKNOWN in word for word in candidate.argv[1:])
                is_open = varies or len(targets) <= 1 or candidate.here is None
                made += [(at, None, None)] if is_open else [(at, path, candidate.here) for path in targets]
        return made

    def is_made(self, path: str, here: Here, candidate: Candidate | None, use: FileUse = "read") -> bool:
        """An earlier part of the line may have put a link there, or the way to it: what it leads to is not known now."""
        if not self._made or path.strip("./") == "" or "://" in path:
            return False
        before = self._list_made_before(candidate.source) if candidate else self._made
        is_name = "/" in path or "." in path
        return bool(before) and self._covered_now(use) != () and _is_among(before, path, here, of_any=is_name)

    def may_become_link(self, path: str, here: Here, command: Command | None) -> bool:
        """Another part of the line may put a link there, or on the way to it, before this one opens it, or while it does."""
        known = command is not None and self._survey.runs_in_order
        before = self._list_made_before(command) if known else self._made
        is_apart = self._guard.is_scratch(path, here) and not self._may_bring_to_scratch
        return path.strip("./") != "" and _is_among(before, path, here, of_any=not is_apart)

    @cached_property
    def _may_bring_to_scratch(self) -> bool:
        """What makes files that no word of it names may make them in the scratch folder."""
        scratch = self._world.scratch
        bringing = (candidate for candidate in self.candidates if brings_files(candidate.argv))
        return any(
            candidate.here is None
            or any(is_within(scratch, place) for place in candidate.here)
            or any(UNKNOWN in word or scratch in word for word in candidate.argv)
            for candidate in bringing
        )

    def _list_made_before(self, source: Command | None) -> list[_Made]:
        place = next((at for at, each in enumerate(self._survey.candidates) if each.source is source), None)
        return self._made if place is None or self._repeats else [each for each in self._made if each[0] < place]

    def is_behind_link(self, path: str, here: Here, candidate: Candidate | None) -> bool:
        """An earlier part of the line may make a link there, or on the way to it."""
        at = next((at for at, each in enumerate(self._survey.candidates) if each is candidate), None)
        before = (link for number, link in self._links if at is None or number < at or self._repeats)
        ways = [os.path.normpath(each) for each in resolve(here, path) or ()]
        return any(is_within(link, way) for link in before for way in ways)

    @cached_property
    def _links(self) -> list[tuple[int, str]]:
        """What `ln` makes, by the place of that part in the line."""
        return [
            (at, os.path.normpath(place))
            for at, candidate in enumerate(self._survey.candidates)
            if basename(candidate.argv[0]) == "ln"
            for use, path in find_files(candidate.argv)
            if use == "write" and not path.endswith("/_")
            for place in resolve(candidate.here, path) or ()
        ]

    @cached_property
    def _repeats(self) -> bool:
        return _REPEATS.search(self._survey.text) is not None

    def open(self, word: str, candidate: Candidate, use: FileUse) -> WordFiles:
        if self.list_covered(use) is None:
            # What is there, or will be, is not known.
            candidate = Candidate(candidate.argv, None, candidate.source)
        return open_word(word, candidate, self._world.home, find_listed(candidate, self._survey.reading.pipes))

    def list_covered(self, use: FileUse, like: str = "*") -> tuple[str, ...] | None:
        """Files that rules cover; of a folder, all that is in it is, whatever its name."""
        return self.narrow(None if self._brings_files else self._covered_now(use), like)

    def narrow(self, there: tuple[str, ...] | None, like: str) -> tuple[str, ...] | None:
        if there is None or like == "*":
            return there
        wanted = like.casefold()
        return tuple(
            each
            for each in there
            if fnmatchcase(basename(each).casefold(), wanted) or os.path.isdir(each)  # noqa: PTH112 - as text
        )

    def _covered_now(self, use: FileUse) -> tuple[str, ...] | None:
        return self._kept_from_reading if use == "read" else self.kept_from_writing

    @cached_property
    def _brings_files(self) -> bool:
        """A part of the line makes files that no word of it names: what is there now says nothing then."""
        return any(brings_files(candidate.argv) for candidate in self._survey.candidates)

    @cached_property
    def _kept_from_reading(self) -> tuple[str, ...] | None:
        return self._world.find_covered("read")

    @cached_property
    def kept_from_writing(self) -> tuple[str, ...] | None:
        return self._world.find_covered("write")


def _is_among(made: Iterable[_Made], path: str, here: Here, *, of_any: bool) -> bool:
    """`of_any`: what makes files that nobody knows may have made this one."""
    ways = {os.path.normpath(each) for each in resolve(here, path) or ()}
    return any(
        not ways
        or (
            of_any
            if name is None
            else any(is_within(os.path.normpath(each), way) for each in resolve(at, name) or () for way in ways)
        )
        for _, name, at in made
    )


def _takes_plain_files(candidate: Candidate) -> bool:
    """What `cp` and `mv` are given are files, and will be under the other name, too: they were judged as read."""
    name, words = basename(candidate.argv[0]), candidate.argv[1:]
    if name == "cp":
        return not any(map(_KEEPS_LINKS.match, words))
    sources = [word for word in words if not word.startswith("-")][:-1]
    places = [place for source in sources for place in resolve(candidate.here, source) or ("",)]
    return name == "mv" and all(os.path.isfile(place) and not os.path.islink(place) for place in places)  # noqa: PTH113, PTH114


def is_adrift(path: str, candidate: Candidate) -> bool:
    """It starts from a folder that is not known: `cd $X && cat k`."""
    return candidate.here is None and candidate.source is not None and not path.startswith(("/", HOME, FOLDER))


def of_redirect(target: Word, redirect: Redirect) -> Candidate:
    return Candidate(
        (redirect.operator, target.template), redirect.here, Command((target,), (), redirect.here, redirect.scope)
    )
