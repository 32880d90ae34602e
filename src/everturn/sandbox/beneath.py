"""Names below a folder that is held open. Nothing here follows a link: no name that a command can change leads elsewhere."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""A pipe in a file's place does not keep us waiting, and is seen by its kind."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
OWN = 0o700
"""What an owner needs to look into a folder, and to change what is in it."""


def open_straight(path: str) -> int:
    """The folder with this absolute path, as `FOLDER`. Raises `OSError` where a link is on the way."""
    top = os.open("/", FOLDER)
    try:
        return open_beneath(top, path)
    finally:
        os.close(top)


def open_beneath(folder: int, path: str) -> int:
    """The folder with this path below the given one, or that one itself, as `FOLDER`. Raises `OSError` where a link is on the way."""
    inner = os.dup(folder)
    for name in filter(None, path.split("/")):
        above = inner
        try:
            inner = os.open(name, FOLDER, dir_fd=above)
        finally:
            os.close(above)
    return inner


def find_status(folder: int, name: str) -> os.stat_result | None:
    """Of what has the name, be it a link. None: nothing has."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def open_up(folder: int) -> None:
    """A command may have taken the owner's rights away; the owner gives them back."""
    mode = find_mode(folder)
    if mode & OWN != OWN:
        set_mode(folder, mode | OWN)


@contextmanager
def opened_up(folder: int) -> Iterator[None]:
    """For a moment: then it has the mode again that it had."""
    mode = find_mode(folder)
    open_up(folder)
    try:
        yield
    finally:
        if mode & OWN != OWN:
            set_mode(folder, mode)


def find_mode(folder: int) -> int:
    return stat.S_IMODE(os.fstat(folder).st_mode)


def set_mode(folder: int, mode: int) -> None:
    """As far as we may."""
    with suppress(OSError):
        # By the descriptor, which leads to the folder itself: `fchmod` refuses those that only name.
        os.chmod(f"/proc/self/fd/{folder}", mode)  # noqa: PTH101 - a descriptor


def open_listed(folder: int, name: str) -> int:
    """To be read by `os.scandir`, whatever rights a command has taken away. Raises `OSError`."""
    try:
        return os.open(name, LISTED, dir_fd=folder)
    except PermissionError:
        # Even the name `.` is only looked up where one may enter.
        open_up(folder)
        held = os.open(name, FOLDER, dir_fd=folder)
        try:
            open_up(held)
            return os.open(".", LISTED, dir_fd=held)
        finally:
            os.close(held)


def open_file(folder: int, name: str, status: os.stat_result) -> int:
    """The regular file that has this status, to be read. Raises `OSError`, also where something else has the name by now."""
    descriptor = os.open(name, READ, dir_fd=folder)
    if os.path.samestat(os.fstat(descriptor), status):
        return descriptor
    os.close(descriptor)
    raise FileNotFoundError(name)


def find_place(folder: int) -> tuple[int, str] | None:
    """Where a folder is now, wherever it was moved: what is above it (to be closed), and its name there."""
    own = os.fstat(folder)
    above = os.open("..", FOLDER, dir_fd=folder)
    with suppress(OSError):
        listed = open_listed(above, ".")
        try:
            with os.scandir(listed) as entries:
                for entry in entries:
                    if entry.inode() == own.st_ino and os.path.samestat(entry.stat(follow_symlinks=False), own):
                        return above, entry.name
        finally:
            os.close(listed)
    os.close(above)
    return None
