"""What a repository would have git run by itself, or follow to elsewhere, when a command only reads.

Git is not run to find out. Whatever is not plainly harmless is named, so that a person is asked: a setting that is not in the
list of harmless ones, a hook that reading sets off, a link where git has a file of its own, a file that cannot be read.
"""

import os
import stat
from collections.abc import Iterator
from posixpath import join

from everturn.core.git_config import MAX_CONFIG, Setting, UnclearError, parse_config
from everturn.permissions.git.discovery import Repository, describe_git, find_inside, find_repositories
from everturn.permissions.git.harmless import is_harmless
from everturn.permissions.git.index import find_links
from everturn.permissions.git.plain_files import ByteAllowance, find_kind

_QUIET_HOOKS = frozenset({
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
    "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive",
    "post-receive", "post-update", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate",
})  # fmt: skip
"""Hooks of githooks(5) that only commands which write set off. Others of a plain name may run: `git status` sets off `post-index-change`."""
_MAX_SETTINGS = 1024 * 1024
_MAX_INDEXES = 64 * 1024 * 1024
"""Bytes of all files of a kind together. The index of half a million files is about as large."""
_MAX_REPOSITORIES = 400
_MAX_NAMES = 4_000
"""Names in one folder of git's own."""
_HASH_SIZES = {"sha1": 20, "sha256": 32}
_MAX_LENGTH = 60


class _FoundError(Exception):
    """Something to ask about; the text names it."""


def find_own_programs(folder: str) -> str:
    """What git would find in a folder that may run something, for people: `core.fsmonitor in /…/.git/config`. Empty where there is nothing."""
    settings, indexes = ByteAllowance(_MAX_SETTINGS), ByteAllowance(_MAX_INDEXES)
    try:
        for repository in find_repositories(os.path.realpath(folder)):
            _Search(repository, settings, indexes).run()
    except _FoundError as found:
        return str(found)
    except UnclearError as unclear:
        return f"what cannot be read: {unclear}"
    except (OSError, ValueError, RuntimeError):
        return f"what cannot be read of the repository around {folder}"
    return ""


class _Search:
    """Of one repository and of those inside it that git enters."""

    def __init__(self, repository: Repository, settings: ByteAllowance, indexes: ByteAllowance) -> None:
        self._settings = settings
        self._indexes = indexes
        self._root = repository.tree
        self._waiting = [repository]
        self._seen: set[tuple[str, str]] = set()

    def run(self) -> None:
        while self._waiting:
            repository = self._waiting.pop()
            mark = (os.path.realpath(repository.git), repository.tree)
            if mark in self._seen:
                continue
            self._seen.add(mark)
            if len(self._seen) > _MAX_REPOSITORIES:
                raise _FoundError(f"what is in more than {_MAX_REPOSITORIES} repositories inside {self._root}")
            self._search(repository)

    def _search(self, repository: Repository) -> None:
        git, common = repository.git, repository.common
        for folder in dict.fromkeys((common, git)):
            _check_names(folder)
            _check_names(join(folder, "info"))
            _check_hooks(join(folder, "hooks"))
        hash_size = self._check_settings(repository)
        _check_objects(join(common, "objects"))
        for name in find_links(git, hash_size, self._indexes):
            self._enter(repository.tree, name)
        self._waiting += _find_modules(join(git, "modules"))

    def _check_settings(self, repository: Repository) -> int:
        """Gives how long the hashes of this repository are."""
        git, common = repository.git, repository.common
        main = join(common, "config")
        settings = self._load_settings(main)
        for setting in settings:
            if not _is_allowed(setting, repository, self._root):
                raise _FoundError(f"{_show(setting.key)} in {main}")
        for path in {join(git, "config"), join(git, "config.worktree"), join(common, "config.worktree")} - {main}:
            for setting in self._load_settings(path):
                # What kind of repository this is counts only where git looks for it.
                if not _is_allowed(setting, repository, self._root) or setting.key.startswith("extensions."):
                    raise _FoundError(f"{_show(setting.key)} in {path}")
        return _find_hash_size(settings, main)

    def _load_settings(self, path: str) -> list[Setting]:
        try:
            return parse_config(self._settings.read(path, MAX_CONFIG) or b"")
        except UnclearError as error:
            raise UnclearError(path) from error

    def _enter(self, tree: str, name: str) -> None:
        inner = join(tree, name)
        if os.path.realpath(inner) != join(os.path.realpath(tree), name):
            raise _FoundError(f"what a link leads to: {inner}")
        if (found := find_inside(inner)) is not None:
            self._waiting.append(found)


def _check_names(folder: str) -> None:
    """Git keeps files and folders there, and nothing else."""
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for count, entry in enumerate(entries):
            if count > _MAX_NAMES or not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                raise UnclearError(entry.path)


def _is_allowed(setting: Setting, repository: Repository, root: str) -> bool:
    if setting.key != "core.worktree":
        return is_harmless(setting)
    # A repository inside another one keeps its files elsewhere, and says where its working tree is.
    named = os.path.realpath(join(repository.git, setting.value or ""))
    if repository.is_bare:
        return repository.tree != root and named.startswith(join(root, ""))
    return named == os.path.realpath(repository.tree)


def _find_hash_size(settings: list[Setting], path: str) -> int:
    formats = {each.value for each in settings if each.key == "extensions.objectformat"} or {"sha1"}
    versions = {each.value for each in settings if each.key == "core.repositoryformatversion"}
    # Before version 1 there are no extensions, and of two formats versions of git might take either.
    if len(formats) > 1 or (formats != {"sha1"} and versions != {"1"}):
        raise _FoundError(f"extensions.objectformat in {path}")
    return _HASH_SIZES[formats.pop() or ""]


def _show(key: str) -> str:
    shown = "".join(char if char.isprintable() else "?" for char in key)
    return shown if len(shown) <= _MAX_LENGTH else f"{shown[: _MAX_LENGTH // 2]}…{shown[-_MAX_LENGTH // 2 :]}"


def _check_hooks(folder: str) -> None:
    if not find_kind(folder):
        return
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            # Git looks for hooks by names of its own, none of which has a dot: examples and copies are never found.
            may_run = "." not in entry.name and entry.name not in _QUIET_HOOKS
            if count > _MAX_NAMES or (may_run and not entry.is_dir(follow_symlinks=False)):
                raise _FoundError(entry.path)


def _check_objects(objects: str) -> None:
    """Objects of other places are read, too, where `alternates` names them, or a link leads there."""
    for name in ("info", "pack"):
        if find_kind(inner := join(objects, name)) not in {0, stat.S_IFDIR}:
            raise UnclearError(inner)
    if find_kind(named := join(objects, "info", "alternates")):
        raise _FoundError(f"objects elsewhere, named by {named}")


def _find_modules(folder: str) -> Iterator[Repository]:
    """Repositories inside whose files are kept here. The name of one may have slashes, so that it lies deeper."""
    waiting, passed = [folder], 0
    while waiting:
        here = waiting.pop()
        passed += 1
        if passed > _MAX_REPOSITORIES:
            raise UnclearError(folder)
        if find_kind(here) == 0:
            continue
        if find_kind(join(here, "HEAD")):
            yield describe_git(here, here)
            continue
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_symlink():
                    raise UnclearError(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
