"""Files that git's configuration names, and that git runs or obeys: hooks elsewhere, included settings, programs of the project.

Whoever changes such a file has git run something for the person, although the configuration itself is as it was.
"""

import os
import re
import stat
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from everturn.core.git_config import MAX_CONFIG, Setting, UnclearError, parse_config
from everturn.workspace.git_settings import is_known

GIT = ".git"
_CONFIGS = ("config", "config.worktree")
_OF_THE_PERSON = (".gitconfig", ".config/git/config")
_MAX_INCLUDED = 10
"""Git's own limit on how deep files include others."""
_MAX_BYTES_OF_POINTER = 4_096
_MAX_ABOVE = 40
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_HOOKS = "core.hookspath"
_TREE = "core.worktree"
_INCLUDES = ("include.path", "includeif.*.path")
_ONLY_READ = (
    "core.excludesfile", "core.attributesfile", "commit.template", "blame.ignorerevsfile", "mailmap.file", "core.worktree",
    "remote.*.url", "remote.*.pushurl", "url.*.insteadof", "url.*.pushinsteadof", "branch.*.remote", "submodule.*.url",
)  # fmt: skip
"""They name a place, and nothing that runs."""
_WORD = re.compile(r"""[^\s'"`$;|&()<>=]+""")
_NAME = re.compile(r"[^/]*[./][^/]*")
"""A word that may be a file of the project; others are found in PATH."""


class Named(msgspec.Struct, frozen=True):
    """Absolute paths, there or not."""

    hooks: tuple[str, ...] = ()
    """Folders."""
    included: tuple[str, ...] = ()
    """Files of settings."""
    programs: tuple[str, ...] = ()
    """Words of what git runs that may be files."""


def find_named(folder: str, home: str = "") -> Named:
    """By the repository that a folder belongs to, and by the settings of the person whose home it is."""
    tree, git = _find_repository(folder)
    if not git:
        return Named()
    common = _find_common(git)
    files = [*(f"{common}/{name}" for name in _CONFIGS), *([f"{git}/config.worktree"] if git != common else [])]
    if home:
        files += [f"{home}/{name}" for name in _OF_THE_PERSON]
    return name_files(files, tree, home)


def find_named_by(shape: str, home: str = "") -> Named:
    """By a repository without a `.git` around it: a submodule's own, which says where its files are."""
    files = [f"{shape}/{name}" for name in _CONFIGS]
    settings = [setting for path in files for setting in _read_settings(path)]
    tree = next((setting.value for setting in reversed(settings) if setting.key == _TREE and setting.value), "")
    return name_files(files, os.path.normpath(os.path.join(shape, tree)), home)  # noqa: PTH118 - paths as text


def name_files(files: list[str], tree: str, home: str) -> Named:
    hooks: dict[str, None] = {}
    included: dict[str, None] = {}
    programs: dict[str, None] = {}
    waiting = [(path, 0) for path in files]
    while waiting:
        path, depth = waiting.pop()
        for setting in _read_settings(path):
            if not setting.value:
                continue
            if setting.pattern in _INCLUDES:
                place = _find_place(setting.value, path.rpartition("/")[0], home)
                if place not in included and depth < _MAX_INCLUDED:
                    included[place] = None
                    waiting.append((place, depth + 1))
            elif setting.key == _HOOKS:
                hooks[_find_place(setting.value, tree, home)] = None
            elif _may_run(setting):
                programs.update(dict.fromkeys(_list_words(setting.value, tree, home)))
    return Named(tuple(hooks), tuple(included), tuple(programs))


def _may_run(setting: Setting) -> bool:
    if setting.pattern in _ONLY_READ or is_known(setting.key):
        return False
    # An alias is an order to git itself, unless it begins so.
    return not setting.key.startswith("alias.") or (setting.value or "").lstrip().startswith("!")


def _list_words(value: str, tree: str, home: str) -> Iterator[str]:
    for text in (value, *_WORD.findall(value)):
        word = text.strip().lstrip("!")
        if "\0" not in word and _NAME.search(word):
            yield _find_place(word, tree, home)


def _find_place(value: str, folder: str, home: str) -> str:
    if value.startswith("~/"):
        value = f"{home}/{value[2:]}"
    return os.path.normpath(os.path.join(folder, value))  # noqa: PTH118 - paths as text


def _find_repository(folder: str) -> tuple[str, str]:
    """The top of its working tree, and git's folder for it; both empty where there is none."""
    tree = folder
    for _ in range(_MAX_ABOVE):
        git = f"{tree.rstrip('/')}/{GIT}"
        try:
            kind = os.stat(git).st_mode  # noqa: PTH116 - paths as text
        except (OSError, ValueError):
            if tree in {"", "/"}:
                break
            tree = tree.rpartition("/")[0] or "/"
            continue
        if stat.S_ISDIR(kind):
            return tree, git
        word, _, target = _read_pointer(git).partition(":")
        return (tree, _find_place(target.strip(), tree, "")) if word == "gitdir" else ("", "")
    return "", ""


def _find_common(git: str) -> str:
    told = _read_pointer(f"{git}/commondir").strip()
    return _find_place(told, git, "") if told else git


def _read_pointer(path: str) -> str:
    return _read(path, _MAX_BYTES_OF_POINTER).decode(errors="surrogateescape")


def _read_settings(path: str) -> tuple[Setting, ...]:
    """None where git would refuse the file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - paths as text
    except (OSError, ValueError):
        return ()
    return _parse(path, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


@lru_cache(maxsize=64)
def _parse(path: str, _: tuple[int, int, int, int]) -> tuple[Setting, ...]:
    """Once, as long as the file is as it was: this is asked before each command."""
    try:
        return tuple(parse_config(_read(path, MAX_CONFIG + 1)))
    except UnclearError:
        return ()


def _read(path: str, most: int) -> bytes:
    """Links are followed, as git does. Empty where there is no file."""
    try:
        descriptor = os.open(path, _READ)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, most) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
