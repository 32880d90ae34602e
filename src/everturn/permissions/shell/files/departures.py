"""What `rm -r`, `git rm`, `git clean`, `find -delete`, `chmod -R` and their kind take with the folders that they are given: each protected name there.

For protected paths beside an allow rule, as the folders are now. What `mv` and `rsync` take away is found by `LineArrivals`.
"""

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from posixpath import basename, dirname, join, normpath, realpath
from typing import TYPE_CHECKING

import msgspec

from everturn.core.patterns import compile_late
from everturn.core.protected import GIT
from everturn.permissions.git.tracked import TrackedNames
from everturn.permissions.judgement import JudgedWorld
from everturn.permissions.paths.inside import EVERYTHING, MAX_INSIDE, Taken
from everturn.permissions.shell.files.openings import Globbing, WordFiles, find_listed, open_word
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN
from everturn.permissions.shell.running.option_values import (
    OptionNames,
    find_operands,
    find_values,
    has_option,
)
from everturn.permissions.shell.running.runner_words import skip_options
from everturn.permissions.shell.running.survey import Candidate, Survey

if TYPE_CHECKING:
    from everturn.permissions.paths.inside import InsideLook

_MODES = OptionNames(letters="R", names=("--recursive",))
_INSIDE = OptionNames(letters="r", names=("--recursive",))
_COMPRESSORS = frozenset({"gzip", "gunzip", "pigz", "unpigz", "zstd", "unzstd", "lz4", "unlz4"})
_TO_OUTPUT = OptionNames(letters="ctl", names=("--stdout", "--to-stdout", "--test", "--list"))
_RECURSIVE = {
    "rm": OptionNames(letters="rR", names=("--recursive",)),
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl"), _MODES),
    **dict.fromkeys((*_COMPRESSORS, "srm", "wipe"), _INSIDE),
}
"""With these options they take what is in folders."""
_ALWAYS = frozenset({"trash", "trash-put", "rimraf", "del-cli"})
_REMOVES_NAMES = frozenset({"rm", "rmdir", "unlink", "shred"})
"""They do nothing but to remove what they are given: globs of many names are looked at here."""
_KEEPS_LINKS = frozenset({"rm", *_ALWAYS})
"""Given a link, they take the link."""
_TAR = OptionNames(valued="bCfFgHIKLNTVX", valued_names=("--directory", "--file"))
_TAR_REMOVES = OptionNames(names=("--remove-files",))
_TAR_LISTED = OptionNames(letters="T", names=("--files-from",), valued=_TAR.valued)
_TAR_FOLDER = OptionNames(letters="C", names=("--directory",), valued=_TAR.valued)
_ZIP = OptionNames(valued="bnOtsPxi")
_ZIP_REMOVES = OptionNames(letters="m", names=("--move",), valued=_ZIP.valued)
_ZIP_LISTED = OptionNames(letters="@", names=("--names-stdin",), valued=_ZIP.valued)
_7Z_REMOVES = "-sdel"
_CLEANS_NOT = OptionNames(letters="n", names=("--dry-run",), valued="e", valued_names=("--exclude",))
_REMOVES_NOT = OptionNames(letters="n", names=("--dry-run", "--cached"))
_BUNDLE = compile_late(r"-[A-Za-z]+")
_GLOB = "*?["
_WIDE = Globbing(most=5_000)
_MAX_NAMES = 200
"""Names of one word that are looked at one by one, links in them followed."""
_MAX_BELOW = 1_000
_SHOWN = 80


class _Folders(msgspec.Struct, frozen=True, kw_only=True):
    """What one command is given."""

    words: tuple[str, ...]
    goes_in: bool = True
    """It takes what is in folders."""
    taken: Taken = EVERYTHING
    counts: Callable[[str], bool] = lambda _: True
    """Whether it would take what was found."""


class LineDepartures:
    """Of one line."""

    def __init__(self, survey: Survey, world: JudgedWorld, candidates: list[Candidate]) -> None:
        self._survey, self._world, self._candidates = survey, world, candidates
        self._opened: dict[tuple[int, str], WordFiles] = {}
        self._guarded: dict[str, bool] = {}

    @cached_property
    def _look(self) -> "InsideLook":
        return self._world.look_inside()

    def judges(self, path: str, candidate: Candidate) -> bool:
        """All that the word may be is looked at here."""
        given = candidate if basename(candidate.argv[0]) in _REMOVES_NAMES else None
        return given is not None and path in given.argv and self._open(path, candidate).ends is None

    def find(self) -> str:
        """Why a rule that allows the line is not enough; empty where nothing protected goes."""
        for candidate in self._candidates:
            given = self._plan(candidate)
            if given is None:
                continue
            for path in self._find_taken(candidate, given):
                shown = candidate.text[:_SHOWN]
                if not path and path is not None:
                    return f"what {shown!r} takes is only known when it runs"
                if path is None:
                    return f"{shown!r} takes more with it than the {MAX_INSIDE:,} names that are looked at"
                if given.counts(path):
                    told = path.removeprefix(f"{self._world.cwd}/")[:_SHOWN]
                    return f"{shown!r} takes {told} with it, which is protected: no rule approves that ahead of time"
        return ""

    def _plan(self, candidate: Candidate) -> _Folders | None:
        name, words = basename(candidate.argv[0]), candidate.argv[1:]
        goes_in = name in _RECURSIVE and has_option(words, _RECURSIVE[name])
        if name in _COMPRESSORS and has_option(words, _TO_OUTPUT):
            return None
        if goes_in or name in _REMOVES_NAMES:
            return _Folders(words=tuple(find_operands(words, OptionNames())), goes_in=goes_in)
        if name in _ALWAYS or (name in {"7z", "7za", "7zz"} and _7Z_REMOVES in words):
            return _Folders(words=tuple(find_operands(words, OptionNames())))
        if name in {"tar", "bsdtar"} and has_option(words, _TAR_REMOVES):
            operands, folders = find_operands(words, _TAR), [*find_values(words, _TAR_FOLDER)]
            if has_option(words, _TAR_LISTED):
                operands.append(UNKNOWN)
            return _Folders(words=(*operands, *(join(each, word) for each in folders for word in operands)))
        if name == "zip" and has_option(words, _ZIP_REMOVES):
            listed = (UNKNOWN,) if has_option(words, _ZIP_LISTED) else ()
            return _Folders(words=(*find_operands(words, _ZIP)[1:], *listed))
        if name == "find" and "-delete" in words:
            return self._plan_search(candidate)
        return self._plan_git(candidate, words) if name == "git" else None

    def _plan_search(self, candidate: Candidate) -> _Folders:
        words = candidate.argv[1:]
        listed = find_listed(candidate, self._survey.reading.pipes)
        first = next((at for at, word in enumerate(words) if word.startswith(("-", "(", "!"))), len(words))
        like = "*" if listed is None else listed.like
        return _Folders(words=words[:first] or (".",), taken=Taken(like=like, whole=False))

    def _plan_git(self, candidate: Candidate, words: tuple[str, ...]) -> _Folders | None:
        subcommand, *rest = skip_options(list(words)) or [""]
        moved = join("", *(words[at + 1] for at, word in enumerate(words[:-1]) if word == "-C"))
        operands = find_operands(
            rest, OptionNames(valued="e" if subcommand == "clean" else "", valued_names=("--exclude",))
        )
        # A pattern of git goes through folders: what is fixed of it is looked through.
        fixed = [
            word if not _has_glob(word) else dirname(word.partition("*")[0].partition("?")[0].partition("[")[0])
            for word in operands
        ]
        given = tuple(join(moved, word.rpartition(")")[2] if word.startswith(":") else word) or "." for word in fixed)
        if subcommand == "rm" and not has_option(rest, _REMOVES_NOT):
            has = self._find_tracked(candidate, moved).has
            return _Folders(words=given, taken=Taken(repositories=False), counts=has)
        forces = sum(word.count("f") if _BUNDLE.fullmatch(word) else word == "--force" for word in rest)
        if subcommand == "clean" and forces and not has_option(rest, _CLEANS_NOT):
            tracked = self._find_tracked(candidate, moved)
            return _Folders(
                words=given or (moved or ".",),
                taken=Taken(repositories=forces > 1),
                counts=lambda path: path != join(tracked.tree, GIT) and _has_untracked(path, tracked),
            )
        return None

    def _find_tracked(self, candidate: Candidate, moved: str) -> TrackedNames:
        places = resolve(candidate.here, moved or ".") or (self._world.cwd,)
        return TrackedNames(places[0])

    def _find_taken(self, candidate: Candidate, given: _Folders) -> Iterator[str | None]:
        for word in dict.fromkeys(given.words):
            opening = self._open(word, candidate)
            if opening.ends is not None:
                yield ""
            if given.taken.like == "*":
                yield from self._find_named(opening.texts, candidate)
            for place in self._list_places(opening.texts if given.goes_in else (), candidate):
                if not _is_left(place, candidate) and os.path.isdir(place):  # noqa: PTH112 - paths as text
                    yield from self._look.find(realpath(place), given.taken)
            taken = msgspec.structs.replace(given.taken, like=opening.like, whole=given.goes_in)
            for place in self._list_places(opening.folders, candidate):
                yield from self._look.find(realpath(place), taken)

    def _find_named(self, texts: tuple[str, ...], candidate: Candidate) -> Iterator[str]:
        """Of the names themselves."""
        found = (normpath(place) for place in self._list_places(texts, candidate))
        places = [place for place in found if place not in self._world.folders]
        for place in places:
            above = dirname(place)
            if above not in self._guarded:
                self._guarded[above] = self._world.judge_file("write", above).guarded
            is_protected = self._guarded[above] or self._look.is_protected(basename(above), basename(place))
            if not is_protected and len(places) <= _MAX_NAMES:
                is_protected = self._world.find_protected(join(realpath(above), basename(place))) is not None
            if is_protected:
                yield place

    def _list_places(self, texts: tuple[str, ...], candidate: Candidate) -> Iterator[str]:
        for text in texts:
            path = text.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)
            given = self._world.home + path[1:] if path == "~" or path.startswith("~/") else path
            yield from () if "\0" in given else resolve(candidate.here, given) or ()

    def _open(self, word: str, candidate: Candidate) -> WordFiles:
        key = id(candidate), word
        if key not in self._opened:
            listed = find_listed(candidate, self._survey.reading.pipes)
            self._opened[key] = open_word(word, candidate, self._world.home, listed, _WIDE)
        return self._opened[key]


def _has_glob(word: str) -> bool:
    return any(sign in word for sign in _GLOB)


def _has_untracked(path: str, tracked: TrackedNames) -> bool:
    """A file that git does not know, or a folder with one."""
    if not os.path.isdir(path) or os.path.islink(path) or not tracked.has(path):  # noqa: PTH112, PTH114 - paths as text
        return not tracked.has(path)
    files = (join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return any(at >= _MAX_BELOW or not tracked.has(file) for at, file in enumerate(files))


def _is_left(place: str, candidate: Candidate) -> bool:
    """It leads to a folder, and the link alone is taken."""
    return basename(candidate.argv[0]) in _KEEPS_LINKS and not place.endswith("/") and os.path.islink(place)  # noqa: PTH114 - paths as text
