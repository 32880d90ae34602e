"""What happens on a connection, one step after the other: the last pure form of an answer, before `stage` acts it out."""

from collections.abc import Iterator
from typing import Literal

import msgspec

Framing = Literal["length", "chunked", "close"]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    status: int
    headers: dict[str, str]
    framing: Framing
    """`close`: the body ends with the connection, and nothing of ours is added."""


class Send(msgspec.Struct, frozen=True, kw_only=True):
    data: bytes


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    ms: float


class WaitFor(msgspec.Struct, frozen=True, kw_only=True):
    gate: str


class HangUp(msgspec.Struct, frozen=True, kw_only=True):
    """The last step where the connection does not end well; without one it ends as HTTP wants it."""

    how: Literal["eof", "rst", "stall"]


Step = Head | Send | Wait | WaitFor | HangUp
Steps = Iterator[Step]
