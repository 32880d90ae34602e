"""Whether git may read a word as a revision, by the references of the repository. In doubt it may."""

import os
import re
import stat
from posixpath import join

from everturn.core.git_config import MAX_CONFIG, UnclearError
from everturn.core.patterns import compile_late
from everturn.permissions.git.places import GitPlaces
from everturn.permissions.git.plain_files import find_kind, read_plain

_SPELLED = compile_late(r"@|.*(?:[:^~]|@\{).*|(?:.*-g)?[0-9a-fA-F]{4,64}", re.DOTALL)
"""`@`, `:f`, `b^`, `b~1`, `b@{1}`, and what may begin a hash."""
_PLACES = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/")
"""Where git looks for a name, the last also with `/HEAD` behind it."""
_OTHERS = ("main-worktree/", "worktrees/")
"""Begin references of other working trees."""
_MAX_PACKED = 64 * 2**20
_MAX_POINTER = 4_096
_POINTER = compile_late(rb"\s*(?:ref:|[0-9a-f]{40})")


def may_be_revision(word: str, places: GitPlaces) -> bool:
    if not word or is_range(word) or _SPELLED.fullmatch(word) or word.startswith(_OTHERS):
        return True
    if ".." in word or word.startswith("/") or "//" in word:
        # No name of a reference.
        return False
    try:
        return _is_reference(word.removesuffix("/"), places)
    except (OSError, UnclearError, ValueError):
        return True


def is_range(word: str) -> bool:
    """`a..b`: two dots that are no step upwards."""
    return any(".." in step and step != ".." for step in word.split("/"))


def _is_reference(word: str, places: GitPlaces) -> bool:
    folders = {places.git, places.common}
    if any(find_kind(join(places.common, "reftable")) or _names_storage(join(each, "config")) for each in folders):
        return True
    names = [*(f"{place}{word}" for place in _PLACES), f"refs/remotes/{word}/HEAD"]
    for folder in folders:
        if any(_exists(join(folder, name)) for name in names[1:]) or _points(join(folder, word)):
            return True
    packed = (read_plain(join(places.common, "packed-refs"), _MAX_PACKED) or b"").replace(b"\r", b"\n") + b"\n"
    return any(b" " + os.fsencode(name) + b"\n" in packed for name in names[1:])


def _exists(path: str) -> bool:
    """A folder of references is none; what a link leads to may be one."""
    return find_kind(path) not in {0, stat.S_IFDIR}


def _points(path: str) -> bool:
    """A file of the repository's own folder, such as `HEAD`: it is one by what it holds."""
    return _exists(path) and _POINTER.match(read_plain(path, _MAX_POINTER) or b"") is not None


def _names_storage(config: str) -> bool:
    """References are kept in a way of their own."""
    return b"refstorage" in (read_plain(config, MAX_CONFIG) or b"").lower()
