"""Names to places: where a path given by the model really leads, and how to name a place to the model."""

import os
from contextlib import suppress
from pathlib import Path

from everturn.core.errors import ToolFault


def locate(folder: str, given: str) -> str:
    """The real, absolute path: `~` expanded, links followed, `..` taken as the kernel takes it. Need not exist.

    Tools open and permissions judge what this returns, so that both speak of the same file.
    Raises `ToolFault` when the text cannot be a path.
    """
    path = Path(given)
    # Nobody's home (`~ghost`) is an ordinary name.
    with suppress(RuntimeError):
        path = path.expanduser()
    try:
        return os.path.realpath(Path(folder) / path)
    except ValueError as error:
        raise ToolFault(f"{given!r} cannot be a path: {error}.") from None


def is_inside(folder: str, path: str) -> bool:
    """`path` comes from `locate`; the folder itself counts as inside."""
    root = os.path.realpath(folder)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def shorten(folder: str, path: str) -> str:
    """Relative to the folder where the path is inside it, else as it is."""
    root = os.path.realpath(folder)
    if path == root or not is_inside(folder, path):
        return path
    return os.path.relpath(path, root)


def near_names(path: str, most: int = 3) -> tuple[str, ...]:
    """Existing paths beside `path` whose names look alike; best first."""
    from difflib import get_close_matches

    missing = Path(path)
    try:
        beside = sorted(missing.parent.iterdir(), reverse=True)
    except OSError:
        return ()
    alike = {entry.name.casefold(): str(entry) for entry in beside}
    return tuple(alike[name] for name in get_close_matches(missing.name.casefold(), alike, n=most))
