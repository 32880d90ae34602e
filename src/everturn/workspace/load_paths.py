"""Paths from which Everturn's own processes load modules and libraries, without the working folders.

It imports nothing that Python has not loaded by itself: whoever calls it does so before the first module could come from the wrong place.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CHILD = """\
import json, sys
own, sys.path[:] = json.loads(sys.argv.pop(1))
sys.path.append(own)
import everturn
sys.path.pop()
"""
"""How a child of ours begins (`python -I -S -c`); its first argument is `encode_child`. Behind it, `everturn` can be imported.

Where our package lies is left out again: there may be a working folder around it, as where Everturn itself is worked on.
"""
_LOADER = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def leave_out_modules(folders: "Iterable[str]") -> None:
    """From now on this process imports nothing new from there: what commands write would run as us."""
    sys.path[:] = list_module_folders(folders, sys.path)


def list_module_folders(folders: "Iterable[str]", entries: "Iterable[str]") -> list[str]:
    """Of the entries what is whole and lies in none of the folders, nor in a repository around one; and our own interpreter's."""
    foreign = _list_foreign(folders)
    installed = (sys.prefix, sys.base_prefix, getattr(sys.modules.get("site"), "USER_SITE", None))
    own = [_resolve(place) for place in installed if place]
    return [
        entry
        for entry in entries
        if entry.startswith("/") and (_is_below(_resolve(entry), own) or not _is_below(_resolve(entry), foreign))
    ]


def list_libraries(folders: "Iterable[str]") -> dict[str, str]:
    """The variables by which the system finds libraries, without entries that a command could have written to."""
    foreign = _list_foreign(folders)
    kept = {
        name: os.pathsep.join(
            entry
            for entry in os.environ[name].split(os.pathsep)
            if entry.startswith("/") and not _is_below(_resolve(entry), foreign)
        )
        for name in _LOADER
        if name in os.environ
    }
    return {name: value for name, value in kept.items() if value}


def encode_child(folders: "Iterable[str]") -> str:
    import json

    import everturn

    return json.dumps([os.path.dirname(os.path.dirname(everturn.__file__)), list_module_folders(folders, sys.path)])  # noqa: PTH120


def _list_foreign(folders: "Iterable[str]") -> list[str]:
    found: list[str] = []
    for folder in folders:
        real = _resolve(folder)
        # Whoever stands at the top works in no folder of somebody's.
        if real and real != "/":
            found += [real, *_find_repository(real)]
    return found


def _find_repository(folder: str) -> list[str]:
    """The root of the repository around a folder, since its author wrote that, too. Never the home or what is above it."""
    home = _resolve(os.path.expanduser("~"))  # noqa: PTH111 (pathlib is not loaded yet)
    while folder != "/" and not _is_below(home, [folder]):
        if os.path.lexists(f"{folder}/.git"):
            return [folder]
        folder = os.path.dirname(folder)  # noqa: PTH120
    return []


def _resolve(path: str) -> str:
    """Empty where it cannot be known: the folder that we stand in is gone."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return ""


def _is_below(path: str, folders: "Iterable[str]") -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders if folder)
