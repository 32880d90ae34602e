"""Real paths of names that the model gives, and names of paths for the model."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from everturn.core.errors import ToolFault
from everturn.ports.shell_folder import ShellFolder

_MAX_BESIDE = 5_000
"""Entries of a folder that are compared with a name that does not exist."""
_MAX_TAILS = 8


def absolute(folder: str, given: str) -> str:
    """As it was given, from the working folder: `~` expanded, links not yet followed. What opens it follows them."""
    path = Path(given)
    # Nobody's home (`~ghost`) is an ordinary name.
    with suppress(RuntimeError):
        path = path.expanduser()
    return str(Path(folder) / path)


def locate(folder: str, given: str) -> str:
    """The real, absolute path: `~` expanded, links followed, `..` taken as the kernel takes it. Need not exist.

    Raises `ToolFault` when the text cannot be a path.
    """
    try:
        return os.path.realpath(absolute(folder, given))
    except ValueError as error:
        raise ToolFault(f"{given!r} cannot be a path: {error}.") from None
    except OSError as error:
        # A link was swapped for a file between two looks.
        raise ToolFault(f"{given!r} changed while it was looked up ({error.strerror}). Try again.") from None


def is_inside(folder: str, path: str) -> bool:
    """`path` comes from `locate`; the folder itself counts as inside."""
    root = os.path.realpath(folder)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def find_start(shell: ShellFolder, project: str) -> str:
    """Where the next command starts: where the last one ended, else in the working folder.

    A folder that is gone, or cannot be entered, is given up for good: it may not come back between judgement and start.
    """
    place = shell.path
    if place is None:
        return project
    if os.path.isdir(place) and os.access(place, os.X_OK) and is_inside(project, place):  # noqa: PTH112 - paths as text
        return place
    shell.path, shell.lost = None, place
    return project


def shorten(folder: str, path: str) -> str:
    """Relative to the folder where the path is inside it, else as it is."""
    root = os.path.realpath(folder)
    if path == root or not is_inside(folder, path):
        return path
    return os.path.relpath(path, root)


def near_names(path: str, most: int = 3, *, folder: str | None = None) -> tuple[str, ...]:
    """Existing paths that may be meant: the end of `path` in the folder, then names beside it that look alike."""
    found = dict.fromkeys((*(_tails_in(folder, path) if folder else ()), *_alike(path, most)))
    return tuple(found)[:most]


def _tails_in(folder: str, path: str) -> Iterator[str]:
    """`/src/a.py` for `src/a.py`, `project/src/a.py` inside of `project`: the longest end that exists."""
    names = Path(path).parts[1:]
    for start in range(max(0, len(names) - _MAX_TAILS), len(names)):
        guess = Path(folder, *names[start:])
        with suppress(OSError, ValueError):
            if guess.is_file():
                yield str(guess)
                return


def _alike(path: str, most: int) -> list[str]:
    """The same name in another case or with another ending first, then what is spelt much the same."""
    from difflib import get_close_matches
    from itertools import islice

    missing = Path(path)
    try:
        beside = sorted(islice(missing.parent.iterdir(), _MAX_BESIDE), reverse=True)
    except (OSError, ValueError):
        return []
    names = {entry.name.casefold(): str(entry) for entry in beside}
    wanted = missing.name.casefold()
    stem = wanted.partition(".")[0] or wanted
    same = [name for name in sorted(names) if name == wanted or (name.partition(".")[0] or name) == stem]
    spelt = get_close_matches(wanted, names, n=most)
    return [names[name] for name in dict.fromkeys((*spelt[:1], *same, *spelt))]
