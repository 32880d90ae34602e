"""From bytes to text and back without loss: encoding, byte order mark and line ends are kept beside the text."""

import codecs
from enum import StrEnum
from typing import Literal

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.files import Stamp

Encoding = Literal["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "latin-1"]

NUL_SIGN = "␀"
"""How a NUL is shown that lies further into a file than we look to tell text from other data."""

_SNIFFED = 8_192
_UTF32_LE = codecs.BOM_UTF32_LE
"""Begins like UTF-16's mark, and is not text that we keep."""
_MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Newline(StrEnum):
    LF = "\n"
    CRLF = "\r\n"
    CR = "\r"
    MIXED = "mixed"
    """Several kinds: the text keeps each line's own end."""


class FileText(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    """Lines end with "\\n", whatever the file has, unless its line ends are mixed."""
    encoding: Encoding
    newline: Newline
    stamp: Stamp


def is_binary(data: bytes) -> bool:
    """A NUL near the beginning, unless a mark says UTF-16."""
    if data.startswith(_UTF32_LE):
        return True
    return not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and b"\0" in data[:_SNIFFED]


def show_nuls(text: str) -> str:
    return text.replace("\0", NUL_SIGN)


def judge_encoding(head: bytes) -> Encoding:
    """By the beginning of a file; bytes further on may show that it is Latin-1 after all."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"


def decode_text(data: bytes) -> tuple[str, Encoding, Newline]:
    """Never loses a byte: `encode_text` of the answer gives `data` back. Raises `ToolFault` for broken UTF-16."""
    text, encoding = _decode(data)
    newline = judge_newline(text)
    if newline in {Newline.CRLF, Newline.CR}:
        text = text.replace(newline, "\n")
    return text, encoding, newline


def encode_text(text: str, encoding: Encoding, newline: Newline) -> bytes:
    """Raises `ToolFault` when the encoding has no such character."""
    if newline in {Newline.CRLF, Newline.CR}:
        text = text.replace("\r\n", "\n").replace("\n", newline)
    mark = next((mark for mark, name in _MARKS if name == encoding), b"")
    try:
        return mark + text.encode(encoding)
    except UnicodeEncodeError as error:
        missing = text[error.start]
        raise ToolFault(
            f"The file is kept in {encoding}, which cannot hold the character {missing!r} (U+{ord(missing):04X}). "
            "Leave that character out, or convert the file to UTF-8 first."
        ) from None


def judge_newline(text: str) -> Newline:
    if "\r" not in text:
        return Newline.LF
    crlf = text.count("\r\n")
    kinds = {
        Newline.CRLF: crlf,
        Newline.CR: text.count("\r") - crlf,
        Newline.LF: text.count("\n") - crlf,
    }
    present = [kind for kind, count in kinds.items() if count]
    if len(present) > 1:
        return Newline.MIXED
    return present[0] if present else Newline.LF


def _decode(data: bytes) -> tuple[str, Encoding]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), encoding
            except UnicodeDecodeError:
                raise ToolFault("The file is marked as UTF-16 and is not valid UTF-16.") from None
    try:
        if data.startswith(codecs.BOM_UTF8):
            return data.decode("utf-8-sig"), "utf-8-sig"
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"
