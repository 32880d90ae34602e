"""Whole files by their path: read with a stamp, compared with one, replaced in one step."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from everturn.core.errors import ToolFault
from everturn.ports.files import LoadedText, Stamp
from everturn.ports.judged_paths import JudgedPath
from everturn.workspace.failures import explain_failure
from everturn.workspace.opening import OpenFile, Place, open_for_reading, open_place
from everturn.workspace.replace import replace_in, stamp_of
from everturn.workspace.text import FileText, decode_text, encode_text, is_binary

__all__ = ["MAX_BYTES", "LocalFiles", "exists", "explain_failure", "load_bytes", "read_file", "replace_file"]

MAX_BYTES = 50_000_000
"""A larger file is not read whole into memory."""
_PIECE = 1 << 20


def read_file(path: str) -> FileText:
    """A text file, whole. Raises `ToolFault` that says what to do instead."""
    with open_for_reading(path) as file:
        return load_text(file)


def load_text(file: OpenFile, most: int = MAX_BYTES) -> FileText:
    """Raises `ToolFault`."""
    data = load_all(file, most)
    if is_binary(data):
        raise refuse_binary(file.path, data)
    text, encoding, newline = decode_text(data)
    return FileText(text=text, encoding=encoding, newline=newline, stamp=stamp_of(data, file.status))


def load_bytes(path: str) -> tuple[bytes, os.stat_result]:
    """Opens nothing but regular files, so that no device or FIFO can hold us. Raises `ToolFault`."""
    with open_for_reading(path) as file:
        return load_all(file), file.status


def load_all(file: OpenFile, most: int = MAX_BYTES) -> bytes:
    """Raises `ToolFault` when there is more."""
    refuse_too_large(file, most)
    pieces = []
    left = most + 1
    # Most files are read in one go; the byte beyond shows a file that grows.
    size = max(file.status.st_size + 1, _PIECE)
    try:
        os.lseek(file.descriptor, 0, os.SEEK_SET)
        while left > 0 and (piece := os.read(file.descriptor, min(left, size))):
            pieces.append(piece)
            left -= len(piece)
    except OSError as error:
        raise explain_failure(error, file.path) from None
    if left <= 0:
        raise _too_large(file, most)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def exists(path: str) -> bool:
    """Raises `ToolFault` where it cannot be told."""
    try:
        Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise explain_failure(error, path) from None
    return True


def replace_file(path: str, text: str, *, like: FileText | None = None) -> Stamp:
    """Keeps mode, owner, encoding, mark and line ends; a link stays a link.

    `like` is the file as it was read: if it changed since, nothing is written. None: the file must not exist;
    missing parents are made. Raises `ToolFault`.
    """
    data = encode_like(text, like)
    with open_place(path, make_folders=like is None) as place:
        return replace_in(place, data, like=like.stamp if like else None)


def replace_text(place: Place, text: str, *, like: FileText | None) -> Stamp:
    """`replace_file` for a place that is held open already. Raises `ToolFault`."""
    return replace_in(place, encode_like(text, like), like=like.stamp if like else None)


def encode_like(text: str, like: FileText | None) -> bytes:
    """Raises `ToolFault` for what the encoding cannot hold."""
    try:
        return encode_text(text, like.encoding, like.newline) if like else text.encode()
    except UnicodeEncodeError as error:
        raise ToolFault(f"The text holds half of a surrogate pair at position {error.start}; it is not text.") from None


def refuse_binary(path: str, head: bytes) -> ToolFault:
    from everturn.workspace.kinds import describe_kind

    kind = describe_kind(head)
    seems = f" (it seems to be {kind})" if kind else ""
    return ToolFault(f"{path} is a binary file{seems}. Look into it with a command such as `file`, `xxd` or `strings`.")


class LocalFiles:
    """`ports.files.Files` on this machine."""

    def __init__(self, judge: Callable[[str], JudgedPath | None] | None = None) -> None:
        """`judge` is asked before a file is read: what it was judged to be, or None where it may not be read now."""
        self._judge = judge

    def changed(self, path: str, stamp: Stamp) -> bool:
        try:
            status = Path(path).stat()
            if status.st_size == stamp.size and status.st_mtime_ns == stamp.mtime_ns:
                return False
            with self._open(path) as file:
                return stamp_of(load_all(file), file.status).digest != stamp.digest
        except (OSError, ValueError, ToolFault):
            return True

    def is_gone(self, path: str) -> bool:
        return not os.path.lexists(path)

    def load(self, path: str, most: int) -> LoadedText | None:
        try:
            with self._open(path) as file:
                loaded = load_text(file, most)
        except (OSError, ValueError, ToolFault):
            return None
        return LoadedText(text=loaded.text, stamp=loaded.stamp)

    @contextmanager
    def _open(self, path: str) -> Iterator[OpenFile]:
        """Raises `ToolFault`."""
        judged = None
        if self._judge is not None:
            judged = self._judge(path)
            if judged is None:
                raise ToolFault(f"{path} may not be read now.")
        with open_for_reading(path, judged=judged) as file:
            yield file


def refuse_too_large(file: OpenFile, most: int = MAX_BYTES) -> None:
    """Raises `ToolFault`."""
    if file.status.st_size > most:
        raise _too_large(file, most)


def _too_large(file: OpenFile, most: int) -> ToolFault:
    return ToolFault(
        f"{file.path} is larger than {most // 1_000_000} MB ({file.status.st_size:,} bytes). "
        "Search it with Grep, or look at parts with Read and `offset`."
    )
