"""Looks for the files that rules cover: for judgement, and for the sandbox. Loaded when a rule makes it necessary."""

from collections.abc import Callable


def walk(folders: tuple[str, ...], covers: Callable[[str], bool]) -> tuple[str, ...] | None:
    """`permissions.paths.covered.Walk`."""
    from everturn.permissions.paths.covered import walk_folders

    return walk_folders(folders, covers)
