"""Bubblewrap: a view of the file system, processes and network of the command's own, written as its arguments."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from everturn.sandbox.places import Places

PROGRAM = "bwrap"
FILTER_DESCRIPTOR = 239
INFORMATION_DESCRIPTOR = 237
"""There bubblewrap tells the number of its first process inside."""
KEPT_CAPABILITIES = (
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
)
"""Of root: what it takes to work with files of several owners, behind mounts that cannot be changed."""
_LOADER = ("LD_", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "MALLOC_")
_VIEW = (
    "--die-with-parent",
    "--unshare-pid",
    "--unshare-ipc",
    "--ro-bind", "/", "/",
    "--proc", "/proc",
    "--dev", "/dev",
)  # fmt: skip


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    rank: int
    """Of several at one place the highest comes last, and counts."""
    words: tuple[str, ...]


def plan_view(program: str, *, as_root: bool, has_own_network: bool = False) -> list[str]:
    """What is the same for all commands. `has_own_network`: whoever starts it is in the command's network already."""
    view = _VIEW if has_own_network else ("--unshare-net", *_VIEW)
    if not as_root:
        return [program, "--unshare-user", *view]
    kept = [word for name in KEPT_CAPABILITIES for word in ("--cap-add", name)]
    # Bubblewrap takes the kernel's settings for read-only, since their folder is; for root the files in it are not.
    return [program, *view, "--ro-bind", "/proc/sys", "/proc/sys", "--cap-drop", "ALL", *kept]


def part_environment(environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """What bubblewrap itself is started with, and what it hands to the command by its arguments.

    The latter is what its own loader would obey: a library that a command has put where such a variable leads would run outside. These
    are names of places; all else stays where other users cannot read it.
    """
    handed = {name: value for name, value in environment.items() if name.startswith(_LOADER)}
    return {name: value for name, value in environment.items() if name not in handed}, handed


def hand_over(handed: Mapping[str, str]) -> list[str]:
    return [word for name, value in handed.items() for word in ("--setenv", name, value)]


def plan_mounts(places: Places, placeholders: tuple[str, ...]) -> list[str]:
    return order_mounts(_list_mounts(places, placeholders))


def order_mounts(mounts: Iterable[Mount]) -> list[str]:
    """Parents first, so that the nearest word counts; at one place, what forbids counts."""
    ordered = sorted(mounts, key=lambda mount: (_depth(mount.path), mount.path, mount.rank))
    return [word for mount in ordered for word in mount.words]


def _list_mounts(places: Places, placeholders: tuple[str, ...]) -> Iterator[Mount]:
    for path in (*places.writable, *places.pinned):
        yield Mount(path=path, rank=1, words=("--bind", path, path))
    for path in places.shown:
        yield Mount(path=path, rank=0, words=("--ro-bind", path, path))
    for path in (*places.protected, *placeholders):
        yield Mount(path=path, rank=2, words=("--ro-bind", path, path))
    for path in places.hidden:
        yield Mount(path=path, rank=3, words=_hide(path))


def _hide(path: str) -> tuple[str, ...]:
    if stat.S_ISDIR(os.stat(path).st_mode):  # noqa: PTH116 - paths as text
        return ("--perms", "0111", "--tmpfs", path)
    return ("--ro-bind", os.devnull, path)


def _depth(path: str) -> int:
    return path.count("/") if path != "/" else 0
