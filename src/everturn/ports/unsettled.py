"""Folders in which a confined command may be writing at this moment: what is protected there is vouched for again when it has ended.

For the whole process: two engines may work in one folder.
"""

from collections import Counter
from collections.abc import Iterable

_written: Counter[str] = Counter()
_begun = 0


def begin(folders: Iterable[str]) -> None:
    """Before a command starts that may write in these. Absolute paths, links resolved."""
    global _begun  # noqa: PLW0603 - one number for the process, as the folders are
    _begun += 1
    _written.update(folders)


def end(folders: Iterable[str]) -> None:
    """When nothing of the command runs any more, and everything protected is as it was."""
    for folder in folders:
        _written[folder] -= 1
        if _written[folder] <= 0:
            del _written[folder]


def is_unsettled(path: str) -> bool:
    """Somebody whom nobody approved may have written what is there now."""
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in _written)


def find_quiet(places: Iterable[str]) -> int | None:
    """None while such a command may write there, or around. Else a number: as long as it stays the same, none has begun in between."""
    named = [f"{place.rstrip('/')}/" for place in places]
    written = [f"{folder.rstrip('/')}/" for folder in _written]
    near = any(place.startswith(folder) or folder.startswith(place) for place in named for folder in written)
    return None if near else _begun
