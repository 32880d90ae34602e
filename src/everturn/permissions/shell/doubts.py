"""What deny and ask rules may cover although it is only known when the line runs: asked about in every mode, and in a sandbox."""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from posixpath import basename
from urllib.parse import unquote

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import FileUse, World
from everturn.permissions.paths.judging import is_within
from everturn.permissions.rules.globs import Glob
from everturn.permissions.rules.patterns import parse_pattern
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.shell.clearness import (
    find_obedience,
    find_unclear,
    list_said,
    list_set_names,
    reads_code,
)
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
from everturn.permissions.shell.hints import MAKERS, find_assigned_hints, find_fed_hints, find_hints, find_renamed
from everturn.permissions.shell.matching import patterns_of
from everturn.permissions.shell.openings import Opening, find_listed, open_word
from everturn.permissions.shell.possible_writes import PossibleWrites
from everturn.permissions.shell.runners import RUNNERS, SHELLS
from everturn.permissions.shell.scripts import is_interpreter
from everturn.permissions.shell.shown_by_git import find_opened_by_git, list_endings, may_git_show
from everturn.permissions.shell.survey import Sight, Survey, list_ways_to_say
from everturn.permissions.shell.syntax import FOLDER, HOME, UNKNOWN, Command, Here, Redirect, Word, write_marks
from everturn.permissions.shell.unwrapping import find_inner_words
from everturn.ports.policy import Ruling

_SHOWN = 80
_MOST_WORDS = 200
"""Of a command, so many are looked at."""
_NAMES = compile_late(r"[^\s'\"`(){};|&<>,]+")
_FILE_URL = compile_late(r"^file://(?:localhost)?")
_BY_PROCESS = compile_late(r"/proc/[^/]+/(?:cwd|root|fd|task)\b|/dev/fd/[^/]+/")
"""What these lead to is another file for each process."""
_OF_FOLDERS = frozenset({"HOME", "CDPATH", "OLDPWD", "PWD"})
"""Variables that decide where `cd` goes."""
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
_RENAME = frozenset({"ln", "mv", "cp", "install", "rsync", "link"})
_KEEPS_LINKS = compile_late(r"-[A-Za-z]*[adPRrsl]|--(?:rec|arc|no-d|pre|sy|li)")
_RUNS_FOR_GIT = compile_late(
    r"GIT_(?:CONFIG_(?:VALUE_\d+|PARAMETERS)|\w*EDITOR|PAGER|SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)"
)
_REPEATS = compile_late(r"\b(?:for|while|until|function|eval|trap)\b|\(\)")
"""A part that stands first may run once more."""
_JOINED_OPTION = compile_late(r"-[A-Za-z]")


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
        if why := find_obedience(self._survey):
            return why
        for name, value in self._survey.assigned:
            if UNKNOWN in value and _RUNS_FOR_GIT.fullmatch(name):
                return f"what {name} holds is not known before it runs"
        for name in (name for sight in self._survey.sights for name in find_renamed(sight.argv)):
            if rule := next(filter(None, (patterns.find_possible(f"{name} ") for patterns in self._against)), None):
                return f"it may give {name[:_SHOWN]!r} another name, and {rule.shown} is about that program"
        for text in dict.fromkeys(self._list_hints()):
            if rule := next(filter(None, (patterns.find(text) for patterns in self._against)), None):
                return f"it may run {text[:_SHOWN]!r}, which {rule.shown} is about"
        return ""

    def _list_hints(self) -> Iterator[str]:
        fed = tuple(self._fed)
        for sight in self._survey.sights:
            argv = list(sight.argv)
            for hint in (*find_hints(argv), *find_fed_hints(argv, fed)):
                yield from _list_said_behind(hint)
        place = next((name for sight in self._survey.sights if (name := basename(sight.argv[0])) in MAKERS), "")
        for name, value in self._survey.assigned:
            for hint in find_assigned_hints(name, value, place=place):
                yield from _list_said_behind(hint)

    def find_file(self) -> str:
        """About the files that it reads and writes."""
        if self._guard.read_rules and (trouble := self._find_read()):
            return trouble
        if self._write_rules:
            writes = PossibleWrites(self._survey, self._world, self._guard)
            if trouble := self._find_written() or writes.find_ruled():
                return trouble
        is_there = (self._guard.read_rules and self._covered("read") != ()) or (
            self._write_rules and self._covered("write") != ()
        )
        why = find_unclear(self._survey, self._world.home, self._set_names) if is_there else ""
        return f"{why}, and a rule keeps some files from being opened" if why else ""

    @cached_property
    def _sights(self) -> list[Sight]:
        """Of a line that is understood, those that were read and not guessed: they know what its variables hold."""
        is_known = self._survey.reading.holdable
        return [self._place(sight) for sight in self._survey.sights if sight.source is not None or not is_known]

    def _place(self, sight: Sight) -> Sight:
        """With what `~`, `$PWD` and the folder are by then, where the line or an export has set them."""
        moves = any(reading.moves for reading in self._survey.readings)
        here = None if moves and not self._set_names.isdisjoint(_OF_FOLDERS) else sight.here
        is_one = here is not None and len(here) == 1 and "PWD" not in self._set_names
        folder = (next(iter(here)) if here else UNKNOWN) if is_one else UNKNOWN
        home = HOME if "HOME" not in self._set_names else UNKNOWN
        folder = FOLDER if folder == self._world.cwd else folder
        argv = tuple(word.replace(FOLDER, folder).replace(HOME, home) for word in sight.argv)
        return Sight(argv, here, sight.source)

    @cached_property
    def _set_names(self) -> frozenset[str]:
        return list_set_names(self._survey) | self._world.exports.keys() | self._world.unset

    def _find_read(self) -> str:
        for sight in self._sights:
            name = basename(sight.argv[0])
            shown = write_marks(" ".join(sight.argv))[:_SHOWN]
            if name == "git":
                if may_git_show(sight, self._guard, self._world.home):
                    return f"{shown!r} shows what files hold or have held, and a rule keeps some from being read"
                for word in find_opened_by_git(sight, self._world.home):
                    if self._may_be_read(word, sight):
                        return f"{shown!r} may open a file that a rule keeps from being read"
                continue
            if opens_nothing(name) or (name in RUNNERS and name not in SHELLS):
                # What a runner runs is looked at by itself.
                if any(self._may_be_read(word, sight) for word in _list_given(sight.argv)):
                    return f"{shown!r} may read a file that a rule keeps from being read"
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
            if (is_interpreter(name) or reads_code(sight.argv)) and any(
                self._is_named("read", text, sight) for text in self._fed
            ):
                return f"{shown!r} is given code that names a file which a rule keeps from being read"
        if trouble := self._find_handed():
            return trouble
        for redirect, target in self._guard.targets:
            is_open = target.path is None or self._is_made(target.path, redirect.here, None)
            if target.use == "read" and is_open and redirect.target is not None:
                sight = self._place(_of_redirect(redirect.target, redirect))
                if self._may_be_read(sight.argv[1], sight):
                    return f"it may read a file that a rule keeps from being read ({redirect.target.raw[:_SHOWN]})"
        return ""

    def _find_handed(self) -> str:
        """`HISTFILE=.env history -r`, `export RIPGREP_CONFIG_PATH=$X`: variables name files to programs."""
        for sight in self._sights:
            given = [(each.name, each.value.template) for each in (sight.source.assignments if sight.source else ())]
            if basename(sight.argv[0]) in _HANDERS:
                given += [
                    (name, value) for name, equals, value in (word.partition("=") for word in sight.argv) if equals
                ]
            for name, value in given:
                values = (
                    [value]
                    if _NAMES_A_FILE.fullmatch(name)
                    else [each for each in value.split(":") if UNKNOWN not in each]
                )
                if name != "PATH" and any(self._may_be_read(each, sight) for each in values if each):
                    return f"{name} may name a file that a rule keeps from being read ({write_marks(value)[:_SHOWN]})"
        return ""

    @cached_property
    def _fed(self) -> tuple[str, ...]:
        return (*self._survey.fed, *list_said(self._survey))

    @cached_property
    def _made(self) -> list[tuple[int, str | None, Here]]:
        """Names that a part of the line gives to what has another one, by the place of that part; None for any."""
        made: list[tuple[int, str | None, Here]] = []
        for at, sight in enumerate(self._survey.sights):
            name = basename(sight.argv[0])
            if brings_files(sight.argv):
                made.append((at, None, None))
            elif name in _RENAME and not _takes_plain_files(sight):
                targets = [path for use, path in find_files(sight.argv) if use == "write" and not path.endswith("/_")]
                is_open = any(UNKNOWN in word for word in sight.argv[1:]) or len(targets) < 2 or sight.here is None  # noqa: PLR2004
                made += [(at, None, None)] if is_open else [(at, path, sight.here) for path in targets]
        return made

    def _is_made(self, path: str, here: Here, sight: Sight | None, use: FileUse = "read") -> bool:
        """An earlier part of the line may have put a link there, or the way to it: what it leads to is not known now."""
        if not self._made or path.strip("./") == "" or "://" in path:
            return False
        is_name = "/" in path or "." in path
        place = next((at for at, each in enumerate(self._survey.sights) if sight and each.source is sight.source), None)
        before = self._made if place is None or self._repeats else [each for each in self._made if each[0] < place]
        if not before or self._covered_now(use) == ():
            return False
        ways = {os.path.normpath(each) for each in resolve(here, path) or ()}
        return not ways or any(
            is_name
            if name is None
            else any(is_within(os.path.normpath(each), way) for each in resolve(at, name) or () for way in ways)
            for _, name, at in before
        )

    @cached_property
    def _repeats(self) -> bool:
        return _REPEATS.search(self._survey.text) is not None

    def _may_be_read(self, word: str, sight: Sight) -> bool:
        opening = self._open(word, sight, "read")
        if any(not text.startswith("-") and self._is_made(text, sight.here, sight) for text in opening.texts):
            return True
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
            if (
                _BY_PROCESS.match("/" + os.path.normpath(place).lstrip("/") if place.startswith("/") else place)
                or self._guard.find_rule(use, place, sight.here) is not None
            ):
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
            if sight.argv[0] == "find" and "-delete" in sight.argv and self._may_delete(sight):
                return f"{write_marks(' '.join(sight.argv))[:_SHOWN]!r} may remove a file that a rule keeps from being changed"
            for use, path in find_files(sight.argv):
                if use == "write" and (
                    self._may_be_written(path, sight) or self._is_made(path, sight.here, sight, use)
                ):
                    shown = write_marks(" ".join(sight.argv))[:_SHOWN]
                    return f"{shown!r} may change a file that a rule keeps from being changed"
        for redirect, target in self._guard.targets:
            is_open = target.path is None or self._is_made(target.path, redirect.here, None, "write")
            if target.use == "write" and is_open and redirect.target is not None:
                sight = self._place(_of_redirect(redirect.target, redirect))
                if target.path is not None or self._may_be_written(sight.argv[1], sight):
                    return f"it may write a file that a rule keeps from being written ({redirect.target.raw[:_SHOWN]})"
        return ""

    def _may_delete(self, sight: Sight) -> bool:
        """`find -delete` may come upon a file that rules keep."""
        opening = find_listed(sight, self._survey.reading.pipes) or Opening(folders=(".", "/"))
        return any(self._holds_unwritten(folder, sight, opening.like) for folder in opening.folders)

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
        # What the line brings there itself is no file that somebody wanted to keep.
        there = self._narrow(self._unwritten, like)
        if not places or not there:
            # By its own name the folder was judged before.
            return not places and there != ()
        return any(is_within(os.path.realpath(place), each) for place in places for each in there)

    def _covered(self, use: FileUse, like: str = "*") -> tuple[str, ...] | None:
        """Files that rules cover; of a folder, all that is in it is, whatever its name."""
        return self._narrow(None if self._brings_files else self._covered_now(use), like)

    def _narrow(self, there: tuple[str, ...] | None, like: str) -> tuple[str, ...] | None:
        if there is None or like == "*":
            return there
        wanted = like.casefold()
        return tuple(
            each
            for each in there
            if fnmatchcase(basename(each).casefold(), wanted) or os.path.isdir(each)  # noqa: PTH112 - as text
        )

    def _covered_now(self, use: FileUse) -> tuple[str, ...] | None:
        return self._unread if use == "read" else self._unwritten

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
        yield from (bare, unquote(bare))
    if _JOINED_OPTION.match(text):
        yield text[2:].lstrip("@=")


def _takes_plain_files(sight: Sight) -> bool:
    """What `cp` and `mv` are given are files, and will be under the other name, too: they were judged as read."""
    name, words = basename(sight.argv[0]), sight.argv[1:]
    if name == "cp":
        return not any(map(_KEEPS_LINKS.match, words))
    sources = [word for word in words if not word.startswith("-")][:-1]
    places = [place for source in sources for place in resolve(sight.here, source) or ("",)]
    return name == "mv" and all(os.path.isfile(place) and not os.path.islink(place) for place in places)  # noqa: PTH113, PTH114


def _list_given(argv: tuple[str, ...]) -> Iterator[str]:
    """Of runners, and of programs that open none of their operands: what their options open."""
    name, words = basename(argv[0]), argv[1:_MOST_WORDS]
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


def _may_end_with(rule: Rule, ends: str) -> bool:
    """A name that the rule's pattern ends with may end so, too."""
    last = parse_pattern(rule.specifier, rule.ruling).steps[-1] if rule.specifier else None
    if not isinstance(last, Glob):
        return True
    _, slash, name = ends.rstrip("/").casefold().rpartition("/")
    tail = (last.literal if last.literal is not None else last.edges[1]).casefold()
    return last.folded(str.casefold).matches(name) if slash else tail.endswith(name) or name.endswith(tail)


def _list_said_behind(hint: list[str]) -> Iterator[str]:
    """The hint, and what it would run if it is a runner: `nice -n 5 rm x`."""
    yield from list_ways_to_say(hint)
    if len(hint) > 1 and basename(hint[0]) in RUNNERS:
        found = find_inner_words(hint)
        for inner in (*found.commands[1:], *(script.split() for script in found.scripts)):
            if inner:
                yield from list_ways_to_say(inner)
