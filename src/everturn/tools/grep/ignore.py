"""Ignore files (`.gitignore`, `.ignore`, `.rgignore`) as ripgrep reads them, for the engine in Python."""

import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from everturn.tools.wildcards import translate_glob

KINDS = (".rgignore", ".ignore", ".gitignore", ".git/info/exclude")
"""The first kind that has an opinion decides; within a kind, the nearest folder."""
_OF_GIT = frozenset({".gitignore", ".git/info/exclude"})
_GIT = ".git"


class IgnoreRule(msgspec.Struct, frozen=True):
    fits: Callable[[str], re.Match[str] | None]
    keeps: bool
    folders_only: bool


class IgnoreRules(msgspec.Struct, frozen=True, kw_only=True):
    """The ignore files of one folder, and those of the folders around it."""

    folder: str
    kinds: dict[str, tuple[IgnoreRule, ...]]
    is_border: bool
    """A repository: rules of git from further out do not count here."""
    in_repository: bool
    """The search is inside a repository: only then do those within it have borders."""
    parent: "IgnoreRules | None"

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """`path` is absolute and lies below the folder."""
        for kind in KINDS:
            verdict = self._ask(kind, path, is_folder=is_folder)
            if verdict is not None:
                return not verdict
        return False

    def _ask(self, kind: str, path: str, *, is_folder: bool) -> bool | None:
        """Keep, drop, or no opinion."""
        level: IgnoreRules | None = self
        while level is not None:
            if rules := level.kinds.get(kind):
                relative = path[len(level.folder.rstrip("/")) + 1 :]
                verdict = judge_rules(rules, relative, is_folder=is_folder)
                if verdict is not None:
                    return verdict
            if level.is_border and kind in _OF_GIT:
                return None
            level = level.parent
        return None


def judge_rules(rules: tuple[IgnoreRule, ...], relative: str, *, is_folder: bool) -> bool | None:
    """The last rule that fits decides: True keeps, False drops."""
    for rule in reversed(rules):
        if (is_folder or not rule.folders_only) and rule.fits(relative):
            return rule.keeps
    return None


def load_rules(folder: str, parent: IgnoreRules | None, *, in_repository: bool) -> IgnoreRules:
    kinds = {kind: parse_rules(text) for kind in KINDS if (text := _load(Path(folder) / kind))}
    return IgnoreRules(
        folder=folder,
        kinds=kinds,
        is_border=in_repository and _has_git(Path(folder)),
        in_repository=in_repository,
        parent=parent,
    )


def load_rules_around(folder: str) -> IgnoreRules:
    """Those of the folder and of all folders above it."""
    in_repository = is_in_repository(folder)
    rules: IgnoreRules | None = None
    for level in reversed(Path(folder).parents):
        rules = load_rules(str(level), rules, in_repository=in_repository)
    return load_rules(folder, rules, in_repository=in_repository)


def is_in_repository(folder: str) -> bool:
    return any(_has_git(level) for level in (Path(folder), *Path(folder).parents))


def _has_git(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return False


def parse_rules(text: str) -> tuple[IgnoreRule, ...]:
    return tuple(rule for line in text.splitlines() if (rule := parse_rule(line)) is not None)


def parse_rule(line: str) -> IgnoreRule | None:
    """One line of an ignore file; None for blanks and comments."""
    if not line.endswith("\\ "):
        line = line.rstrip()
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    pattern = line[1:] if keeps else line
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    if not pattern:
        return None
    if not anchored:
        pattern = f"**/{pattern}"
    if pattern.endswith("/**"):
        # What is inside, not the folder itself.
        pattern += "/*"
    return IgnoreRule(re.compile(translate_glob(pattern), re.DOTALL).fullmatch, keeps, folders_only)


def has_odd_file(root: str, name: str | None, is_over: Callable[[], bool]) -> bool:
    """Whether what a search opens by its name, an ignore file or the one file to be searched, is a pipe, a socket or a device.

    Nothing is opened here. False also where `is_over` says so before the end.
    """
    above = [path for level in Path(root).parents for path in _opened_in(str(level))]
    if any(map(_is_odd, [*above, *([os.path.join(root, name)] if name else [])])):  # noqa: PTH118 - a name need not be text
        return True
    folders = [root] if name is None else []
    while folders and not is_over():
        folder = folders.pop()
        if any(map(_is_odd, _opened_in(folder))):
            return True
        # It may be gone, or closed.
        with suppress(OSError), os.scandir(folder) as entries:
            folders += [each.path for each in entries if each.is_dir(follow_symlinks=False) and each.name != _GIT]
    return False


def _opened_in(folder: str) -> list[str]:
    return [f"{folder.rstrip('/')}/{kind}" for kind in (*KINDS, _GIT)]


def _is_odd(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - many paths, as text
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _load(path: Path) -> str:
    """Empty where it is no plain file: a pipe would hold us until somebody writes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with open(descriptor, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a descriptor
        return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""
