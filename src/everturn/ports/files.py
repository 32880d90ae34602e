"""What the model has read: a bounded memory of file stamps, and the port that looks at a file again."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Protocol

import msgspec


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """Enough to tell whether a file is what it was."""

    size: int
    mtime_ns: int
    digest: str
    """SHA-256 of the content; empty for a file too large to be read whole, which size and time alone tell apart."""


class FileState(msgspec.Struct, frozen=True, kw_only=True):
    stamp: Stamp
    partial: bool = False
    """Only a part was shown to the model: not enough to overwrite it."""
    shown: bool = False
    """One result has shown it whole: to show it again would tell nothing new."""
    outdated: bool = False
    """The model has been told that the file is no longer what it read."""
    left: tuple[int, int] | None = None
    """Size and time of the file at the end of a command of the model, while which it changed."""

    def is_left_so(self, size: int, mtime_ns: int) -> bool:
        """Nobody has changed the file since that command ended."""
        return self.left == (size, mtime_ns)


class FileNews(msgspec.Struct, frozen=True, kw_only=True):
    """What has changed since it was asked for last."""

    seen: tuple[tuple[str, FileState], ...] = ()
    """Paths and states, in the order in which the files were seen."""
    forgotten: tuple[str, ...] = ()
    cleared: bool = False
    changed: tuple[tuple[str, str], ...] = ()


class FileStates:
    """Least recently used paths leave first. Owned by the engine, shared by its tools."""

    def __init__(self, most: int = 1_000, states: Iterable[tuple[str, FileState]] = ()) -> None:
        self._most = most
        self._states: OrderedDict[str, FileState] = OrderedDict(states)
        self._touched: dict[str, None] = {}
        self._cleared = False
        self.changed: dict[str, str] = {}
        """Files that changed without a call that names them: each with the id of the call or message that told of it first."""
        self._unkept: list[str] = []

    def fork(self) -> "FileStates":
        """A copy for calls whose results may still be thrown away: the model would not know what they read."""
        return FileStates(self._most, self._states.items())

    def restore(self, states: Iterable[tuple[str, FileState]], changed: Mapping[str, str] = {}) -> None:
        """Sets the states of a resumed session. They are in its journal already, so they are not recorded again."""
        self._states, self.changed = OrderedDict(states), dict(changed)
        while len(self._states) > self._most:
            self._states.popitem(last=False)

    def adopt(self, fork: "FileStates") -> None:
        """The results are kept: what was read counts."""
        self._states = OrderedDict(fork)
        for path in fork._touched:  # noqa: SLF001 (its twin)
            self._touch(path)
        for path, by in fork.changed.items():
            self.note_change(path, by)

    def note_change(self, path: str, by: str) -> None:
        """A command or somebody else changed the file. This is kept whatever happens to the conversation."""
        if path not in self.changed:
            self.changed[path] = by
            self._unkept.append(path)

    def note_left(self, path: str, size: int, mtime_ns: int) -> None:
        """The file changed while a command of the model ran, and was like this at its end."""
        if (state := self._states.get(path)) is not None:
            self._states[path] = msgspec.structs.replace(state, left=(size, mtime_ns))
            self._touch(path)

    def note_cut(self, path: str) -> None:
        """The model sees only a part of what a result should have shown of the file."""
        if (state := self._states.get(path)) is not None:
            self._states[path] = msgspec.structs.replace(state, partial=True, shown=False)
            self._touch(path)

    def note_outdated(self, path: str) -> None:
        """The model is told that the file has changed since it was read: once is enough."""
        if (state := self._states.get(path)) is not None:
            self._states[path] = msgspec.structs.replace(state, outdated=True, shown=False)
            self._touch(path)

    def clear(self) -> None:
        self._cleared = self._cleared or bool(self._states or self._touched)
        self._states.clear()
        self._touched.clear()

    def hide(self) -> None:
        """What was shown may be out of sight: it is shown again when it is asked for. What is known of it stays."""
        for path, state in self._states.items():
            if state.shown:
                self._states[path] = msgspec.structs.replace(state, shown=False)
                self._touch(path)

    @property
    def has_news(self) -> bool:
        return bool(self._touched) or self._cleared or bool(self._unkept)

    def take_news(self) -> FileNews:
        news = FileNews(
            seen=tuple((path, self._states[path]) for path in self._touched if path in self._states),
            forgotten=tuple(path for path in self._touched if path not in self._states),
            cleared=self._cleared,
            changed=tuple((path, self.changed[path]) for path in self._unkept),
        )
        self._touched, self._cleared, self._unkept = {}, False, []
        return news

    def remember(self, path: str, state: FileState) -> None:
        self._states[path] = state
        self._states.move_to_end(path)
        self._touch(path)
        while len(self._states) > self._most:
            evicted, _ = self._states.popitem(last=False)
            self._touch(evicted)

    def get(self, path: str) -> FileState | None:
        return self._states.get(path)

    def recent(self, most: int) -> tuple[str, ...]:
        """The paths that were touched last, the latest last."""
        return tuple(islice(reversed(self._states), most))[::-1]

    def forget(self, path: str) -> None:
        if self._states.pop(path, None) is not None:
            self._touch(path)

    def _touch(self, path: str) -> None:
        self._touched.pop(path, None)
        self._touched[path] = None

    def __iter__(self) -> Iterator[tuple[str, FileState]]:
        return iter(list(self._states.items()))

    def __len__(self) -> int:
        return len(self._states)


class LoadedText(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    stamp: Stamp


class Files(Protocol):
    """Never raises. A file that the model may not read at this moment is none that it has read: nothing of it is told."""

    def changed(self, path: str, stamp: Stamp) -> bool:
        """The file differs from the stamp, or is gone. Reads it only when size or time differ."""
        ...

    def is_gone(self, path: str) -> bool:
        """There is no file of that name."""
        ...

    def load(self, path: str, most: int) -> LoadedText | None:
        """A text file, whole. None where it is gone, no text, has more than `most` bytes, or may not be read now."""
        ...
