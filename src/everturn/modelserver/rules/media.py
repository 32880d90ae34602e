"""Rules about pictures."""

from collections.abc import Iterator
from typing import Any

from everturn.modelserver.ask import Ask
from everturn.modelserver.pictures import parse_size
from everturn.modelserver.rules.rule import REFERENCE, BodyRules

MEDIA = BodyRules()

_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_MAX_BYTES = 10 * 1024 * 1024
_MAX_SIDE = 8000
_MANY = 20
_MAX_SIDE_OF_MANY = 2000


def _pictures(ask: Ask) -> Iterator[tuple[str, Any]]:
    for placed in ask.nested_blocks:
        if placed.block.get("type") == "image":
            yield placed.path, placed.block.get("source")


@MEDIA.rule("image-source", REFERENCE, "A picture comes as base64, by URL or as a file.")
def _source(ask: Ask) -> str | None:
    for path, source in _pictures(ask):
        if not isinstance(source, dict) or source.get("type") not in ("base64", "url", "file"):
            return f"{path}.image.source: Input tag found using 'type' does not match any of the expected tags: 'base64', 'url', 'file'"
        if source["type"] == "base64" and not isinstance(source.get("data"), str):
            return f"{path}.image.source.base64.data: Field required"
    return None


@MEDIA.rule("image-type", "conventions §6.8", "A picture is JPEG, PNG, GIF or WebP.")
def _type(ask: Ask) -> str | None:
    for path, source in _pictures(ask):
        if source["type"] == "base64" and source.get("media_type") not in _TYPES:
            return f"{path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
    return None


@MEDIA.rule(
    "image-count",
    "conventions §6.8",
    "There are at most 100 pictures on models with 200k of context, 600 on the others.",
)
def _count(ask: Ask) -> str | None:
    count = len(list(_pictures(ask)))
    return (
        f"messages: too many images: {count} images > {ask.model.images} maximum" if count > ask.model.images else None
    )


@MEDIA.rule("image-bytes", "conventions §6.8", "A picture is at most 10 MB of base64.")
def _bytes(ask: Ask) -> str | None:
    for path, source in _pictures(ask):
        size = len(source.get("data", ""))
        if size > _MAX_BYTES:
            return f"{path}.image.source.base64: image exceeds 10 MB maximum: {size} bytes > {_MAX_BYTES} bytes"
    return None


@MEDIA.rule(
    "image-pixels", "conventions §6.8", "A picture is at most 8000 pixels a side, 2000 when there are more than 20."
)
def _pixels(ask: Ask) -> str | None:
    pictures = list(_pictures(ask))
    many = len(pictures) > _MANY
    limit = _MAX_SIDE_OF_MANY if many else _MAX_SIDE
    for path, source in pictures:
        size = parse_size(source["data"]) if source["type"] == "base64" else None
        if size and max(size) > limit:
            kind = " for many-image requests" if many else ""
            return f"{path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size{kind}: {limit} pixels"
    return None
