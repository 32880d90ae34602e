"""Paths that no rule and no mode approves ahead of time: what is written there runs later, or changes what may run. Pure."""

import re
from collections.abc import Iterable
from functools import lru_cache

from everturn.core import protected as names
from everturn.core.patterns import compile_late
from everturn.permissions.rules.folding import fold_hard

_SHORT = {"git~1": ".git", "claude~1": ".claude", "everturn~1": ".everturn"}
"""What Windows calls them where names are short."""


def find_protected(path: str, own: Iterable[tuple[str, ...]] = (), homes: Iterable[tuple[str, ...]] = ()) -> str | None:
    """The protected name in an absolute path, as it is spelled there. `own` and `homes` are folders from `fold_path`."""
    parts = fold_path(path)
    for folder in own:
        if parts[: len(folder)] == folder:
            return "/" + "/".join(folder)
    for at, name in enumerate(parts):
        pair = (name, parts[at + 1] if at + 1 < len(parts) else "")
        if (name in _FOLDERS and pair not in _FREE) or pair in _PAIRS:
            return _spell(path, at, 2 if pair in _PAIRS else 1)
    if parts and (parts[-1] in _FILES or _BY_PATTERN.match("/".join(("", *parts[-2:])))):
        return _spell(path, len(parts) - 1, 1)
    return next((found for home in homes if (found := _find_in_home(parts, home))), None)


def _spell(path: str, at: int, count: int) -> str:
    """So many names of the path, from that one on."""
    return "/".join([name for name in path.split("/") if name][at : at + count])


@lru_cache(maxsize=1_024)
def fold_path(path: str) -> tuple[str, ...]:
    folded = (fold_hard(name) for name in path.split("/") if name)
    return tuple(_SHORT.get(name, name) for name in folded)


def _find_in_home(parts: tuple[str, ...], home: tuple[str, ...]) -> str | None:
    """With what lies above: whoever replaces `.config` replaces `.config/autostart`."""
    if parts[: len(home)] != home:
        return None
    below = parts[len(home) :]
    if below in _ABOVE_HOME_PATHS:
        return "~/" + "/".join(below)
    depths = range(1, min(len(below), _MAX_DEPTH) + 1)
    return next(("~/" + "/".join(below[:depth]) for depth in depths if below[:depth] in _HOME_PATHS), None)


_FOLDERS = frozenset(map(fold_hard, names.FOLDERS))
_FILES = frozenset(map(fold_hard, (*names.FILES, *names.MEMORY, names.GIT_HEAD)))
_BY_PATTERN = compile_late(
    "|".join(rf"(?s:.*/{re.escape(each).replace(chr(92) + '*', '[^/]*')})$" for each in names.PATTERNS)
)
_PAIRS = frozenset(names.FOLDER_PAIRS)
_FREE = frozenset(names.FREE)
_HOME_PATHS = frozenset(fold_path(path) for path in (*names.HOME, *names.HOME_TOOLS))
_ABOVE_HOME_PATHS = frozenset(path[:depth] for path in _HOME_PATHS for depth in range(1, len(path))) - _HOME_PATHS
_MAX_DEPTH = max(map(len, _HOME_PATHS))
