"""Which repository git would use in a folder, level by level upwards, as git looks for it.

At each level `.git` comes first, as a file that names a folder or as a folder, and then the level itself, which may have the
shape of a bare repository. A `.git` folder that is no repository is passed over; a `.git` file is used or ends the search.
"""

import os
import stat
from collections.abc import Iterator
from posixpath import dirname, join
from typing import NamedTuple

from everturn.core.git_config import UnclearError
from everturn.core.patterns import compile_late
from everturn.permissions.git.plain_files import find_kind, read_one_path, read_plain

_HEAD = compile_late(rb"ref:[ \t\r\n]*refs/|[0-9a-f]{40}")
_MAX_HEAD = 4_096
_GITFILE = "gitdir: "


class Repository(NamedTuple):
    tree: str
    """The folder in which git found it; of a bare one, the repository itself."""
    git: str
    """Where git keeps what belongs to this working tree."""
    common: str
    """Where git keeps what all working trees share: settings, hooks, objects."""
    is_certain: bool
    """Whether git takes this one for a repository, so that nothing further up counts."""

    @property
    def is_bare(self) -> bool:
        return self.tree == self.git


def find_repositories(folder: str) -> Iterator[Repository]:
    """Those that git may use in a folder (a real path), nearest first; the first certain one is the last.

    Raises `UnclearError` where a level cannot be judged.
    """
    level = folder
    while True:
        for found in _look_at(level):
            yield found
            if found.is_certain:
                return
        above = dirname(level)
        if above == level:
            return
        level = above


def find_inside(tree: str) -> Repository | None:
    """The repository that git finds in this very folder, as it does where an index says that one is there."""
    git = join(tree, ".git")
    kind = find_kind(git)
    if kind == 0:
        return None
    if kind == stat.S_IFREG:
        named = read_one_path(git) or ""
        if not named.startswith(_GITFILE):
            raise UnclearError(git)
        # Whether it is good or not, git looks no further.
        inside = os.path.realpath(join(tree, named.removeprefix(_GITFILE)))
        return describe_git(tree, inside)._replace(is_certain=True)
    if kind != stat.S_IFDIR:
        # A link, a pipe, a device: versions of git differ in what they do.
        raise UnclearError(git)
    return describe_git(tree, git)


def _look_at(level: str) -> Iterator[Repository]:
    found = find_inside(level)
    if found is not None and (found.is_certain or find_kind(join(found.git, "HEAD"))):
        yield found
        if found.is_certain:
            return
    if find_kind(join(level, "HEAD")) and (
        find_kind(join(level, "commondir")) or (find_kind(join(level, "objects")) and find_kind(join(level, "refs")))
    ):
        yield describe_git(level, level)


def is_repository(git: str, common: str) -> bool:
    """By git's own rule: a HEAD that leads somewhere, and folders for objects and references. A link is none of these here."""
    head = join(git, "HEAD")
    if find_kind(head) != stat.S_IFREG or not _HEAD.match(read_plain(head, _MAX_HEAD) or b""):
        return False
    needed = (join(common, name) for name in ("objects", "refs"))
    return all(find_kind(each) == stat.S_IFDIR and os.access(each, os.X_OK) for each in needed)


def describe_git(tree: str, git: str) -> Repository:
    """Where the parts of a repository lie whose own folder is known."""
    shared = read_one_path(join(git, "commondir"))
    common = git if shared is None else os.path.realpath(join(git, shared))
    return Repository(tree, git, common, is_repository(git, common))
