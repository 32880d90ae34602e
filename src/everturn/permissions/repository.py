"""What a repository would have git run by itself: programs that its own configuration names, and a hook that reading sets off.

Git is not run to find out, and nothing that is named is opened.
"""

import os
import re
from pathlib import Path

_MOST_READ = 65_536
"""Bytes of one file of settings."""
_PROGRAMS = frozenset({
    "alternaterefscommand", "askpass", "clean", "cmd", "command", "difffilter", "driver", "editor", "external", "gitproxy",
    "helper", "hookspath", "pager", "path", "process", "program", "showsignature", "smudge", "sshcommand", "textconv",
})  # fmt: skip
"""Names of settings, whatever their section: programs, files with more settings, and folders of hooks."""
_SETTING = re.compile(r"^[ \t]*(?:\[[^\]\n]*\][ \t]*)*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?$", re.MULTILINE)
_WATCHER = "fsmonitor"
_SWITCHES = frozenset({"", "true", "false", "yes", "no", "on", "off", "0", "1"})
"""Values of `fsmonitor` that name no program."""
_HOOK = "hooks/post-index-change"
"""`git status` writes what it has learned, and this runs then."""

_LARGEST_INDEX = 256 * 1024 * 1024
"""Bytes; that of a million files is half as large."""
_LINK = b"\0\0\xe0\0"
"""In the index: an entry is a repository of its own."""
_NAME_STARTS = (38, 40, 50, 52)
"""From the mark to the name: after ids of twenty or thirty-two bytes, with or without more flags."""
_PACKED = b"\0\0\0\4"
"""Names are written as what differs from the one before."""
_MOST_LINKS = 400
_LONGEST = 4_096
_DEEPEST = 4


def find_own_programs(folder: str) -> str:
    """What the nearest repository upwards brings, for people: `fsmonitor in /…/.git/config`. Empty where it brings nothing."""
    try:
        place = _find_repository(Path(folder))
        return "" if place is None else _search(*place)
    except (OSError, ValueError, RuntimeError):
        return f"what cannot be read of the repository around {folder}"


def _find_repository(folder: Path) -> tuple[Path, Path] | None:
    """The working tree, and where git keeps its own things."""
    for each in (folder, *folder.parents):
        if (git := _find_git(each)) is not None:
            return each, git
        # A folder that is itself a repository counts for git, too, whatever its name.
        if (each / "HEAD").is_file() and (each / "objects").is_dir() and (each / "refs").is_dir():
            return each, each
    return None


def _find_git(folder: Path) -> Path | None:
    git = folder / ".git"
    if git.is_file():
        return Path(folder, _read(git).strip().removeprefix("gitdir:").strip())
    return git if git.is_dir() else None


def _search(tree: Path, git: Path, depth: int = 0) -> str:
    shared = git / _read(git / "commondir").strip() if (git / "commondir").exists() else git
    for config in (shared / "config", shared / "config.worktree", git / "config.worktree"):
        if config.exists() and (name := _find_program(_read(config))):
            return f"{name} in {config}"
    hook = shared / _HOOK
    return str(hook) if hook.exists() else _search_inner(tree, git, depth)


def _search_inner(tree: Path, git: Path, depth: int) -> str:
    """Git looks into the repositories inside a repository, and each has settings of its own."""
    for name in _find_links(git):
        inner = tree / name
        if (its := _find_git(inner)) is None:
            continue
        if depth == _DEEPEST:
            return f"what lies deep in {tree}"
        if found := _search(inner, its, depth + 1):
            return found
    return ""


def _find_links(git: Path) -> list[str]:
    """Folders that the index knows as repositories, by the mark of their kind; a name too many does no harm.

    Raises `ValueError` where the index is written in a way that hides them.
    """
    index = git / "index"
    if not index.exists():
        return []
    if not index.is_file() or index.stat().st_size > _LARGEST_INDEX or any(git.glob("sharedindex.*")):
        raise ValueError(index)
    data = index.read_bytes()
    found: list[str] = []
    at = data.find(_LINK)
    while at >= 0:
        if data[4:8] == _PACKED or len(found) > _MOST_LINKS:
            raise ValueError(index)
        found += [
            os.fsdecode(name)
            for start in _NAME_STARTS
            if (name := data[at + start : at + start + _LONGEST].partition(b"\0")[0])
        ]
        at = data.find(_LINK, at + 1)
    return found


def _find_program(text: str) -> str | None:
    for name, value in _SETTING.findall(text.replace("\\\n", "")):
        setting = name.lower()
        if setting in _PROGRAMS or (setting == _WATCHER and value.strip().strip('"').lower() not in _SWITCHES):
            return str(name)
    return None


def _read(path: Path) -> str:
    """Raises `ValueError` where there is more than anybody writes there by hand."""
    if not path.is_file():
        raise ValueError(path)
    with path.open("rb") as file:
        data = file.read(_MOST_READ + 1)
    if len(data) > _MOST_READ:
        raise ValueError(path)
    return data.decode("utf-8", "replace")
