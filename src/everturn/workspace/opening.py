"""From a path to an open file, one name at a time, so that the opened file is the one that was judged."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from everturn.core.errors import ToolFault
from everturn.ports.judged_paths import JudgedPath
from everturn.workspace.failures import explain_failure

MAX_LINKS = 40
"""As many links as the kernel follows in one path."""

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Where the system can, folders are held without the right to list them: passing through is enough."""
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Without O_NONBLOCK a FIFO without a writer would hold us for ever."""


class Place(NamedTuple):
    """A name in a folder that is held open. Whatever happens to the path meanwhile, the folder stays the same one."""

    folder: int
    """Descriptor; valid inside the `with`."""
    name: str
    path: str
    """Real and absolute, every link followed: this is the path to judge."""


class OpenFile(NamedTuple):
    """A regular file, open for reading."""

    place: Place
    descriptor: int
    status: os.stat_result

    @property
    def path(self) -> str:
        return self.place.path


@contextmanager
def open_place(
    path: str, *, make_folders: bool = False, folder: str | None = None, judged: JudgedPath | None = None
) -> Iterator[Place]:
    """The place that an absolute path leads to, whether or not something is there. Raises `ToolFault`.

    `judged` is what the permission was given for: where the path leads elsewhere by now, nothing is done.
    Folders that were made are taken away again where the block ends in an error, as far as they are empty.
    """
    with _explained(path, folder):
        walk = _Walk(path, make_folders=make_folders)
    try:
        with _explained(path, folder):
            place = walk.run()
        refuse_unjudged(place.path, judged)
        yield place
    except BaseException:
        walk.take_back()
        raise
    finally:
        walk.close()


@contextmanager
def open_for_reading(path: str, *, folder: str | None = None, judged: JudgedPath | None = None) -> Iterator[OpenFile]:
    """Never waits. Raises `ToolFault`, which knows better names when it is told the working folder."""
    with open_place(path, folder=folder, judged=judged) as place, open_in(place, folder=folder) as file:
        yield file


@contextmanager
def open_in(place: Place, *, folder: str | None = None) -> Iterator[OpenFile]:
    """Opens no link: one that stands there now was put there after the place was found. Raises `ToolFault`."""
    with _explained(place.path, folder):
        # Some devices act when they are opened; whoever swaps the file after this look is caught by the second one.
        refuse_special(place.path, os.stat(place.name, dir_fd=place.folder, follow_symlinks=False))
        descriptor = _open_no_link(place)
    try:
        status = os.fstat(descriptor)
        refuse_special(place.path, status)
        yield OpenFile(place, descriptor, status)
    finally:
        os.close(descriptor)


def is_taken(place: Place) -> bool:
    """Something stands there, whatever it is. Raises `ToolFault` where it cannot be told."""
    with _explained(place.path, None), suppress(FileNotFoundError):
        os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
        return True
    return False


def refuse_unjudged(path: str, judged: JudgedPath | None) -> None:
    """Raises `ToolFault` where a real path is not the one that was judged: a link or a folder was swapped since."""
    if judged is not None and judged.target != path:
        raise ToolFault(
            f"The path changed while it was being judged: it leads to {path} now. Nothing was done; try again."
        )


def refuse_special(path: str, status: os.stat_result) -> None:
    """Raises `ToolFault` that says what to do instead."""
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise ToolFault(f"{path} is a folder. List it with Glob, or with `ls`.")
    if stat.S_ISLNK(mode):
        raise _swapped(path)
    if not stat.S_ISREG(mode):
        raise ToolFault(f"{path} is not a regular file (a device, pipe or socket). It cannot be read or written here.")
    if _is_in_proc(status):
        if path.endswith("/environ"):
            raise ToolFault(f"{path} is the environment of a process, which may hold keys. It is not read.")
        raise ToolFault(f"{path} is not a file on a disk: the kernel makes it up. Look at it with a command (`cat`).")


def _open_no_link(place: Place) -> int:
    try:
        return os.open(place.name, _FILE, dir_fd=place.folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _swapped(place.path) from None
        raise


def _swapped(path: str) -> ToolFault:
    return ToolFault(f"{path} has changed on disk since it was looked up: it is a link now. Try again.")


def _is_in_proc(status: os.stat_result) -> bool:
    """By the device, so that no other mount or link of it goes unseen."""
    with suppress(OSError):
        return os.stat("/proc/self").st_dev == status.st_dev  # noqa: PTH116 - the plain call; nothing is built on it
    return False


@contextmanager
def _explained(path: str, folder: str | None) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise explain_failure(error, path, folder=folder) from None


class _Walk:
    """One walk from the root. Only the folder reached so far is held open."""

    def __init__(self, path: str, *, make_folders: bool) -> None:
        if not path.startswith("/"):
            raise ValueError("it is not absolute")
        if "\0" in path:
            raise ValueError("embedded null byte")
        self.folder = os.open("/", _FOLDER)
        self._make_folders = make_folders
        self._made: list[Place] = []
        self._passed: list[str] = []
        self._ahead = _names(path)
        self._links = 0

    def run(self) -> Place:
        while self._ahead:
            name = self._ahead.pop()
            if name == "..":
                self._go_up()
            elif self._ahead:
                self._enter(name)
            elif (target := self._link_at(name)) is not None:
                self._follow(target)
            else:
                return Place(self.folder, name, "/" + "/".join([*self._passed, name]))
        # The path ends at a folder that a link or `..` led to.
        return Place(self.folder, ".", "/" + "/".join(self._passed))

    def take_back(self) -> None:
        for made in reversed(self._made):
            with suppress(OSError):
                os.rmdir(made.name, dir_fd=made.folder)

    def close(self) -> None:
        for descriptor in (*(made.folder for made in self._made), self.folder):
            os.close(descriptor)

    def _link_at(self, name: str) -> str | None:
        try:
            return os.readlink(name, dir_fd=self.folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        self._ahead += _names(target)
        if target.startswith("/"):
            self._restart()

    def _enter(self, name: str) -> None:
        if self._make_folders:
            self._make(name)
        try:
            self._hold(os.open(name, _FOLDER, dir_fd=self.folder))
        except OSError:
            if (target := self._link_at(name)) is None:
                raise
            self._follow(target)
        else:
            self._passed.append(name)

    def _make(self, name: str) -> None:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self.folder)
            self._made.append(Place(os.dup(self.folder), name, "/" + "/".join([*self._passed, name])))

    def _go_up(self) -> None:
        """By the names passed, not by the folder's own `..`: it may have been moved since."""
        self._ahead += reversed(self._passed[:-1])
        self._restart()

    def _restart(self) -> None:
        self._hold(os.open("/", _FOLDER))
        self._passed = []

    def _hold(self, folder: int) -> None:
        os.close(self.folder)
        self.folder = folder


def _names(path: str) -> list[str]:
    """The last one first: they are taken from the end."""
    return [name for name in reversed(path.split("/")) if name not in {"", "."}]
