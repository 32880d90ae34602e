"""Images and documents that are no longer sent: how a notice names each of them, and what is sent in its place. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from everturn.core.messages import Block, Message, Text, ToolResult, decode_block, is_media, text_block

MEDIA_REFUSED = "[An image or document stood here; the API refused it, so it was taken out.]"
"""Of a notice that says no more: those of earlier versions name whole messages."""
_PARTS = msgspec.json.Decoder(list[msgspec.Raw])


class MediaPiece(NamedTuple):
    """One image or document of a message. Its place stays the same, whatever of the message is cleared later."""

    message: Message
    block: int
    part: int
    """Inside a tool's result; 0 for a block that is the piece itself."""
    raw: bytes

    @property
    def name(self) -> str:
        """As `Message.blames` holds it."""
        return f"{self.message.id}#{self.block}.{self.part}"


def list_pieces(message: Message) -> Iterator[MediaPiece]:
    for at, block in enumerate(message.blocks):
        if block.media:
            yield from (MediaPiece(message, at, part, raw) for part, raw in _list_media(block))


def find_refused(messages: Iterable[Message]) -> dict[str, str]:
    """By name, each with the text that is sent in its place. The id of a message stands for all its media."""
    refused: dict[str, str] = {}
    for message in messages:
        if message.blames:
            said = [block.view.text for block in message.blocks if isinstance(block.view, Text)]
            each = said if len(said) == len(message.blames) else [MEDIA_REFUSED] * len(message.blames)
            refused |= {
                name: text if "#" in name else MEDIA_REFUSED for name, text in zip(message.blames, each, strict=True)
            }
    return refused


def name_messages(blames: Iterable[str]) -> frozenset[str]:
    """Ids of the messages that are concerned."""
    return frozenset(name.rpartition("#")[0] or name for name in blames)


def is_refused(piece: MediaPiece, refused: Collection[str]) -> bool:
    return piece.name in refused or piece.message.id in refused


def count_refused(message: Message, refused: Collection[str], block: int | None = None) -> int:
    """Pieces of the message, or of one of its blocks."""
    if not refused:
        return 0
    blocks = message.blocks if block is None else message.blocks[block : block + 1]
    if message.id in refused:
        return sum(each.media for each in blocks)
    if not any(each.media for each in blocks):
        return 0
    return sum(is_refused(piece, refused) for piece in list_pieces(message) if block in {None, piece.block})


def without_refused(message: Message, refused: Mapping[str, str]) -> Iterator[Block]:
    """Its blocks, with text in place of what is no longer sent."""
    for at, block in enumerate(message.blocks):
        notes = {}
        if refused and block.media:
            pieces = (MediaPiece(message, at, part, raw) for part, raw in _list_media(block))
            notes = {
                piece.part: refused.get(piece.name, MEDIA_REFUSED) for piece in pieces if is_refused(piece, refused)
            }
        yield replace_media(block, notes) if notes else block


def drop_first(block: Block, count: int, note: str) -> Block:
    """With a note in place of the first pieces."""
    return replace_media(block, {part: note for part, _ in _list_media(block)[:count]}) if count else block


def replace_media(block: Block, notes: Mapping[int, str]) -> Block:
    """With text in place of the parts that `notes` names."""
    if not isinstance(block.view, ToolResult):
        return text_block(next(iter(notes.values())))
    fields = msgspec.json.decode(block.raw, type=dict[str, msgspec.Raw])
    parts = [
        msgspec.Raw(text_block(notes[at]).raw) if at in notes else part
        for at, part in enumerate(_PARTS.decode(block.view.content))
    ]
    fields["content"] = msgspec.Raw(msgspec.json.encode(parts))
    return decode_block(msgspec.json.encode(fields))


def find_blamed(block: Block, part: int | None, messages: Iterable[Message]) -> tuple[str, ...]:
    """Names of the pieces in a block as it was sent: that of one part, or all of them. None where text stands there already."""
    for message in messages:
        for at, each in enumerate(message.blocks):
            if each is block or (each.media and _answers_same(each, block)):
                still = {place for place, _ in _list_media(block)}
                pieces = [piece for piece in list_pieces(message) if piece.block == at and piece.part in still]
                return tuple(piece.name for piece in pieces if part in {None, piece.part})
    return ()


def _answers_same(one: Block, other: Block) -> bool:
    """A result from which some pieces were taken is another block with the same id."""
    if isinstance(one.view, ToolResult) and isinstance(other.view, ToolResult):
        return one.view.tool_use_id == other.view.tool_use_id
    return False


def _list_media(block: Block) -> list[tuple[int, bytes]]:
    if not isinstance(block.view, ToolResult):
        return [(0, block.raw)] if block.media else []
    if not block.media:
        return []
    parts = enumerate(map(bytes, _PARTS.decode(block.view.content)))
    return [(at, raw) for at, raw in parts if raw.startswith(b"{") and is_media(raw)]
