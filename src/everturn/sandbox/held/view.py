"""Bubblewrap for held commands: a view of the file system that has nothing in it but what they may open."""

import os
from collections.abc import Iterable

from everturn.ports.holding import Bounds
from everturn.sandbox.bubblewrap import Mount, order_mounts
from everturn.sandbox.held.places import HeldPlaces, list_outermost
from everturn.sandbox.held.room import SHARED
from everturn.sandbox.held.staged_files import is_mounted
from everturn.sandbox.places import Places

_VIEW = (
    "--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    # For root, the kernel's settings could be written through a view of processes that is not read-only.
    "--proc", "/proc", "--remount-ro", "/proc",
    "--dev", "/dev",
)  # fmt: skip
OF_READERS = ("CAP_DAC_OVERRIDE",)
OF_EDITORS = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID")
"""Of root: what it takes to read, and to change, files of several owners."""
_LINKED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""On most systems links into /usr."""


def plan_held_view(
    program: str,
    places: HeldPlaces,
    edits: Places | None,
    placeholders: Iterable[str] = (),
    *,
    staged: str,
    as_root: bool,
    bounds: Bounds | None,
) -> list[str]:
    """`edits`: what of the working folders may be written, and what of that stays as it is; None for a reader.

    `placeholders` stand for what is not there, and must not appear; `staged` for `/etc`. `bounds`: None where bubblewrap cannot
    bound what is kept in memory.
    """
    view = [program, *(() if as_root else ("--unshare-user",)), *_VIEW]
    view += [*_bound(bounds.shared if bounds else None), "--tmpfs", SHARED, "--remount-ro", "/dev"]
    for path in _LINKED:
        if os.path.islink(path):  # noqa: PTH114 - paths as text
            view += ["--symlink", os.readlink(path), path]  # noqa: PTH115 - paths as text
    mounts = [Mount(path="/etc", rank=0, words=("--ro-bind", staged, "/etc"))]
    shown = list_outermost((*places.programs, *filter(is_mounted, places.readable), *places.folders))
    mounts += [
        Mount(path=path, rank=0, words=("--ro-bind-try", path, path)) for path in shown if path not in places.folders
    ]
    mounts += [Mount(path=path, rank=1, words=("--ro-bind", path, path)) for path in places.folders]
    if edits is not None:
        mounts += [Mount(path=path, rank=2, words=("--bind", path, path)) for path in (*edits.writable, *edits.pinned)]
        mounts += [
            Mount(path=path, rank=3, words=("--ro-bind", path, path)) for path in (*edits.protected, *placeholders)
        ]
    mounts += [Mount(path=path, rank=4, words=_hide(path)) for path in places.hidden]
    if places.keeps_temporary:
        room: tuple[str, ...] = ("--bind", places.temporary, places.temporary)
    else:
        room = (*_bound(bounds.view if bounds else None), "--perms", "0700", "--tmpfs", places.temporary)
    mounts.append(Mount(path=places.temporary, rank=5, words=room))
    kept = () if not as_root else OF_READERS if edits is None else OF_EDITORS
    dropped = ["--cap-drop", "ALL", *(word for name in kept for word in ("--cap-add", name))] if as_root else []
    return [*view, *order_mounts(mounts), "--remount-ro", "/", *dropped]


def _bound(size: int | None) -> tuple[str, ...]:
    return ("--size", str(size)) if size is not None else ()


def _hide(path: str) -> tuple[str, ...]:
    if os.path.isdir(path):  # noqa: PTH112 - paths as text
        return ("--perms", "0111", "--tmpfs", path, "--remount-ro", path)
    return ("--ro-bind", os.devnull, path)
