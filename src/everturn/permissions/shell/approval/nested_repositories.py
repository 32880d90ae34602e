"""Whether a folder belongs to the repository of the working folder: git in another one reads other settings."""

import os
from posixpath import dirname

from everturn.permissions.paths.judge import is_within
from everturn.permissions.shell.reading.folders import follow_cd
from everturn.permissions.shell.reading.syntax import Here, Word
from everturn.permissions.shell.readonly.git import GLOBAL_OPTIONS

_MARKS = (".git", "HEAD")
"""A folder that holds one of these may be a repository: the first as everybody makes them, the second without a working tree."""


_CD = Word(raw="cd", value="cd", template="cd")


def follow_git(words: tuple[Word, ...], here: Here, home: str) -> tuple[tuple[Word, ...], Here]:
    """`git -C sub log` is `git log` in `sub`. What is no git with one such option stays as it is."""
    at = 1
    while at < len(words) and words[at].raw in GLOBAL_OPTIONS:
        at += 1
    option, folder = (*words[at : at + 2], None, None)[:2]
    if words[0].raw != "git" or option is None or option.raw != "-C" or folder is None or folder.raw.startswith("-"):
        return words, here
    return words[:at] + words[at + 2 :], follow_cd(here, (_CD, folder), home)


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
