"""From the transcript to what is sent: the boundary, the four normalisation steps, and the invariants they keep."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from everturn.core.marks import tool_error
from everturn.core.messages import (
    UNSENT,
    Block,
    Kind,
    Message,
    RedactedThinking,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    result_block,
    text_block,
)
from everturn.core.refused_media import drop_first, find_refused, without_refused

UNANSWERED = tool_error("The call has no result: it was interrupted before it finished.")
MEDIA_DROPPED = "[An older image or document stood here; the model takes no more of them at once.]"
CONTINUED = "[The conversation goes on from here.]"
_THOUGHTS = frozenset({Thinking, RedactedThinking})
_OF_MODELS = _THOUGHTS | {ToolUse}
"""What only a model says."""


class Wire(msgspec.Struct, frozen=True, gc=False):
    """One message as the API sees it."""

    role: Role
    blocks: tuple[Block, ...]

    @property
    def encoded(self) -> bytes:
        """Its JSON as it stands in a request, with the comma before it."""
        return encode_wire(self.role, [block.raw for block in self.blocks])

    @property
    def media(self) -> int:
        return sum([block.media for block in self.blocks])


class Abilities(msgspec.Struct, frozen=True, kw_only=True):
    """What the chosen model takes back."""

    model: str = ""
    thinking: bool = True
    max_media: int = 100


def encode_wire(role: Role, blocks: Iterable[bytes]) -> bytes:
    return b',{"role":"%b","content":[%b]}' % (role.encode(), b",".join(blocks))


def view_of(transcript: Sequence[Message]) -> tuple[Message, ...]:
    """Only what follows the last boundary, led by its summary and what it keeps.

    A boundary without its summary was written right before a crash: what came before it is still sent.
    """
    kinds = [message.kind for message in transcript]
    if Kind.BOUNDARY not in kinds:
        return tuple(transcript)
    for index in range(len(kinds) - 2, -1, -1):
        if kinds[index] is Kind.BOUNDARY and kinds[index + 1] is Kind.SUMMARY:
            kept = set(transcript[index].keeps)
            summary, rest = transcript[index + 1 : index + 2], transcript[index + 2 :]
            return (*summary, *(message for message in transcript[:index] if message.id in kept), *rest)
    return tuple(transcript)


def normalise(messages: Sequence[Message], abilities: Abilities) -> tuple[Wire, ...]:
    """Every request goes through here; what comes out is valid whatever went in."""
    wires: list[Wire] = []
    join_segments(wires, messages, abilities, find_refused(messages))
    return tuple(complete_wires(wires, excess=count_media(wires) - abilities.max_media))


def join_segments(
    wires: list[Wire], messages: Sequence[Message], abilities: Abilities, refused: Mapping[str, str]
) -> None:
    """Adds what these messages send. Neighbours of one role become one: what stood between them had nothing to send."""
    for segment in segments(messages):
        for wire in normalise_segment(segment, abilities, refused):
            if wires and wires[-1].role == wire.role:
                wires[-1] = Wire(wire.role, wires[-1].blocks + wire.blocks)
            else:
                wires.append(wire)


def complete_wires(wires: Sequence[Wire], *, excess: int) -> Sequence[Wire]:
    """The fourth step: what only the whole request shows. `excess` pieces of media are more than the model takes."""
    if not wires or wires[0].role == "assistant":
        wires = (Wire("user", (text_block(CONTINUED),)), *wires)
    return wires if excess <= 0 else drop_media(wires, excess)


def segments(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """A run of assistant messages with the user messages after it. No step looks beyond its segment."""
    for start, end in pairwise((*segment_starts(messages), len(messages))):
        yield [message for message in messages[start:end] if message.kind not in UNSENT]


def segment_starts(messages: Iterable[Message]) -> Iterator[int]:
    before = None
    for index, message in enumerate(messages):
        if message.kind in UNSENT:
            continue
        if before is None or (before == "user" and message.role == "assistant"):
            yield index
        before = message.role


def normalise_segment(segment: list[Message], abilities: Abilities, refused: Mapping[str, str]) -> Iterator[Wire]:
    """Steps one to three; the fourth needs the whole request."""
    answers = [message for message in segment if message.role == "assistant"]
    users = lift_attachments([message for message in segment if message.role == "user"])
    said = [block for message in answers for block in sendable(message, abilities)]
    while said and type(said[-1].view) in _THOUGHTS:
        # The API refuses an answer that ends in a thought: this one was cut before it said anything.
        said.pop()
    asked = [block for message in users for block in without_refused(message, refused) if is_askable(block)]
    uses = [block.view.id for block in said if type(block.view) is ToolUse]
    replies = pair_results(uses, asked)
    if said:
        yield Wire("assistant", tuple(said))
    if replies:
        yield Wire("user", tuple(replies))


def lift_attachments(users: list[Message]) -> list[Message]:
    """Attachments move up past plain user text, but not past a tool result, nor past an earlier prompt that got no answer.

    That one was sent already: what comes before it must stay as it was.
    """
    lifted: list[Message] = []
    passed: list[Message] = []
    for message in users:
        match message.kind:
            case Kind.ATTACHMENT:
                lifted.append(message)
            case Kind.RESULTS:
                lifted += [*passed, message]
                passed = []
            case Kind.PROMPT:
                lifted += passed
                passed = [message]
            case _:
                passed.append(message)
    return lifted + passed


def sendable(message: Message, abilities: Abilities) -> Iterator[Block]:
    """Without blank text, results, and thinking that this model did not sign."""
    signed_here = abilities.thinking and message.answer is not None and message.answer.asked == abilities.model
    for block in message.blocks:
        match block.view:
            case Thinking(signature=signature) if not (signed_here and signature):
                continue
            case RedactedThinking() if not signed_here:
                continue
            case ToolResult():
                continue
            case _ if is_blank(block):
                continue
        yield block


def is_askable(block: Block) -> bool:
    """Neither blank nor something that only a model says."""
    return not is_blank(block) and type(block.view) not in _OF_MODELS


def pair_results(uses: list[str], blocks: list[Block]) -> list[Block]:
    """Exactly one result per use, first and in the order of the uses; results that answer nothing are left out."""
    asked = set(uses)
    answers: dict[str, Block] = {}
    others: list[Block] = []
    for block in blocks:
        if type(block.view) is not ToolResult:
            others.append(block)
        elif block.view.tool_use_id in asked:
            answers.setdefault(block.view.tool_use_id, block)
    paired = [answers[use] if use in answers else result_block(use, UNANSWERED, is_error=True) for use in uses]
    return paired + others


def count_media(wires: Iterable[Wire]) -> int:
    return sum([wire.media for wire in wires])


def drop_media(wires: Sequence[Wire], excess: int) -> tuple[Wire, ...]:
    """So many pieces, oldest first."""
    limited: list[Wire] = []
    for wire in wires:
        if not wire.media or not excess:
            limited.append(wire)
            continue
        blocks: list[Block] = []
        for block in wire.blocks:
            drop = min(excess, block.media)
            blocks.append(drop_first(block, drop, MEDIA_DROPPED))
            excess -= drop
        limited.append(Wire(wire.role, tuple(blocks)))
    return tuple(limited)


def is_blank(block: Block) -> bool:
    return type(block.view) is Text and not block.view.text.strip()


def ends_in_text(message: Message) -> bool:
    """Whether the last block that is sent of it is text: neither blank text nor a thought at the end is sent."""
    kinds = [type(block.view) for block in message.blocks if not is_blank(block)]
    said = [kind for kind in kinds if kind not in _THOUGHTS]
    return bool(said) and said[-1] is Text


def unanswered(messages: Sequence[Message]) -> list[ToolUse]:
    """Uses without a result, in order."""
    answered = {result.tool_use_id for message in messages for result in message.results}
    return [use for message in messages for use in message.uses if use.id not in answered]
