"""The existing files that rules cover, by their real paths: plain names directly, patterns by a walk through folders.

For judgement and the sandbox, with rules of every kind, anywhere on the disk; anew each time, up to a bound. What is hidden from held
commands is found by `sandbox.held.hidden`, which must answer before each of them and so remembers folders, but knows the working folders only.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from posixpath import join

import msgspec

from everturn.permissions.paths.index import Anchors
from everturn.permissions.rules.folding import fold
from everturn.permissions.rules.globs import Glob
from everturn.permissions.rules.patterns import Anchor, PathPattern, parse_pattern
from everturn.permissions.rules.rule import Rule

Walk = Callable[[tuple[str, ...], Callable[[str], bool]], tuple[str, ...] | None]
"""Finds, below folders, the highest paths that a test holds for; None where there is too much to look through."""
_ANY_NAME = (None,)
"""Atoms of the glob `*`."""
_INSIDE = "/\0"
"""Any name in a folder: what covers it covers the folder with all that is in it."""


MAX_WALKED = 20_000
"""Entries of folders that are looked at for files which rules cover."""


def walk_folders(folders: tuple[str, ...], covers: Callable[[str], bool]) -> tuple[str, ...] | None:
    """`Walk`."""
    found: list[str] = []
    left = MAX_WALKED
    waiting = list(folders)
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return None
                    if covers(entry.path):
                        found.append(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except PermissionError:
            # What is in it may still be opened by name.
            found.append(folder)
        except OSError:
            continue
    return tuple(sorted(found))


class _Start(msgspec.Struct, frozen=True):
    """How far a pattern's names are fixed."""

    base: str
    names: tuple[str, ...]
    is_whole: bool
    """It covers all that bears these names; otherwise what it covers lies somewhere below."""
    is_open: bool
    """It ends with all that is in a folder: `**/vendor/**`."""


class Coverage:
    """Of some rules. The files are looked for anew each time."""

    def __init__(self, rules: Iterable[Rule], anchors: Anchors, covers: Callable[[str], bool]) -> None:
        """`covers`: whether one of the rules covers a path."""
        self._starts = tuple(dict.fromkeys(_find_start(rule, anchors) for rule in rules))
        self._covers = covers
        self._has_folders = any(start.is_open for start in self._starts)

    def find(self, walk: Walk) -> tuple[str, ...] | None:
        """Real paths, of each branch the highest; None where `walk` gives up."""
        named: dict[str, None] = {}
        roots: dict[str, None] = {}
        listed: dict[str, list[str]] = {}
        for start in self._starts:
            there = named if start.is_whole else roots
            there.update(dict.fromkeys(_find_spelled(start, listed)))
        below = walk(_without_inner(roots), self._covers_whole if self._has_folders else self._covers) if roots else ()
        return None if below is None else tuple(sorted({os.path.realpath(path) for path in (*named, *below)}))

    def _covers_whole(self, path: str) -> bool:
        return self._covers(path) or self._covers(f"{path}{_INSIDE}")


def _find_start(rule: Rule, anchors: Anchors) -> _Start:
    pattern = parse_pattern(rule.specifier or "", rule.ruling)
    names: list[str] = []
    for step in pattern.steps:
        if not isinstance(step, Glob) or step.literal is None:
            break
        names.append(step.literal)
    last = pattern.steps[-1]
    is_open = isinstance(last, Glob) and last.atoms == _ANY_NAME and pattern.covers_below
    # `vendor/**` is the folder with all that is in it.
    is_whole = bool(names) and len(pattern.steps) - is_open == len(names) and pattern.covers_below
    return _Start(_find_base(pattern, rule, anchors), tuple(names), is_whole, is_open)


def _find_base(pattern: PathPattern, rule: Rule, anchors: Anchors) -> str:
    place = {
        Anchor.ROOT: "/",
        Anchor.HOME: anchors.home,
        Anchor.SOURCE: rule.folder or anchors.cwd,
        Anchor.CWD: anchors.cwd,
    }[pattern.anchor]
    return os.path.realpath(join(place, *[".."] * pattern.up))


def _find_spelled(start: _Start, listed: dict[str, list[str]]) -> Iterator[str]:
    """What is there by its names, in every spelling that a deny rule takes for the same. Folders are listed once."""
    places = [start.base]
    for name in start.names:
        wanted = fold(name)
        places = [
            f"{place.rstrip('/')}/{entry}"
            for place in places
            for entry in _list(place, listed)
            if entry == name or fold(entry) == wanted
        ]
    yield from filter(os.path.exists, places)


def _list(folder: str, listed: dict[str, list[str]]) -> list[str]:
    if folder not in listed:
        try:
            listed[folder] = os.listdir(folder)  # noqa: PTH208 - names are all we need
        except OSError:
            listed[folder] = []
    return listed[folder]


def _without_inner(roots: Iterable[str]) -> tuple[str, ...]:
    """Without those that lie in another."""
    kept: list[str] = []
    for root in sorted(roots, key=len):
        if not any(root == each or root.startswith(each.rstrip("/") + "/") for each in kept):
            kept.append(root)
    return tuple(kept)
