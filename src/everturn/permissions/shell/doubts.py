"""What deny and ask rules may cover although it is only known when the line runs: asked about in every mode, and in a sandbox."""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from posixpath import basename

from everturn.permissions.judgement import FileUse, World
from everturn.permissions.paths.judging import is_within
from everturn.permissions.rules.globs import Glob
from everturn.permissions.rules.patterns import parse_pattern
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.shell.fileguard import FileGuard
from everturn.permissions.shell.files import (
    brings_files,
    find_files,
    find_operands,
    is_searcher,
    opens_nothing,
    takes_folders,
)
from everturn.permissions.shell.folders import resolve
from everturn.permissions.shell.hints import find_assigned_hints, find_fed_hints, find_hints
from everturn.permissions.shell.matching import patterns_of
from everturn.permissions.shell.openings import Opening, find_listed, open_word
from everturn.permissions.shell.runners import RUNNERS, SHELLS
from everturn.permissions.shell.scripts import is_interpreter
from everturn.permissions.shell.shown_by_git import list_endings, may_git_show
from everturn.permissions.shell.survey import Sight, Survey, list_ways_to_say
from everturn.permissions.shell.syntax import FOLDER, HOME, UNKNOWN, Command, Redirect, Word, write_marks
from everturn.ports.policy import Ruling

_SHOWN = 80
_MOST_WORDS = 200
"""Of a command, so many are looked at."""
_NAMES = re.compile(r"[^\s'\"`(){};|&<>,]+")
_FILE_URL = re.compile(r"^file://(?:localhost)?")
_BY_PROCESS = re.compile(r"/proc/[^/]+/(?:cwd|root|fd|task)\b|/dev/fd/[^/]+/")
"""What these lead to is another file for each process."""
_JOINED_OPTION = re.compile(r"-[A-Za-z]")


class Doubts:
    """About one line."""

    def __init__(self, survey: Survey, rules: RuleSet, world: World, guard: FileGuard) -> None:
        self._survey, self._world, self._guard = survey, world, guard
        self._against = patterns_of(rules, Ruling.DENY), patterns_of(rules, Ruling.ASK)
        self._write_rules = tuple(
            rule
            for tool, ruling in (("Edit", Ruling.DENY), ("Edit", Ruling.ASK), ("Read", Ruling.DENY))
            for rule in rules.covering(tool, ruling)
        )

    def find(self) -> str:
        """Why a person must be asked; empty where no rule can cover more than was seen."""
        return self.find_command() or self.find_file()

    def find_command(self) -> str:
        """About what runs."""
        if not any(self._against):
            return ""
        if self._survey.murky:
            return self._survey.murky[0]
        if self._survey.reading.broken:
            return f"not understood: {next(iter(self._survey.reading.unsure), 'the line')}"
        for beginning in self._survey.beginnings:
            for patterns in self._against:
                if rule := patterns.find_possible(beginning):
                    return f"{rule.shown} may cover what {beginning[:_SHOWN]!r} goes on with"
        for text in dict.fromkeys(self._list_hints()):
            if rule := next(filter(None, (patterns.find(text) for patterns in self._against)), None):
                return f"it may run {text[:_SHOWN]!r}, which {rule.shown} is about"
        return ""

    def _list_hints(self) -> Iterator[str]:
        fed = tuple(self._survey.fed)
        for sight in self._survey.sights:
            argv = list(sight.argv)
            for hint in (*find_hints(argv), *find_fed_hints(argv, fed)):
                yield from list_ways_to_say(hint)
        for name, value in self._survey.assigned:
            for hint in find_assigned_hints(name, value):
                yield from list_ways_to_say(hint)

    def find_file(self) -> str:
        """About the files that it reads and writes."""
        if self._guard.read_rules and (trouble := self._find_read()):
            return trouble
        return self._find_written() if self._write_rules else ""

    @cached_property
    def _sights(self) -> list[Sight]:
        """Of a line that is understood, those that were read and not guessed: they know what its variables hold."""
        is_known = self._survey.reading.holdable
        return [sight for sight in self._survey.sights if sight.source is not None or not is_known]

    def _find_read(self) -> str:
        for sight in self._sights:
            name = basename(sight.argv[0])
            shown = write_marks(" ".join(sight.argv))[:_SHOWN]
            if name == "git":
                if may_git_show(sight, self._guard, self._world.home):
                    return f"{shown!r} shows what files hold or have held, and a rule keeps some from being read"
                continue
            if opens_nothing(name) or (name in RUNNERS and name not in SHELLS):
                # What a runner runs is looked at by itself.
                continue
            operands = find_operands(sight.argv)
            if takes_folders(sight.argv) and any(
                self._may_lie_below(each, sight) for each in operands or (".",) if UNKNOWN not in each
            ):
                return f"{shown!r} goes through a folder that may hold a file that a rule keeps from being read"
            for word in operands if is_searcher(name) else sight.argv[1:_MOST_WORDS]:
                if self._may_be_read(word, sight):
                    return f"{shown!r} may read a file that a rule keeps from being read ({write_marks(word)[:_SHOWN]})"
            if len(sight.argv) > _MOST_WORDS:
                return "it names too many files"
            if is_interpreter(name) and any(self._is_named("read", text, sight) for text in self._survey.fed):
                return f"{shown!r} is given code that names a file which a rule keeps from being read"
        for redirect, target in self._guard.targets:
            if target.use == "read" and target.path is None and redirect.target is not None:
                sight = _of_redirect(redirect.target, redirect)
                if self._may_be_read(redirect.target.template, sight):
                    return f"it may read a file that a rule keeps from being read ({redirect.target.raw[:_SHOWN]})"
        return ""

    def _may_be_read(self, word: str, sight: Sight) -> bool:
        opening = self._open(word, sight, "read")
        return (
            any(self._is_named("read", text, sight) for text in opening.texts)
            or any(self._may_lie_below(folder, sight, opening.like) for folder in opening.folders)
            or (opening.ends is not None and self._may_end("read", opening.ends))
        )

    def _open(self, word: str, sight: Sight, use: FileUse) -> Opening:
        if self._covered(use) is None:
            # What is there, or will be, is not known.
            sight = Sight(sight.argv, None, sight.source)
        return open_word(word, sight, self._world.home, find_listed(sight, self._survey.reading.pipes))

    def _is_named(self, use: FileUse, text: str, sight: Sight) -> bool:
        """A rule covers a file that stands somewhere in the text: whole, behind a sign, or as a part of code."""
        names = dict.fromkeys(_list_names(text))
        parts = [part for part in dict.fromkeys(_list_parts(text)) if self._is_spoken_of(part)]
        for name in (*names, *parts):
            place = name.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)
            if "\0" in place or not self._looks_like_file(place, sight):
                continue
            if _BY_PROCESS.match(place) or self._guard.find_rule(use, place, sight.here) is not None:
                return True
            if _is_adrift(place, sight) and self._may_end(use, place.rpartition("/")[2]):
                return True
        return False

    def _is_spoken_of(self, part: str) -> bool:
        """Of code, which is full of dots: the part has a name in it that is fixed in a rule."""
        folded = part.casefold()
        return any(all(end in folded for end in ends) for ends in self._endings)

    @cached_property
    def _endings(self) -> list[list[str]]:
        return [list_endings(rule)[-1:] for rule in self._guard.read_rules]

    def _looks_like_file(self, place: str, sight: Sight) -> bool:
        """`build` is mostly a word; where a file has that name, it is that file."""
        if "/" in place or "." in place:
            return place.strip("./") != "" or place == ".."
        if _is_adrift(place, sight):
            return True
        return any(os.path.isfile(each) for each in resolve(sight.here, place) or ())  # noqa: PTH113 - paths as text

    def _may_lie_below(self, folder: str, sight: Sight, like: str = "*") -> bool:
        """Something that a rule keeps from being read is there, or may be. `like`: what its name is like."""
        there = self._covered("read", like)
        place = folder.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)
        if there is None:
            return self._guard.may_pass_by(place, sight.here)
        places = resolve(sight.here, place)
        if places is None:
            return bool(there)
        reals = [os.path.realpath(each) for each in places]
        return any(is_within(real, each) or is_within(each, real) for real in reals for each in there)

    def _may_end(self, use: FileUse, ends: str) -> bool:
        """A file that a rule covers may be called like this."""
        there = self._covered(use)
        if there is None:
            return True
        folded = ends.casefold().rstrip("/")
        return any(each.casefold().endswith(folded) or os.path.isdir(each) for each in there)  # noqa: PTH112 - as text

    def _find_written(self) -> str:
        for sight in self._sights:
            for use, path in find_files(sight.argv):
                if use == "write" and self._may_be_written(path, sight):
                    shown = write_marks(" ".join(sight.argv))[:_SHOWN]
                    return f"{shown!r} may change a file that a rule keeps from being changed"
        for redirect, target in self._guard.targets:
            if target.use == "write" and target.path is None and redirect.target is not None:
                sight = _of_redirect(redirect.target, redirect)
                if self._may_be_written(redirect.target.template, sight):
                    return f"it may write a file that a rule keeps from being written ({redirect.target.raw[:_SHOWN]})"
        return ""

    def _may_be_written(self, path: str, sight: Sight) -> bool:
        if path.endswith("/_") and UNKNOWN not in path:
            return self._holds_unwritten(path.removesuffix("/_"), sight)
        opening = self._open(path, sight, "write")
        if opening.texts == (path,) and opening.ends is None:
            # By its name it was judged before.
            return _is_adrift(path, sight) and self._may_write(f"/{path}")
        places = [text.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd) for text in opening.texts]
        return (
            any("\0" not in place and self._guard.find_rule("write", place, sight.here) for place in places)
            or any(self._holds_unwritten(folder, sight, opening.like) for folder in opening.folders)
            or (opening.ends is not None and self._may_write(opening.ends))
        )

    def _may_write(self, ends: str) -> bool:
        """A file that rules keep from being written may be called like this: one that is there, or a new one."""
        there = self._covered("write")
        is_below = there is None or any(map(os.path.isdir, there))
        return is_below or any(_may_end_with(rule, ends) for rule in self._write_rules)

    def _holds_unwritten(self, folder: str, sight: Sight, like: str = "*") -> bool:
        places = resolve(sight.here, folder.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd))
        there = self._covered("write", like)
        if not places or not there:
            # By its own name the folder was judged before.
            return not places and there != ()
        return any(is_within(os.path.realpath(place), each) for place in places for each in there)

    def _covered(self, use: FileUse, like: str = "*") -> tuple[str, ...] | None:
        """Files that rules cover; of a folder, all that is in it is, whatever its name."""
        there = None if self._brings_files else self._unread if use == "read" else self._unwritten
        if there is None or like == "*":
            return there
        wanted = like.casefold()
        return tuple(
            each
            for each in there
            if fnmatchcase(basename(each).casefold(), wanted) or os.path.isdir(each)  # noqa: PTH112 - as text
        )

    @cached_property
    def _brings_files(self) -> bool:
        """A part of the line makes files that no word of it names: what is there now says nothing then."""
        return any(brings_files(sight.argv) for sight in self._survey.sights)

    @cached_property
    def _unread(self) -> tuple[str, ...] | None:
        return self._world.find_covered("read")

    @cached_property
    def _unwritten(self) -> tuple[str, ...] | None:
        return self._world.find_covered("write")


def _is_adrift(path: str, sight: Sight) -> bool:
    """It starts from a folder that is not known: `cd $X && cat k`."""
    return sight.here is None and sight.source is not None and not path.startswith(("/", HOME, FOLDER))


def _of_redirect(target: Word, redirect: Redirect) -> Sight:
    return Sight(
        (redirect.operator, target.template), redirect.here, Command((target,), (), redirect.here, redirect.scope)
    )


def _list_names(text: str) -> Iterable[str]:
    yield text
    yield text.lstrip("@")
    for sign in ("=", ":", "@"):
        if sign in text:
            yield text.partition(sign)[2].lstrip("@")
            yield text.rpartition(sign)[2]
    if (bare := _FILE_URL.sub("", text)) != text:
        yield bare
    if _JOINED_OPTION.match(text):
        yield text[2:].lstrip("@=")


def _list_parts(text: str) -> Iterable[str]:
    """Of a text that is more than one word."""
    if len(parts := _NAMES.findall(text)) > 1:
        for part in parts:
            yield from (part, part.rpartition("=")[2])


def _may_end_with(rule: Rule, ends: str) -> bool:
    """A name that the rule's pattern ends with may end so, too."""
    last = parse_pattern(rule.specifier, rule.ruling).steps[-1] if rule.specifier else None
    if not isinstance(last, Glob):
        return True
    _, slash, name = ends.rstrip("/").casefold().rpartition("/")
    tail = (last.literal if last.literal is not None else last.edges[1]).casefold()
    return last.folded(str.casefold).matches(name) if slash else tail.endswith(name) or name.endswith(tail)
