"""The kind of a file by its first bytes, whatever its name says."""

from typing import Literal

Picture = Literal["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff"]

_PICTURES: tuple[tuple[bytes, Picture], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "a Linux program or library"),
    (b"MZ", "a Windows program or library"),
    (b"\xcf\xfa\xed\xfe", "a macOS program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or a macOS program"),
    (b"\0asm", "a WebAssembly module"),
    (b"PK\x03\x04", "a zip archive, an Office document or a jar"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\xfd7zXZ\0", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\0\1\0\0", "a font"),
    (b"OTTO", "a font"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\0\0\1\0", "an icon"),
    (b"\xff\xfe\0\0", "text in UTF-32"),
    (b"\0\0\xfe\xff", "text in UTF-32"),
)
_TAR_MARK = slice(257, 262)
_FAMILY_MARK = slice(4, 8)
_RIFF_FORM = slice(8, 12)
_BMP_RESERVED = slice(6, 10)
_PDF_WITHIN = 1_024
"""Readers of PDF allow a preamble of so many bytes."""


def judge_picture(head: bytes) -> Picture | None:
    if head.startswith(b"RIFF") and head[_RIFF_FORM] == b"WEBP":
        return "image/webp"
    if head.startswith(b"BM") and head[_BMP_RESERVED] == bytes(4):
        return "image/bmp"
    return next((kind for mark, kind in _PICTURES if head.startswith(mark)), None)


def is_pdf(head: bytes) -> bool:
    return b"%PDF-" in head[:_PDF_WITHIN] and not head[: head.index(b"%PDF-")].strip(b"\xef\xbb\xbf\r\n\t ")


def describe_kind(head: bytes) -> str:
    """A noun with its article; empty when nothing is known."""
    if (picture := judge_picture(head)) is not None:
        return f"a picture ({picture})"
    if is_pdf(head):
        return "a PDF"
    if head[_TAR_MARK] == b"ustar":
        return "a tar archive"
    if head[_FAMILY_MARK] == b"ftyp":
        return "MP4 video, audio or a HEIC picture"
    if head.startswith(b"RIFF"):
        return "WAV audio or AVI video"
    return next((kind for mark, kind in _KINDS if head.startswith(mark)), "")
