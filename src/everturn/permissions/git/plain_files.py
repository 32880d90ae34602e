"""Reads files of a repository that is not trusted, without waiting and without following links."""

import os
import stat

from everturn.core.git_config import UnclearError

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_plain(path: str, most: int) -> bytes | None:
    """The whole of a plain file; None where there is none. Raises `UnclearError` for anything else, or for more than `most` bytes."""
    try:
        # Some devices act when they are opened, so the first look is from outside.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise UnclearError(path)
        descriptor = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            raise UnclearError(path)
        data = bytearray()
        while piece := file.read(most + 1 - len(data)):
            data += piece
    if len(data) > most:
        raise UnclearError(path)
    return bytes(data)


class ByteAllowance:
    """How many bytes may still be read: many files must not take longer than one."""

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, path: str, most: int | None = None) -> bytes | None:
        """As `read_plain` does."""
        data = read_plain(path, self._left if most is None else min(most, self._left))
        self._left -= len(data or b"")
        return data


def read_one_path(path: str, most: int = 4_096) -> str | None:
    """The single line of a file such as `commondir`, as git takes it: whole but for the newlines at its end. None where there is no file."""
    data = read_plain(path, most)
    if data is None:
        return None
    line = data.rstrip(b"\r\n")
    if not line or any(byte in line for byte in b"\0\r\n"):
        raise UnclearError(path)
    return os.fsdecode(line)


def find_kind(path: str) -> int:
    """The `S_IF…` of what lies there, a link being a link; 0 where nothing does."""
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return 0
