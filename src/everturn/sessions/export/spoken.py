"""The conversation in a session's file, message by message: whatever its size, only one message is held at a time."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.masking import mask_keys
from everturn.core.messages import Kind
from everturn.core.records import MessageAdded, MessageRetracted, Rewound
from everturn.sessions.blobs import BlobStore, restore_media
from everturn.sessions.disk import LocalDisk
from everturn.sessions.places import blobs_folder
from everturn.sessions.session_files import stream_told

Mask = Callable[[str], str]


def mask_values(value: Any, mask: Mask) -> Any:
    """Every text in a piece of JSON; media is no text."""
    match value:
        case str():
            return mask(value)
        case list():
            return [mask_values(item, mask) for item in value]
        case {"type": "base64", "data": data}:
            return {**{key: mask_values(item, mask) for key, item in value.items() if key != "data"}, "data": data}
        case dict():
            return {mask(key): mask_values(item, mask) for key, item in value.items()}
        case _:
            return value


UNTOLD = frozenset({Kind.ATTACHMENT, Kind.HIDDEN, Kind.PROGRESS})
"""Our words to the model, not part of what was said."""


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What stands above a conversation."""

    id: str
    title: str
    rows: dict[str, str]
    """What is worth knowing, ready to be read."""


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: Kind
    at: str
    """ISO 8601 in UTC; the first format says none."""
    model: str
    blocks: list[dict[str, Any]]
    """As the API knows them, without keys. Media is in place."""


def stream_spoken(path: Path, *, mask: Mask = mask_keys) -> Iterator[Spoken]:
    """What was taken back is left out, and so is what was never meant for people. Raises `JournalError`."""
    left = load_standing(path)
    blobs = BlobStore(LocalDisk(), blobs_folder(path))
    for told, _ in stream_told(path):
        record = told.record
        if not isinstance(record, MessageAdded) or record.kind in UNTOLD or record.id not in left:
            continue
        left.discard(record.id)
        if told.blobs:
            record, _ = restore_media(record, told.blobs, blobs)
        blocks = [mask_values(block, mask) for raw in record.blocks if (block := _decode(bytes(raw)))]
        yield Spoken(
            id=record.id,
            kind=record.kind,
            at=told.time,
            model=record.answer.model if record.answer else "",
            blocks=blocks,
        )


def load_standing(path: Path) -> set[str]:
    """Ids of the messages that were neither taken back nor left behind when the session went back to an earlier one."""
    standing: dict[str, None] = {}
    for told, _ in stream_told(path):
        match told.record:
            case MessageAdded(id=id_):
                standing[id_] = None
            case MessageRetracted(id=id_):
                standing.pop(id_, None)
            case Rewound(to=to) if to in standing:
                ids = list(standing)
                standing = dict.fromkeys(ids[: ids.index(to) + 1])
    return set(standing)


def find_result_text(block: dict[str, Any]) -> str:
    """The text of a tool's result; media is left out."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)


def find_media(block: dict[str, Any]) -> list[tuple[str, str]]:
    """Kind and base64 of each picture or document in a block, those in a result included."""
    inner = block.get("content")
    parts = [block, *(inner if isinstance(inner, list) else [])]
    found = []
    for part in parts:
        source = part.get("source") if isinstance(part, dict) else None
        if isinstance(source, dict) and source.get("type") == "base64":
            found.append((str(source.get("media_type", "")), str(source.get("data", ""))))
    return found


def count_bytes(data: str) -> int:
    """That this base64 stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def render_call(block: dict[str, Any]) -> str:
    """`Bash: git status`, on one line."""
    name, given = str(block.get("name", "tool")), block.get("input")
    values = [value for value in given.values() if isinstance(value, str)] if isinstance(given, dict) else []
    first = " ".join(values[0].split()) if values else ""
    return f"{name}: {first[:120]}{'…' if len(first) > 120 else ''}" if first else name  # noqa: PLR2004 (a line)


def _decode(raw: bytes) -> dict[str, Any] | None:
    try:
        block = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    return block if isinstance(block, dict) else None
