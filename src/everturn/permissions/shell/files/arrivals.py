"""What `cp`, `mv`, `ln`, `install`, `rsync`, `scp` and `git mv` bring with them: each name that a glob matches or a folder holds, where it goes.

For deny and ask rules and for protected paths beside an allow rule: a name too many costs a question. What stands in the line by its full
name is found by `find_written`; here is what does not.
"""

import os
import re
from collections.abc import Iterator
from functools import cached_property
from posixpath import basename, join, normpath

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import JudgedWorld
from everturn.permissions.paths.judge import is_within
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.files.opened_files import OpenedFiles
from everturn.permissions.shell.files.openers import find_files
from everturn.permissions.shell.files.openings import Globbing, find_listed, fits, open_word
from everturn.permissions.shell.files.writers import find_given_folders
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, Command
from everturn.permissions.shell.running.option_values import OptionNames, find_operands, find_values, has_option
from everturn.permissions.shell.running.runner_words import skip_options
from everturn.permissions.shell.running.runners import EVALUATORS, SHELLS
from everturn.permissions.shell.running.survey import Candidate, Survey

_OPTIONS = {
    "cp": OptionNames(valued="tS", valued_names=("--target-directory", "--suffix")),
    "mv": OptionNames(valued="tS", valued_names=("--target-directory", "--suffix")),
    "ln": OptionNames(valued="tS", valued_names=("--target-directory", "--suffix")),
    "install": OptionNames(
        valued="tSgmo", valued_names=("--target-directory", "--suffix", "--mode", "--owner", "--group")
    ),
    "scp": OptionNames(valued="cDFiJloPSX"),
    "rsync": OptionNames(
        valued="efBTM@",
        valued_names=(
            "--rsh", "--filter", "--exclude", "--include", "--exclude-from", "--include-from", "--files-from", "--temp-dir", "--backup-dir",
            "--suffix", "--partial-dir", "--log-file", "--compare-dest", "--copy-dest", "--link-dest", "--chmod", "--chown", "--rsync-path",
        ),
    ),
}  # fmt: skip
_RECURSIVE = {
    "cp": OptionNames(letters="rRa", names=("--recursive", "--archive"), valued="tS"),
    "scp": OptionNames(letters="r", valued=_OPTIONS["scp"].valued),
}
"""Of the others, `mv` and `rsync` always take what is in a folder, and `ln` and `install` never."""
_WITH_PARENTS = {
    "cp": OptionNames(names=("--parents",)),
    "rsync": OptionNames(letters="R", names=("--relative", "--files-from"), valued=_OPTIONS["rsync"].valued),
}
_FOLLOWING = OptionNames(
    letters="LHk", names=("--dereference", "--copy-links", "--copy-dirlinks", "--copy-unsafe-links"), valued="tSe"
)
_BACKUP = dict.fromkeys(
    ("cp", "mv", "ln", "install"), OptionNames(letters="bS", names=("--backup", "--suffix"), valued="tS")
) | {"rsync": OptionNames(letters="b", names=("--backup", "--suffix"), valued=_OPTIONS["rsync"].valued)}
_SUFFIX = OptionNames(letters="S", names=("--suffix",), valued="tS")
_DEFAULT_SUFFIX = "SIMPLE_BACKUP_SUFFIX"
_DELETES = {
    "rsync": OptionNames(
        names=(
            "--delete", "--delete-before", "--delete-during", "--delete-delay", "--delete-after", "--delete-excluded", "--del",
            "--delete-missing-args", "--force",
        )
    )
}  # fmt: skip
_EXCHANGES = {"mv": OptionNames(names=("--exchange",))}
"""What is at the target comes to where the source was."""
_EMPTIES = {"rsync": OptionNames(names=("--remove-source-files", "--remove-sent-files"))}
_LISTED_ELSEWHERE = {"rsync": OptionNames(names=("--files-from",))}
_ONLY_NEW_NAME = dict.fromkeys(
    ("cp", "mv", "ln", "install"), OptionNames(letters="T", names=("--no-target-directory",), valued="tS")
)
_EXCLUDES = OptionNames(names=("--exclude",))
_INCLUDES = OptionNames(letters="f", names=("--include", "--include-from", "--filter"), valued="eBTM@")
_GLOB = compile_late(r"[*?\[]")
_PLAIN_NAME = compile_late(r"[\w.-]+")
_REMOTE = compile_late(r"[^/]*:.*", re.DOTALL)
_CHANGES_GLOBS = frozenset({"shopt", "set", "source", "."}) | EVALUATORS | SHELLS
_GLOB_VARIABLES = frozenset({"GLOBIGNORE", "BASHOPTS", "SHELLOPTS"})
_MAX_MADE = 5_000
"""Names that are looked at, of one command."""
_DEEPEST = 60
"""Folders in folders; links that are followed may lead in a circle."""
_ROUNDS = 3


class Arrivals(msgspec.Struct, frozen=True, kw_only=True):
    places: tuple[str, ...] = ()
    """Absolute paths of all that it may make, change or remove."""
    names: tuple[str, ...] = ()
    """The same, below a folder that is not known."""
    anything: tuple[str, ...] = ()
    """Folders below which anything may come; `/` where not even that is known."""


class _Named(msgspec.Struct, frozen=True):
    """One that a word of the command may be."""

    text: str
    place: str | None
    """Absolute; None where that is not known."""


class _Arrival(msgspec.Struct, frozen=True):
    """Something that comes."""

    below: str
    """The name below the target."""
    renames: bool = False
    """Only where the target is the new name of what comes, and no folder that takes it in."""


_NOTHING = Arrivals()


class LineArrivals:
    """Of one line."""

    def __init__(self, survey: Survey, world: JudgedWorld, guard: FileGuard, files: OpenedFiles) -> None:
        self._survey, self._world, self._guard, self._files = survey, world, guard, files

    def find(self) -> Iterator[tuple[Candidate, Arrivals]]:
        for candidate in self._takers:
            if (found := self._find_of(candidate, self._made)) != _NOTHING:
                yield candidate, found

    @cached_property
    def _takers(self) -> list[Candidate]:
        return [candidate for candidate in self._files.candidates if _read_name(candidate.argv)]

    @cached_property
    def _made(self) -> dict[str, Command | None]:
        """What the line itself makes, as far as it says so, with the part that does: another part may take that along."""
        made: dict[str, Command | None] = {}
        if len(self._survey.candidates) + len(self._guard.targets) < 2:  # noqa: PLR2004
            return made
        for redirect, target in self._guard.targets:
            if target.use == "write" and target.path is not None:
                made.update((normpath(place), None) for place in resolve(redirect.here, target.path) or ())
        for candidate in self._files.candidates:
            for use, path in find_files(candidate.argv):
                if use == "write" and UNKNOWN not in path and not path.endswith("/_"):
                    places = resolve(candidate.here, self._place(path)) or ()
                    made.update((normpath(place), candidate.source) for place in places)
        for _ in range(_ROUNDS):
            before = len(made)
            for candidate in self._takers:
                for place in map(normpath, self._find_of(candidate, made).places):
                    made.setdefault(place, candidate.source)
            if len(made) == before or len(made) > _MAX_MADE:
                break
        return made

    def _find_of(self, candidate: Candidate, made: dict[str, Command | None]) -> Arrivals:
        others = [place for place, maker in made.items() if maker is None or maker is not candidate.source]
        return _Taking(candidate, self._survey, self._world, self._files, others, dots=self._dots).find()

    @cached_property
    def _dots(self) -> bool:
        """A `*` may stand for names with a dot in front: an option of the shell may have been set."""
        names = {basename(candidate.argv[0]) for candidate in self._survey.candidates}
        is_set = not _GLOB_VARIABLES.isdisjoint(self._files.set_names)
        return is_set or not _CHANGES_GLOBS.isdisjoint(names) or any(UNKNOWN in name for name in names)

    def _place(self, path: str) -> str:
        return path.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)


class _Taking:
    """One command that takes files somewhere."""

    def __init__(
        self,
        candidate: Candidate,
        survey: Survey,
        world: JudgedWorld,
        files: OpenedFiles,
        made: list[str],
        *,
        dots: bool,
    ) -> None:
        self._candidate, self._world, self._made = candidate, world, made
        self._listed = find_listed(candidate, survey.reading.pipes)
        self._globbing = Globbing(most=_MAX_MADE, dots=dots)
        self._is_alone = len(survey.candidates) == 1
        self._name = _read_name(candidate.argv)
        words = candidate.argv[1:]
        here = candidate.here
        folders = None if here is None else tuple(sorted(here))
        if folders is None and candidate.source is None:
            folders = (world.cwd,)
        if basename(candidate.argv[0]) == "git":
            moved = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-C"]
            words = tuple(skip_options(list(words))[1:])
            folders = None if folders is None else tuple(join(each, *moved) for each in folders)
        self._folders = folders
        self._words = words
        self._recursive = self._name in {"mv", "rsync"} or self._has(_RECURSIVE)
        self._suffixes: list[str] = []
        self._is_unknown = self._has(_LISTED_ELSEWHERE)
        if self._has(_BACKUP):
            self._suffixes = ["~", *find_values(words, _SUFFIX)]
            self._is_unknown |= _DEFAULT_SUFFIX in files.set_names or any(UNKNOWN in each for each in self._suffixes)
        self._left = _MAX_MADE
        self._walked: dict[str, tuple[str | None, ...]] = {}

    def _has(self, options: dict[str, OptionNames]) -> bool:
        return self._name in options and has_option(self._words, options[self._name])

    def find(self) -> Arrivals:
        operands = find_operands(self._words, _OPTIONS[self._name])
        given = [folder for folder in find_given_folders(self._name, self._words) if folder]
        if self._name == "ln" and len(operands) == 1 and not given:
            given = ["."]
        opened = {word: tuple(self._open(word)) for word in dict.fromkeys((*operands, *given))}
        if given != ["."] and self._is_plain([opened[word] for word in operands], operands):
            return _NOTHING
        # One word may become several: `mv d/*` takes all but the last of them there.
        is_one = len({each.text for word in operands[-1:] for each in opened[word]}) == 1
        sources = [each for word in (operands[:-1] if is_one and not given else operands) for each in opened[word]]
        coming = dict.fromkeys(each for source in sources for each in self._list_coming(source))
        names = [each for each in coming if each is not None and each.below]
        is_unknown = self._is_unknown or None in coming
        targets = [each for word in dict.fromkeys((*given, *operands[-1:])) for each in opened[word]]
        adrift = any(target.place is None for target in targets)
        places: dict[str, None] = {}
        anything: dict[str, None] = {"/": None} if adrift and is_unknown else {}
        for target in targets:
            if target.place is None or self._is_remote(target.text):
                continue
            if is_unknown:
                anything[target.place] = None
            takes_in = self._takes_in(target.place)
            goals = [join(target.place, each.below) for each in names if not (each.renames and takes_in)]
            places.update(dict.fromkeys(goals))
            if self._name == "mv" and (self._suffixes or self._has(_EXCHANGES)):
                # A folder in the way goes elsewhere, with all that is in it.
                for goal in (target.place, *goals):
                    places.update(dict.fromkeys(self._list_below(goal, anything)))
            places.update({f"{target.place}{end}": None for end in self._suffixes})
            if self._has(_DELETES):
                places.update(dict.fromkeys(self._list_below(target.place, anything)))
        if self._name == "mv" or self._has(_EMPTIES):
            for source in sources:
                places.update(dict.fromkeys(self._list_below(source.place or "", anything) if source.place else ()))
        places.update({f"{place}{end}": None for place in list(places) for end in self._suffixes})
        return Arrivals(
            places=tuple(places),
            names=tuple(f"{each.below}{end}" for each in names for end in ("", *self._suffixes)) if adrift else (),
            anything=tuple(anything),
        )

    def _is_plain(self, opened: list[tuple[_Named, ...]], operands: list[str]) -> bool:
        """Nothing but files that stand in the line by their full names: `find_written` finds all of that."""
        if (
            self._is_unknown
            or self._suffixes
            or self._has(_WITH_PARENTS)
            or self._has(_DELETES)
            or self._has(_EXCHANGES)
        ):
            return False
        for found, word in zip(opened, operands, strict=True):
            if any(each.text != self._place(word) or each.place is None for each in found):
                return False
            if self._recursive and any(self._may_hold_more(each.place or "") for each in found):
                return False
        return True

    def _may_hold_more(self, place: str) -> bool:
        return os.path.isdir(place) or any(is_within(normpath(place), each) for each in self._made)  # noqa: PTH112 - paths as text

    def _takes_in(self, target: str) -> bool:
        """It is a folder now, and will be."""
        return self._is_alone and os.path.isdir(target) and not self._has(_ONLY_NEW_NAME)  # noqa: PTH112 - paths as text

    def _open(self, word: str) -> Iterator[_Named]:
        """All that it may be, as far as that is known."""
        opening = open_word(word, self._candidate, self._world.home, self._listed, self._globbing)
        if opening.ends is not None:
            yield _Named(word, None)
        for text in map(self._place, opening.texts):
            given = self._world.home + text[1:] if text == "~" or text.startswith("~/") else text
            if "\0" in text or given.startswith("~") or not (self._folders or given.startswith("/")):
                yield _Named(text, None)
            else:
                for place in (join(folder, given) for folder in self._folders or ("/",)):
                    yield _Named(text, place)
                    yield from (_Named(each, each) for each in self._find_made(place))
        for folder in opening.folders:
            # A file below it, at any depth.
            if self._folders is None:
                yield _Named(folder, None)
            for start in (join(each, self._place(folder)) for each in self._folders or ()):
                yield _Named(start, start)
                for below in self._walk(start):
                    yield _Named(word, None) if below is None else _Named(join(folder, below), join(start, below))

    def _find_made(self, pattern: str) -> Iterator[str]:
        """What the line makes itself, for a glob to match."""
        if not self._made or not _GLOB.search(pattern):
            return
        parts = normpath(pattern).split("/")
        for each in self._made:
            names = each.split("/")
            if len(names) == len(parts) and all(map(fits, names, parts)):
                yield each

    def _list_coming(self, source: _Named) -> Iterator[_Arrival | None]:
        """None for names that are not known."""
        name = basename(source.text.rstrip("/"))
        if source.place is None or self._is_remote(source.text):
            # Without what is in folders, it is what the word says; where that is not fixed, nobody knows.
            yield None if self._recursive or UNKNOWN in source.text or source.place is None else _Arrival(name)
            return
        contents = self._walk(source.place) if self._recursive else ()
        is_content = name in {"", ".", ".."} or (self._name == "rsync" and source.text.endswith("/"))
        starts = [("", not is_content)]
        if name != ".":
            starts.append((name if name not in {"", ".."} else basename(os.path.realpath(source.place)), False))
        if self._has(_WITH_PARENTS):
            whole = [os.path.relpath(source.place, folder) for folder in self._folders or ("/",)]
            # To rsync `/./` says where the names begin that count.
            for name in (*whole, normpath(source.text.partition("/./")[2])):
                steps = [step for step in name.split("/") if step not in {"", ".", ".."}]
                yield from (_Arrival("/".join(steps[:at])) for at in range(1, len(steps)))
                starts.append(("/".join(steps), False))
        for start, renames in starts:
            yield _Arrival(start, renames)
            for below in contents:
                yield None if below is None else _Arrival(join(start, below), renames)

    def _list_below(self, folder: str, anything: dict[str, None]) -> Iterator[str]:
        for below in self._walk(folder):
            if below is None:
                anything[folder] = None
            else:
                yield join(folder, below)

    def _walk(self, top: str) -> tuple[str | None, ...]:
        """Names from there, with what the line itself makes; None at last where there are too many."""
        if top not in self._walked:
            place = normpath(top)
            made = [each[len(place) :].lstrip("/") for each in self._made if each != place and is_within(place, each)]
            self._walked[top] = (*made, *self._walk_now(top))
        return self._walked[top]

    def _walk_now(self, top: str) -> Iterator[str | None]:
        excluded, follows = self._list_excluded(), has_option(self._words, _FOLLOWING)
        waiting = [("", 0)]
        while waiting:
            inner, depth = waiting.pop()
            try:
                with os.scandir(join(top, inner)) as entries:
                    for entry in entries:
                        self._left -= 1
                        if self._left < 0 or depth > _DEEPEST:
                            yield None
                            return
                        if entry.name in excluded:
                            continue
                        below = join(inner, entry.name)
                        yield below
                        if entry.is_dir(follow_symlinks=follows):
                            waiting.append((below, depth + 1))
            except (NotADirectoryError, FileNotFoundError):
                continue
            except OSError:
                # It cannot be looked into now, and perhaps where it goes.
                yield None
                return

    def _list_excluded(self) -> frozenset[str]:
        """Names that `rsync` leaves out, where nothing else says what it takes."""
        if self._name != "rsync" or has_option(self._words, _INCLUDES):
            return frozenset()
        values = (value.rstrip("/") for value in find_values(self._words, _EXCLUDES))
        return frozenset(value for value in values if _PLAIN_NAME.fullmatch(value))

    def _is_remote(self, text: str) -> bool:
        return self._name in {"rsync", "scp"} and _REMOTE.fullmatch(text) is not None

    def _place(self, path: str) -> str:
        return path.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)


def _read_name(argv: tuple[str, ...]) -> str:
    """By what the command is known here; empty where it takes nothing anywhere."""
    name = basename(argv[0])
    if name == "git":
        return "mv" if skip_options(list(argv[1:]))[:1] == ["mv"] else ""
    return name if name in _OPTIONS else ""
