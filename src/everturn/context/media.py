"""Taking media out of what is sent: a notice names the pieces and holds the text in their place; the messages stay as they are."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from everturn.context.accounting import estimate_messages
from everturn.core.marks import harmless, in_brackets, one_line
from everturn.core.messages import UNSENT, Kind, Message, ToolResult, ToolUse, text_block
from everturn.core.patterns import compile_late
from everturn.core.refused_media import MediaPiece, find_refused, is_refused, list_pieces
from everturn.ports.clock import Ids
from everturn.ports.context import Change, Prepared

NOTHING_LEFT = "There is no image or document left to take out."
REFUSED = "is no longer sent: {said}"
NEWEST = "is no longer sent. It is the newest one, and the API refused one of them without naming it: {said}"
ALL = "is no longer sent: the API went on refusing after others were taken out. {said}"
NO_ROOM = "is no longer sent: the conversation did not fit into the context window."
UNTOLD = "the API refused it."
MAX_SAID = 300
_PLACE = compile_late(r"messages\.[\w.]+: ")
_PATHS = ("file_path", "notebook_path", "path", "url")
_KILO = 1_000
_KINDS = {"image": compile_late(r"(?i)\bimages?\b"), "document": compile_late(r"(?i)\b(?:pdf|document)s?\b")}
"""Words for each kind in what the API says."""


def plan_without_media(
    view: Sequence[Message], ids: Ids, cause: str, *, blamed: Collection[str] = (), every: bool = True, said: str = ""
) -> Prepared:
    """Takes out the pieces that are `blamed`; where none of them is sent any more, the newest; with `every`, all.

    The newest of one kind, where the refusal names a kind. `said`: what the API said about it. Empty where nobody refused them and only room is needed.
    """
    refused = find_refused(view)
    sent = [
        piece
        for message in view
        if message.kind not in UNSENT
        for piece in list_pieces(message)
        if not is_refused(piece, refused)
    ]
    named = [piece for piece in sent if piece.name in blamed]
    chosen = sent if every else named or _keep_kind(sent, said)[-1:]
    before = estimate_messages(view)
    if not chosen:
        return Prepared(messages=view, tokens=before, problem=NOTHING_LEFT)
    uses = {use.id: use for message in view for use in message.uses}
    reasons = {piece.name: _explain(every=every, is_named=piece in named, said=said) for piece in chosen}
    notice = Message(
        id=ids.new(),
        role="user",
        kind=Kind.NOTICE,
        blocks=tuple(text_block(render_place(piece, uses, reasons[piece.name])) for piece in chosen),
        blames=tuple(piece.name for piece in chosen),
    )
    after = estimate_messages((*view, notice))
    return Prepared(
        messages=(*view, notice),
        added=(notice,),
        changes=(Change(stage="media", cause=cause, tokens_before=before, tokens_after=after),),
        tokens=after,
        compacted=True,
    )


def _keep_kind(pieces: list[MediaPiece], said: str) -> list[MediaPiece]:
    """Those of the one kind that a refusal speaks of; all where it speaks of both, of none, or of one that is not sent."""
    kinds = [kind for kind, words in _KINDS.items() if words.search(said)]
    return [piece for piece in pieces if [describe_piece(piece.raw)[0]] == kinds] or pieces


def render_place(piece: MediaPiece, uses: Mapping[str, ToolUse], reason: str) -> str:
    """What is sent in place of a piece: what it was, where it came from, how large it was, and why it is gone."""
    kind, size = describe_piece(piece.raw)
    path = find_path(piece, uses)
    named = f"{kind.capitalize()} {one_line(path)}" if path else kind.capitalize()
    return harmless(f"[{in_brackets(f'{named} ({size}) {reason}')}]")


def describe_piece(raw: bytes) -> tuple[str, str]:
    """The kind, and the media type with the size."""
    block: dict[str, Any] = msgspec.json.decode(raw)
    source = block.get("source")
    fields = source if isinstance(source, dict) else {}
    data = fields.get("data")
    parts = [str(fields.get("media_type") or ""), str(fields.get("url") or fields.get("file_id") or "")[:200]]
    if isinstance(data, str):
        parts.append(render_size(count_base64(data) if fields.get("type") == "base64" else len(data.encode())))
    return str(block["type"]), ", ".join(filter(None, parts)) or "of unknown size"


def find_path(piece: MediaPiece, uses: Mapping[str, ToolUse]) -> str:
    """The file or address that the call read; empty for what the user or a command brought."""
    view = piece.message.blocks[piece.block].view
    use = uses.get(view.tool_use_id) if isinstance(view, ToolResult) else None
    try:
        input_ = msgspec.json.decode(use.input) if use else None
    except msgspec.DecodeError:
        return ""
    given = input_ if isinstance(input_, dict) else {}
    return next((path for name in _PATHS if isinstance(path := given.get(name), str) and path), "")


def count_base64(data: str) -> int:
    return len(data) * 3 // 4 - data[-2:].count("=")


def render_size(size: int) -> str:
    if size < _KILO:
        return f"{size} bytes"
    return f"{size / _KILO:.0f} kB" if size < _KILO**2 else f"{size / _KILO**2:.1f} MB"


def _explain(*, every: bool, is_named: bool, said: str) -> str:
    if not said:
        return NO_ROOM
    words = " ".join(_PLACE.sub("", said).split())[:MAX_SAID] or UNTOLD
    template = ALL if every else REFUSED if is_named else NEWEST
    return template.format(said=words)
