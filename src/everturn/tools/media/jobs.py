"""What the child process is asked, and what it answers: JSON both ways, pictures as base64."""

from typing import Literal

import msgspec

LONG_EDGE = 1_568
"""Pixels. The API scales larger pictures down itself, after they were paid for in bytes."""
MAX_PAGES = 20


class PictureJob(msgspec.Struct, frozen=True, kw_only=True, tag="picture"):
    """The bytes on standard input are a picture."""


class PdfJob(msgspec.Struct, frozen=True, kw_only=True, tag="pdf"):
    """The bytes on standard input are a PDF."""

    pages: tuple[int, ...] = ()
    """Pages to draw, from 1; none: they are only counted."""


Job = PictureJob | PdfJob


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    base64: str
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    width: int
    height: int
    original_width: int
    original_height: int


class MediaAnswer(msgspec.Struct, frozen=True, kw_only=True):
    problem: str = ""
    """Why there is nothing: a sentence without its subject and full stop."""
    pictures: tuple[Picture, ...] = ()
    texts: tuple[str, ...] = ()
    """What stands on each page."""
    page_count: int = 0
