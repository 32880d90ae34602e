"""Programs that Everturn starts itself: found once, by absolute path, never in a working folder."""

import os
from collections.abc import Iterable, Iterator

from everturn.workspace.paths import is_inside


def find_program(name: str, folders: Iterable[str], path: str | None = None) -> str:
    """Empty where there is none. `folders`: whatever is in these is somebody else's, by no link either.

    `path` in place of the PATH. Entries that are empty or relative mean the folder that somebody stands in: they do not count.
    """
    inside = tuple(_locate(folders))
    for entry in (path if path is not None else os.environ.get("PATH", os.defpath)).split(os.pathsep):
        if not entry.startswith("/"):
            continue
        found = _find_in(entry, name)
        if found and not any(is_inside(folder, form) for folder in inside for form in (found, os.path.realpath(found))):
            return found
    return ""


def is_local(program: str, folders: Iterable[str]) -> bool:
    """It lies in a folder that is worked in, by no link either; or where it lies depends on where somebody stands."""
    forms = (program, os.path.realpath(program))
    return not program.startswith("/") or any(is_inside(folder, form) for folder in _locate(folders) for form in forms)


def clean_path(path: str, folders: Iterable[str]) -> str:
    """For a program of ours that starts others: no entry that is empty or relative, and none in a folder that is worked in."""
    inside = tuple(_locate(folders))
    kept = [
        entry
        for entry in path.split(os.pathsep)
        if entry.startswith("/")
        and not any(is_inside(folder, form) for folder in inside for form in (entry, os.path.realpath(entry)))
    ]
    return os.pathsep.join(kept) or os.defpath


def find_local(name: str, folders: Iterable[str], path: str, *, usual: str = "") -> str:
    """The first program of this name on the path, if it lies in one of the folders, or where somebody stands. Else empty.

    `usual`: the PATH that we were started with. Where it is given, also a program that the path leads to and it does not.
    """
    found = _find_first(name, path)
    if not found.startswith("/"):
        return found
    is_local = any(is_inside(folder, form) for folder in _locate(folders) for form in (found, os.path.realpath(found)))
    return found if is_local or (usual and found != _find_first(name, usual)) else ""


def _find_first(name: str, path: str) -> str:
    for entry in path.split(os.pathsep):
        if not entry.startswith("/"):
            # It depends on the folder that the command runs in.
            return f"whatever is called {name} in {entry or '.'}"
        if found := _find_in(entry, name):
            return found
    return ""


def _find_in(folder: str, name: str) -> str:
    """As `shutil.which` with one folder, without loading what unpacks archives. A name with a slash is a path, and not searched for."""
    path = name if "/" in name else f"{folder.rstrip('/')}/{name}"
    return path if os.path.isfile(path) and os.access(path, os.X_OK) else ""  # noqa: PTH113 - paths as text


def _locate(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        try:
            real = os.path.realpath(folder)
        except OSError:
            # The folder that we stand in is gone: nothing can be in it.
            continue
        if real == "/":
            # Whoever stands there works in no folder of somebody's.
            continue
        yield real
        if root := _find_root(real):
            yield root


def _find_root(folder: str) -> str:
    """Of the repository around a folder, since its author wrote that, too. Never the home or what is above it; else empty."""
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - paths as text
    while not is_inside(folder, home):
        if os.path.lexists(f"{folder}/.git"):
            return folder
        folder = os.path.dirname(folder)  # noqa: PTH120 - paths as text
    return ""
