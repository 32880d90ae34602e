"""The contents of protected files, in one unnamed file: no command can find it, and it disappears with the process."""

import os

import msgspec

_CHUNK = 1 << 20
MAX_KEPT = 256 << 20
"""Bytes, old ones included: then it begins anew."""


class StoredPiece(msgspec.Struct, frozen=True):
    start: int
    size: int


class ContentStore:
    def __init__(self) -> None:
        self._file = -1
        self._end = 0

    @property
    def is_full(self) -> bool:
        return self._end > MAX_KEPT

    def add(self, file: int, size: int) -> StoredPiece:
        """The first `size` bytes of a file. Raises `OSError`, also where it is shorter by now."""
        if self._file < 0:
            self._file = _make()
        start, done = self._end, 0
        while done < size:
            data = os.pread(file, min(_CHUNK, size - done), done)
            if not data:
                raise OSError("the file is being changed")
            done += os.pwrite(self._file, data, start + done)
        self._end = start + size
        return StoredPiece(start, size)

    def copy(self, piece: StoredPiece, file: int) -> None:
        """To a file that is open for writing. Raises `OSError`."""
        done = 0
        while done < piece.size:
            data = os.pread(self._file, min(_CHUNK, piece.size - done), piece.start + done)
            done += os.pwrite(file, data, done)

    def has(self, piece: StoredPiece, file: int) -> bool:
        """Whether the file has just this content. Raises `OSError`."""
        done = 0
        while done < piece.size:
            length = min(_CHUNK, piece.size - done)
            kept, there = os.pread(self._file, length, piece.start + done), os.pread(file, length, done)
            if kept != there:
                return False
            done += length
        return not os.pread(file, 1, done)

    def clear(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file, self._end = -1, 0


def _make() -> int:
    """Raises `OSError`."""
    from tempfile import gettempdir

    try:
        return os.open(gettempdir(), os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):
        # Not every file system has files without a name.
        return os.memfd_create("everturn-kept", os.MFD_CLOEXEC)
