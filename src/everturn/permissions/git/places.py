"""Where the repository around a folder lies, and whether that may be believed: a confined git is let read there.

A `.git` file in a downloaded folder can name any repository of the machine. It is believed only where that repository says
the same from its side, in a file that the folder's author could not have written.
"""

import os
import stat
from collections.abc import Iterable
from posixpath import basename, commonpath, dirname, join

import msgspec

from everturn.core.git_config import MAX_CONFIG, UnclearError, parse_config
from everturn.permissions.git.discovery import Repository, find_repositories, is_repository
from everturn.permissions.git.plain_files import find_kind, read_one_path, read_plain
from everturn.permissions.paths.judge import is_within


class GitPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Real paths."""

    root: str
    """The working tree; of a bare repository, the repository itself."""
    git: str
    """What belongs to this working tree: HEAD, the index."""
    common: str
    """What all working trees share: objects, references, settings. Mostly the same as `git`."""
    vouched: bool
    """Whether a confined git may read these places where they lie outside the folder."""


def find_git_places(folder: str, home: str) -> GitPlaces | None:
    """The repository that git would use in a folder. None where there is none, or where git would fail or could not be foretold."""
    here = os.path.realpath(folder)
    try:
        repository = next(find_repositories(here), None)
        if repository is None or not is_repository(repository.git, repository.common):
            return None
        if os.lstat(repository.tree).st_dev != os.lstat(here).st_dev:
            # Git does not look beyond the file system it is in.
            return None
        root, is_named = _find_root(repository)
        vouched = root == repository.tree and _is_vouched(repository, here, os.path.realpath(home), is_named=is_named)
    except (OSError, ValueError, RuntimeError):
        return None
    return GitPlaces(root=root, git=repository.git, common=repository.common, vouched=vouched)


def _find_root(repository: Repository) -> tuple[str, bool]:
    """The working tree, and whether the repository itself names it. Raises `ValueError` where the settings cannot be read."""
    files = [join(repository.git, "config.worktree")]
    if repository.common == repository.git:
        # For one of several working trees, what the common file says of the first does not count.
        files.insert(0, join(repository.git, "config"))
    named = [
        setting.value or ""
        for path in files
        for setting in parse_config(read_plain(path, MAX_CONFIG) or b"")
        if setting.key == "core.worktree"
    ]
    if not named:
        return repository.tree, False
    return os.path.realpath(join(repository.git, named[-1])), True


def _is_vouched(repository: Repository, here: str, home: str, *, is_named: bool) -> bool:
    tree, git, common = repository.tree, repository.git, repository.common
    if repository.is_bare:
        # Nothing of it lies outside.
        return tree == here and common == git
    if _is_below(home, tree) or not _is_ours(tree, here):
        return False
    if _is_below(git, tree) and not _is_below(common, tree):
        # Then the folder's author has written both.
        return False
    marker = join(tree, ".git")
    if find_kind(marker) == stat.S_IFDIR:
        return common == git and _is_ours(marker, here)
    if common == git:
        return is_named
    back = read_one_path(join(git, "gitdir"))
    if back is None or dirname(git) != join(common, "worktrees"):
        raise UnclearError(git)
    named = join(git, back)
    return basename(named) == ".git" and os.path.realpath(dirname(named)) == tree


def _is_below(path: str, folder: str) -> bool:
    return commonpath((path, folder)) == folder


def _is_ours(path: str, here: str) -> bool:
    """A repository that somebody else has put above a folder, such as in `/tmp`, is none of ours. Git has a rule like this, too."""
    return os.lstat(path).st_uid in {os.geteuid(), os.lstat(here).st_uid}


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
