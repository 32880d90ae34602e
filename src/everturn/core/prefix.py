"""What of a request a cache may hold already: its segments, hashed as they grow, and where the next one departs from them.

A turn costs what is new in it: what was hashed stays hashed, and messages that are known to be the same are not compared.
"""

# By way of `hashlib` it would bring OpenSSL along, which takes longer to load than most of what a start needs.
from _blake2 import blake2b
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

import msgspec

from everturn.core.messages import Block
from everturn.core.transcript import Wire
from everturn.core.view import Joined

DIGEST_BYTES = 8
"""Enough to see a change; nobody is kept out by it."""
TRAIT_DIGITS = 4
"""Enough to say which setting it was."""
SETTINGS = ("model", "speed", "thinking", "effort", "output_schema", "task_budget")
"""An entry of the cache is found only by a request that has the same."""
IMAGES = "images"
"""The first image of a conversation, and the loss of its last, change how the API reads all messages."""
_IMAGE = b'"image"'


class Segment(StrEnum):
    """The parts of a request in the order in which the API caches them. A change in one also breaks everything after it."""

    SETTINGS = "settings"
    TOOLS = "tools"
    SYSTEM = "system"
    CONTEXT = "context"
    """The contexts before the first message, frozen for the session."""
    MESSAGES = "messages"
    NOTHING = "nothing"
    """All was sent as before, and yet the cache did not have it."""


_FIXED = (Segment.TOOLS, Segment.SYSTEM, Segment.CONTEXT)


class Sent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The fingerprint of a request: what a later process needs to see whether it goes on byte for byte."""

    at: int
    """Seconds since 1970 when it was sent: the cache counts from there."""
    settings: str
    tools: str
    system: str
    context: str
    messages: str
    """Fingerprint of all blocks after the context, up to the last one sent."""
    wires: int
    blocks: int
    """Number of blocks in the last message, which may still grow."""
    traits: str = ""
    """What `settings` is made of, each by itself and short, then whether there was an image. Older sessions do not tell."""


class Outgoing(Protocol):
    """A request, as far as the cache sees it."""

    @property
    def messages(self) -> Sequence[Wire]: ...

    @property
    def tools(self) -> tuple[bytes, ...]: ...

    @property
    def system(self) -> tuple[str, ...]: ...

    @property
    def opening(self) -> int:
        """Blocks of the first message that are the context."""
        ...


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """Where a request is not what the one before it was."""

    segment: Segment
    kept: int = 0
    """Messages before the first that differs."""
    named: tuple[str, ...] = ()
    """Settings that changed: they say why by themselves."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it was looked at. Nothing of it counts before it is kept."""

    outgoing: Outgoing
    settings: tuple[object, ...]
    pictured: bool
    running: blake2b
    sent: Sent
    departure: Departure | None = None


class Prefixes:
    """Looks at each request of a conversation against the last one that was kept."""

    def __init__(self) -> None:
        self._last: Look | None = None
        self._earlier: Sent | None = None

    def restore(self, sent: Sent | None) -> None:
        """What a process before this one sent last."""
        self._last, self._earlier = None, sent

    @property
    def last(self) -> Sent | None:
        return self._earlier if self._last is None else self._last.sent

    def keep(self, look: Look) -> None:
        self._last = look

    def look(self, outgoing: Outgoing, settings: tuple[object, ...], at: float) -> Look:
        """`settings` are the values of `SETTINGS`, in their order."""
        last = self._last
        if last is None:
            look = _look_afresh(outgoing, settings, at)
            departure = None if self._earlier is None else find_departure(self._earlier, look.sent, outgoing)
        elif (kept := count_kept(last.outgoing, outgoing)) is None:
            look = _look_on(last, outgoing, settings, at)
            departure = _find(last, look, None)
        else:
            look = _look_afresh(outgoing, settings, at)
            departure = _find(last, look, kept)
        return look if departure is None else msgspec.structs.replace(look, departure=departure)


def _look_on(last: Look, outgoing: Outgoing, settings: tuple[object, ...], at: float) -> Look:
    """Looks at a request that continues the last one: only what is new is read."""
    before, sent, running = last.outgoing, last.sent, last.running.copy()
    first = max(0, sent.wires - 1)
    tail = outgoing.messages[first:]
    pictured = _feed(running, tail, sent.blocks) or last.pictured
    return Look(
        outgoing=outgoing,
        settings=settings,
        pictured=pictured,
        running=running,
        sent=Sent(
            int(at),
            sent.settings if settings == last.settings else _digest((repr(settings),)),
            sent.tools if outgoing.tools == before.tools else _digest(outgoing.tools),
            sent.system if outgoing.system == before.system else _digest(outgoing.system),
            # It stands in the first message, which is as it was.
            sent.context,
            running.hexdigest(),
            first + len(tail),
            len(tail[-1].blocks) if tail else 0,
            sent.traits
            if (settings, pictured) == (last.settings, last.pictured)
            else _find_traits((*settings, pictured)),
        ),
    )


def _look_afresh(outgoing: Outgoing, settings: tuple[object, ...], at: float) -> Look:
    running, wires = blake2b(digest_size=DIGEST_BYTES), outgoing.messages
    pictured = _feed(running, wires, outgoing.opening)
    sent = Sent(
        int(at),
        _digest((repr(settings),)),
        _digest(outgoing.tools),
        _digest(outgoing.system),
        _digest(tuple(block.raw for block in context_of(outgoing))) if outgoing.opening else "",
        running.hexdigest(),
        len(wires),
        len(wires[-1].blocks) if wires else 0,
        _find_traits((*settings, pictured)),
    )
    return Look(outgoing=outgoing, settings=settings, pictured=pictured, running=running, sent=sent)


def count_kept(before: Outgoing, after: Outgoing) -> int | None:
    """Messages that stand as they were before the first that does not; None where all of the earlier request stands."""
    old, new = before.messages, after.messages
    known = 0
    if isinstance(old, Joined) and isinstance(new, Joined) and old.shared is new.shared:
        known = min(old.size, new.size)
    elif old and old[:-1] == new[: len(old) - 1]:
        # Compared in one go: almost always these are the very same objects.
        known = len(old) - 1
    for at in range(known, len(old)):
        if at >= len(new):
            return at
        was, now = old[at], new[at]
        if was is now or was == now:
            continue
        grew = at == len(old) - 1 and now.role == was.role
        return None if grew and now.blocks[: len(was.blocks)] == was.blocks else at
    return None


def find_departure(earlier: Sent, sent: Sent, outgoing: Outgoing) -> Departure | None:
    """Finds the first difference by fingerprints alone, where another process sent the earlier request."""
    kept: int | None = 0
    if earlier.wires <= sent.wires:
        running, wires = blake2b(digest_size=DIGEST_BYTES), outgoing.messages[: earlier.wires]
        *whole, last = wires or (Wire("user", ()),)
        _feed(running, (*whole, Wire(last.role, last.blocks[: earlier.blocks])), outgoing.opening)
        kept = None if running.hexdigest() == earlier.messages else 0
    departure = _compare(earlier, sent, kept)
    named = name_traits(earlier.traits, sent.traits)
    if departure is None or departure.segment is Segment.MESSAGES:
        return Departure(segment=Segment.SETTINGS, named=named) if named else departure
    others = (
        each for each in _FIXED if each is not departure.segment and getattr(earlier, each) != getattr(sent, each)
    )
    return msgspec.structs.replace(departure, named=(*named, *others))


def name_traits(before: str, after: str) -> tuple[str, ...]:
    """What differs, where both are told."""
    if not before or not after:
        return ()
    parts = (
        [traits[at : at + TRAIT_DIGITS] for at in range(0, len(traits), TRAIT_DIGITS)] for traits in (before, after)
    )
    return tuple(name for name, old, new in zip((*SETTINGS, IMAGES), *parts, strict=False) if old != new)


def name_changes(before: Look, after: Look) -> tuple[str, ...]:
    pairs = zip(SETTINGS, before.settings, after.settings, strict=True)
    changed = tuple(name for name, old, new in pairs if old != new)
    return changed if before.pictured == after.pictured else (*changed, IMAGES)


def context_of(outgoing: Outgoing) -> tuple[Block, ...]:
    return outgoing.messages[0].blocks[: outgoing.opening] if outgoing.messages else ()


def _find(before: Look, after: Look, kept: int | None) -> Departure | None:
    """`kept` is None where the messages go on as they were."""
    if before.settings != after.settings or before.pictured != after.pictured:
        return Departure(segment=Segment.SETTINGS, named=name_changes(before, after))
    return _compare(before.sent, after.sent, kept)


def _compare(before: Sent, after: Sent, kept: int | None) -> Departure | None:
    if before.settings != after.settings:
        return Departure(segment=Segment.SETTINGS)
    for segment in _FIXED:
        if getattr(before, segment) != getattr(after, segment):
            return Departure(segment=segment)
    return None if kept is None else Departure(segment=Segment.MESSAGES, kept=kept)


def _feed(running: blake2b, wires: Sequence[Wire], block: int) -> bool:
    """From this block of the first message on; says whether there was an image."""
    pictured = False
    for wire in wires:
        if not block:
            running.update(wire.role.encode())
        for each in wire.blocks[block:]:
            running.update(each.raw)
            pictured = pictured or (each.media > 0 and _IMAGE in each.raw)
        block = 0
    return pictured


def _find_traits(values: tuple[object, ...]) -> str:
    """Fingerprint of the settings, and of whether there is an image."""
    return "".join([_digest((repr(value),))[:TRAIT_DIGITS] for value in values])


@lru_cache(maxsize=512)
def _digest(parts: tuple[bytes | str, ...]) -> str:
    running = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        running.update(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass"))
        running.update(b"\0")
    return running.hexdigest()
