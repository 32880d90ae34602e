"""What git must read that lies around the working folders, and whether a held git may."""

from collections.abc import Iterable

from everturn.permissions.git.places import GitPlaces, find_git_places
from everturn.permissions.paths.judging import is_within


def list_around(folder: str, folders: Iterable[str], home: str) -> tuple[str, ...]:
    """Places that a held git is let read besides the working folders: the repository around one, or the one it belongs to."""
    places = find_git_places(folder, home)
    return tuple(_find_outside(places, tuple(folders))) if places is not None and places.vouched else ()


def find_far(folder: str, folders: Iterable[str], home: str) -> str:
    """Of a repository that nobody vouches for, what lies outside the working folders; empty where git needs nothing there."""
    places = find_git_places(folder, home)
    return next(iter(_find_outside(places, tuple(folders))), "") if places is not None and not places.vouched else ""


def _find_outside(places: GitPlaces, folders: tuple[str, ...]) -> list[str]:
    needed = dict.fromkeys((places.root, places.git, places.common))
    return [place for place in needed if not any(is_within(folder, place) for folder in folders)]
