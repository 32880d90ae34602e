"""The messages that are sent: a sequence that grows at its end and is neither copied nor searched again from turn to turn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Generic, TypeVar, overload

from everturn.core.messages import Kind, Message
from everturn.core.refused_media import find_refused

T = TypeVar("T")


class Joined(Sequence[T], Generic[T]):
    """The first items of a list that only grows, and some more. Nobody who holds it sees it change."""

    __slots__ = ("shared", "size", "tail")

    def __init__(self, shared: list[T], size: int, tail: tuple[T, ...] = ()) -> None:
        self.shared = shared
        self.size = size
        self.tail = tail

    def __len__(self) -> int:
        return self.size + len(self.tail)

    def __iter__(self) -> Iterator[T]:
        return chain(islice(self.shared, self.size), self.tail)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return self._slice(index)
        size, tail = self.size, self.tail
        if 0 <= index < size:
            return self.shared[index]
        place = index + size + len(tail) if index < 0 else index
        if place < 0:
            raise IndexError(index)
        return self.shared[place] if place < size else tail[place - size]

    def _slice(self, part: slice) -> tuple[T, ...]:
        size, tail = self.size, self.tail
        start, stop, step = part.indices(size + len(tail))
        if step != 1:
            return tuple(self)[part]
        if not tail:
            return tuple(self.shared[start:stop])
        if start >= size:
            return tail[start - size : max(start, stop) - size]
        return (*self.shared[start : min(stop, size)], *tail[: max(0, stop - size)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_same, self, other))

    __hash__ = None  # type: ignore[assignment]  # compared by what is in it, like a list


class View(Joined[Message]):
    """The messages that are sent. What a search would find in them is known from the way they were added."""

    __slots__ = ("has_boundary", "refused")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        shared = list(messages)
        super().__init__(shared, len(shared))
        self.has_boundary = any(message.kind is Kind.BOUNDARY for message in shared)
        self.refused: Mapping[str, str] = find_refused(shared)
        """Images and documents that are no longer sent, each with the text in its place."""

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "View":
        return messages if isinstance(messages, View) else cls(messages)

    def plus(self, message: Message) -> "View":
        """Shares what is here, unless somebody else added to it first."""
        grown = View.__new__(View)
        grown.shared = self.shared if len(self.shared) == self.size else self.shared[: self.size]
        grown.shared.append(message)
        grown.size, grown.tail = self.size + 1, ()
        grown.has_boundary = self.has_boundary or message.kind is Kind.BOUNDARY
        grown.refused = {**self.refused, **find_refused((message,))} if message.blames else self.refused
        return grown

    def grew_from(self, earlier: "View") -> bool:
        """It begins with all of the earlier one. False may also mean that it is not known."""
        return self.shared is earlier.shared and self.size >= earlier.size


def _same(one: object, other: object) -> bool:
    return one is other or one == other
