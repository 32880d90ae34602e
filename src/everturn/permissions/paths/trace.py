"""All names of a path: as it was given, after each link, and the real path at the end."""

import errno
import os
import stat

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.rules.patterns import MAX_LENGTH
from everturn.workspace.opening import MAX_LINKS

_MAGIC = compile_late(
    r"/proc/(?:\d+|self|thread-self)(?:/task/\d+)?/(?:root|cwd|exe|fd|map_files|environ|mem|ns)(?:/|$)"
)
"""Links of the kernel: where they lead is not what they read. And what a process keeps to itself."""
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES})
"""What is not there, or not to be seen, is no link that we could follow."""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """Every path absolute and without dots."""

    ends: tuple[str, ...]
    """The spelling that was given first, then what each link made of it, the real path last; no two alike."""
    target: str
    """The last of them; empty where the path leads nowhere, and nothing could open it."""
    magic: bool = False
    """It passes through what the kernel makes up."""
    is_folder: bool = False
    is_shared: bool = False
    """A file with a second name, perhaps outside."""


def trace_path(path: str) -> Trace:
    """`path` is absolute. `..` is taken as the kernel takes it. Nothing is opened; never raises."""
    if "\0" in path or len(path) > MAX_LENGTH:
        return Trace(ends=(os.path.normpath(path.replace("\0", "")),), target="")
    # Two slashes in front are not always one to the standard; to the kernel they are.
    walk = _Walk("/" + path.lstrip("/"))
    try:
        walk.run()
    except (OSError, ValueError):
        # Too many links, too long a name, a character that no name can hold: nothing else could open it either.
        return Trace(ends=tuple(walk.ends), target="", magic=walk.magic)
    mode, links = walk.last
    return Trace(
        ends=tuple(walk.ends),
        target=next(reversed(walk.ends)),
        magic=walk.magic,
        is_folder=stat.S_ISDIR(mode),
        is_shared=stat.S_ISREG(mode) and links > 1,
    )


class _Walk:
    """The same way as that of `workspace.opening`, by names instead of descriptors: it may pass where we may not enter."""

    def __init__(self, path: str) -> None:
        self.ends = {os.path.normpath(path): None}
        self.magic = False
        self.last = (stat.S_IFDIR, 1)
        """Mode and number of names of where we are; zeros where nothing is."""
        self._passed: list[str] = []
        self._ahead = _names(path)
        self._links = 0

    def run(self) -> None:
        while self._ahead:
            name = self._ahead.pop()
            if name == "..":
                del self._passed[-1:]
                self.last = (stat.S_IFDIR, 1)
                continue
            here = "/".join(("", *self._passed, name))
            self.magic = self.magic or (here.startswith("/proc/") and _MAGIC.match(here) is not None)
            self.last = _look_at(here)
            if stat.S_ISLNK(self.last[0]):
                self._follow(os.readlink(here))  # noqa: PTH115 (a path as text is wanted)
            else:
                self._passed.append(name)
        target = "/" + "/".join(self._passed)
        self.ends.pop(target, None)
        self.ends[target] = None

    def _follow(self, leads_to: str) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if leads_to.startswith("/"):
            self._passed = []
        self._ahead += _names(leads_to)
        self.ends[os.path.normpath("/".join(("", *self._passed, *reversed(self._ahead))))] = None


def _look_at(path: str) -> tuple[int, int]:
    try:
        status = os.lstat(path)
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
        return 0, 0
    return status.st_mode, status.st_nlink


def _names(path: str) -> list[str]:
    """The last one first: they are taken from the end."""
    return [name for name in reversed(path.split("/")) if name not in {"", "."}]
