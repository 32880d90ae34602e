"""A conversation as one JSON object, piece by piece: what a program needs that wants no Markdown."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from everturn.sessions.export.spoken import Spoken

VERSION = 1
_encode = msgspec.json.Encoder().encode


def render_document(session: dict[str, Any], spoken: Iterable[Spoken]) -> Iterator[str]:
    """`session` says what stands above the messages."""
    yield f'{{"format":"everturn-session","version":{VERSION},"session":{_encode(session).decode()},"messages":['
    separator = "\n"
    for message in spoken:
        entry = {
            "id": message.id,
            "kind": message.kind,
            "at": message.at or None,
            "model": message.model or None,
            "content": message.blocks,
        }
        yield f"{separator}{_encode(entry).decode()}"
        separator = ",\n"
    yield "\n]}\n"
