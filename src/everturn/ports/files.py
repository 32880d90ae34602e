"""What the model has read: a bounded memory of file stamps, and the port that looks at a file again."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """Enough to tell whether a file is what it was."""

    size: int
    mtime_ns: int
    digest: str
    """SHA-256 of the content."""


class FileState(msgspec.Struct, frozen=True, kw_only=True):
    stamp: Stamp
    partial: bool = False
    """Only a part was shown to the model: not enough to overwrite it."""


class FileStates:
    """Least recently used paths leave first. Owned by the engine, shared by its tools."""

    def __init__(self, most: int = 1_000, states: Iterable[tuple[str, FileState]] = ()) -> None:
        self._most = most
        self._states: OrderedDict[str, FileState] = OrderedDict(states)

    def fork(self) -> "FileStates":
        """A copy for calls whose results may still be thrown away: the model would not know what they read."""
        return FileStates(self._most, self._states.items())

    def adopt(self, fork: "FileStates") -> None:
        """The results are kept: what was read counts."""
        self._states = OrderedDict(fork)

    def clear(self) -> None:
        self._states.clear()

    def remember(self, path: str, state: FileState) -> None:
        self._states[path] = state
        self._states.move_to_end(path)
        while len(self._states) > self._most:
            self._states.popitem(last=False)

    def get(self, path: str) -> FileState | None:
        return self._states.get(path)

    def forget(self, path: str) -> None:
        self._states.pop(path, None)

    def __iter__(self) -> Iterator[tuple[str, FileState]]:
        return iter(list(self._states.items()))

    def __len__(self) -> int:
        return len(self._states)


class Files(Protocol):
    """Never raises."""

    def changed(self, path: str, stamp: Stamp) -> bool:
        """The file differs from the stamp, or is gone. Reads it only when size or time differ."""
        ...
