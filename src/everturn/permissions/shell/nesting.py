"""Whether a folder belongs to the repository of the working folder: git in another one reads other settings."""

import os
from posixpath import dirname

from everturn.permissions.paths.judging import is_within
from everturn.permissions.shell.syntax import Here

_MARKS = (".git", "HEAD")
"""A folder that holds one of these may be a repository: the first as everybody makes them, the second without a working tree."""


def is_same_repository(places: Here, folders: tuple[str, ...]) -> bool:
    """All of the places lie in a working folder, and none in a repository inside of it."""
    return bool(places) and all(_is_inside(os.path.realpath(place), folders) for place in places or ())


def _is_inside(place: str, folders: tuple[str, ...]) -> bool:
    folder = max((each for each in folders if is_within(each, place)), key=len, default=None)
    if folder is None:
        return False
    while place != folder:
        if any(os.path.lexists(f"{place}/{name}") for name in _MARKS):
            return False
        place = dirname(place)
    return True
