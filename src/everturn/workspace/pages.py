"""Reads a few lines of a file of any size in pieces; memory is bounded by the page."""

import codecs
import os
from collections.abc import Callable, Iterator

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.files import Stamp
from everturn.workspace.failures import explain_failure
from everturn.workspace.files import MAX_BYTES
from everturn.workspace.opening import OpenFile
from everturn.workspace.text import Encoding, judge_encoding

_PIECE = 1 << 18
_MARK_LENGTHS: dict[Encoding, int] = {"utf-16-le": 2, "utf-16-be": 2}


class PageSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Which lines are wanted, and how much of them."""

    first: int = 1
    count: int = 2_000
    width: int = 2_000
    """Characters of a line; the rest of it is left out."""
    room: int = 75_000
    """Bytes of the whole page; the line that does not fit and those after it are left out."""


class PageLine(msgspec.Struct, frozen=True):
    text: str
    """Without its end."""
    length: int
    """Characters of the whole line."""

    @property
    def is_cut(self) -> bool:
        return len(self.text) < self.length


class PageLines(msgspec.Struct, frozen=True, kw_only=True):
    first: int
    lines: tuple[PageLine, ...]
    total: int
    """Lines of the file; where its end was not reached, an estimate."""
    ended: bool
    """The whole file was looked through, so that `total` is exact."""
    out_of_room: bool
    stamp: Stamp


class Pager:
    """Fed with pieces of text, cut anywhere; keeps the lines of one span and counts the others."""

    def __init__(self, span: PageSpan) -> None:
        self._span = span
        self._begun: list[str] = []
        self._kept = 0
        self._length = 0
        self._room = span.room
        self._open = False
        self.lines: list[PageLine] = []
        self.passed = 0
        """Lines that have ended."""
        self.out_of_room = False

    @property
    def is_full(self) -> bool:
        return self.out_of_room or len(self.lines) == self._span.count

    def feed(self, text: str) -> None:
        if not text:
            return
        at = self._skip_lines(text)
        while not self.is_full and at < len(text):
            end = text.find("\n", at)
            self._take(text, at, len(text) if end < 0 else end)
            if end < 0:
                at = len(text)
            else:
                self._end_line()
                at = end + 1
        self.passed += text.count("\n", at)
        self._open = not text.endswith("\n")

    def finish(self) -> int:
        """How many lines there are: a last one without its end is a line."""
        if self._open:
            if self._begun and not self.is_full:
                self._end_line()
            else:
                self.passed += 1
            self._open = False
        return self.passed

    def _skip_lines(self, text: str) -> int:
        """Where in the text the span begins."""
        ahead = self._span.first - 1 - self.passed
        if ahead <= 0:
            return 0
        here = text.count("\n")
        if here < ahead:
            self.passed += here
            return len(text)
        at = 0
        for _ in range(ahead):
            at = text.index("\n", at) + 1
        self.passed += ahead
        return at

    def _take(self, text: str, start: int, end: int) -> None:
        missing = self._span.width - self._kept
        # An empty piece still says that a line has begun.
        piece = text[start : min(end, start + missing)]
        self._begun.append(piece)
        self._kept += len(piece)
        self._length += end - start

    def _end_line(self) -> None:
        text = "".join(self._begun)
        length = self._length
        if text.endswith("\r") and len(text) == length:
            text, length = text[:-1], length - 1
        self._begun, self._kept, self._length = [], 0, 0
        self.passed += 1
        self._room -= len(text.encode(errors="replace")) + 1
        if self._room < 0 and self.lines:
            self.out_of_room = True
        else:
            self.lines.append(PageLine(text, length))


def load_lines(file: OpenFile, span: PageSpan, *, stop: Callable[[], bool] = lambda: False) -> PageLines:
    """A file that may be read whole is looked through to its end and stamped with its digest.

    Of a larger one no more is read than the page needs. Raises `ToolFault`, also when `stop` says so.
    """
    head = _load_head(file)
    encoding = judge_encoding(head)
    try:
        try:
            return _load(file, span, encoding, stop)
        except UnicodeDecodeError:
            if encoding in _MARK_LENGTHS:
                raise ToolFault("The file is marked as UTF-16 and is not valid UTF-16.") from None
            return _load(file, span, "latin-1", stop)
    except OSError as error:
        raise explain_failure(error, file.path) from None


def _load(file: OpenFile, span: PageSpan, encoding: Encoding, stop: Callable[[], bool]) -> PageLines:
    try:
        return _load_with_ends(file, span, encoding, stop, lone_returns=None)
    except _MixedEnds:
        return _load_with_ends(file, span, encoding, stop, lone_returns=False)


class _MixedEnds(Exception):
    """The lines seemed to end with a carriage return alone."""


def _load_with_ends(
    file: OpenFile, span: PageSpan, encoding: Encoding, stop: Callable[[], bool], *, lone_returns: bool | None
) -> PageLines:
    from hashlib import sha256

    may_be_large = file.status.st_size > MAX_BYTES
    pager, digest, size = Pager(span), sha256(), 0
    decoder = codecs.getincrementaldecoder(encoding)()
    ended = True
    for piece in _pieces(file, stop):
        if not may_be_large:
            digest.update(piece)
        data = piece[_MARK_LENGTHS.get(encoding, 0) :] if size == 0 else piece
        size += len(piece)
        text = decoder.decode(data)
        if lone_returns is None:
            lone_returns = "\r" in text and "\n" not in text
        if lone_returns:
            if "\n" in text:
                raise _MixedEnds
            text = text.replace("\r", "\n")
        pager.feed(text)
        if may_be_large and pager.is_full:
            ended = False
            break
    if ended:
        pager.feed(decoder.decode(b"", final=True))
    total = pager.finish() if ended else max(pager.passed, pager.passed * file.status.st_size // size)
    stamp = Stamp(
        size=file.status.st_size if may_be_large else size,
        mtime_ns=file.status.st_mtime_ns,
        digest="" if may_be_large else digest.hexdigest(),
    )
    return PageLines(
        first=span.first,
        lines=tuple(pager.lines),
        total=total,
        ended=ended,
        out_of_room=pager.out_of_room,
        stamp=stamp,
    )


def _load_head(file: OpenFile) -> bytes:
    os.lseek(file.descriptor, 0, os.SEEK_SET)
    return os.read(file.descriptor, _PIECE)


def _pieces(file: OpenFile, stop: Callable[[], bool]) -> Iterator[bytes]:
    os.lseek(file.descriptor, 0, os.SEEK_SET)
    while piece := os.read(file.descriptor, _PIECE):
        if stop():
            raise ToolFault("The reading was interrupted.")
        yield piece
