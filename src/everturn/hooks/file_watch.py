"""Files that hooks wait for: each is looked at when the engine asks whether something changed."""

import os
from collections.abc import Iterable, Iterator

Look = tuple[int, int, int] | None


class FileWatch:
    """What is there when a path is named is known."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._seen: dict[str, Look] = {path: _glance(path) for path in paths}
        self._lasting = frozenset(self._seen)

    def put(self, paths: Iterable[str]) -> None:
        """In place of those that were put here before."""
        named = {*self._lasting, *paths}
        self._seen = {path: self._seen[path] if path in self._seen else _glance(path) for path in named}

    def take_changes(self) -> Iterator[tuple[str, str]]:
        """Each path that is no longer what it was, with `change`, `add` or `unlink`."""
        for path, before in tuple(self._seen.items()):
            now = _glance(path)
            if now != before and path in self._seen:
                self._seen[path] = now
                yield path, "add" if before is None else "unlink" if now is None else "change"


def _glance(path: str) -> Look:
    try:
        status = os.stat(path)  # noqa: PTH116 (after every tool round)
    except (OSError, ValueError):
        # There is none with half a character in its name.
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
