"""Names of the working folder's files, for `@file`: listed beside everything else, and searched as they are typed.

Who lists them is given: a frontend opens no folders. Until the first listing has ended there is nothing to choose from, and afterwards
the names of the last one are there while the next one runs.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from everturn.frontends.harmless import make_harmless
from everturn.frontends.terminal.fuzzy import FuzzyIndex, FuzzyMatch

MAX_FILES = 200_000
PIECE = 500
"""Names that are looked at in one step of C: between two steps a key press is heard."""
PAUSE_S = 0.0005
_PARTS = "\n"

ListFiles = Callable[[Callable[[], bool]], Iterable[str]]
"""Relative paths with `/`. It is called in a thread, and ends early when what it is given says that nobody waits any more."""


class FileIndex:
    """Used by one thread; only the listing runs in another one."""

    def __init__(self, list_files: ListFiles, *, on_ready: Callable[[], None] | None = None) -> None:
        """`on_ready` is called by the other thread, at the end of each listing."""
        self._list_files = list_files
        self._on_ready = on_ready
        self._index = FuzzyIndex(())
        self._is_listing = self._is_closed = False
        self.is_ready = False
        """A listing has ended."""
        self.is_complete = True
        """False: there are more files than are known."""
        self.problem = ""
        """Why the last listing failed; the names of the one before it are still there."""

    def __len__(self) -> int:
        return len(self._index)

    def refresh(self) -> None:
        """Returns at once. While a listing runs, no second one is begun."""
        if self._is_listing or self._is_closed:
            return
        from threading import Thread

        self._is_listing = True
        # At the end of the program nobody waits for it.
        Thread(target=self._list, name="file names", daemon=True).start()

    def find(self, typed: str, most: int = 20) -> list[FuzzyMatch]:
        """Paths that fit what stands behind the `@`, harmless as they are."""
        return self._index.find(typed, most)

    def close(self) -> None:
        self._is_closed = True

    def _list(self) -> None:
        try:
            paths, self.is_complete = _choose(self._list_files(lambda: self._is_closed))
            self._index = FuzzyIndex(_give_way(paths))
            self.problem = ""
        except Exception as error:  # noqa: BLE001 - a menu without names is no reason to end a session
            self.problem = str(error) or type(error).__name__
        finally:
            self.is_ready, self._is_listing = True, False
        if self._on_ready is not None and not self._is_closed:
            self._on_ready()


def _choose(listed: Iterable[str]) -> tuple[list[str], bool]:
    """At most `MAX_FILES`, those near the top first, else in the order of the listing; and whether these are all.

    A name that a terminal would obey, or not show as it is, is left out: it could be written in no prompt.
    """
    by_depth: dict[int, list[str]] = {}
    count = 0
    listing = _give_way(listed)
    while piece := list(islice(listing, PIECE)):
        for path in _leave_out(piece):
            by_depth.setdefault(path.count("/"), []).append(path)
        count += len(piece)
        if count > MAX_FILES:
            break
    paths = [path for depth in sorted(by_depth) for path in by_depth[depth]]
    return paths[:MAX_FILES], count <= MAX_FILES


def _give_way(paths: Iterable[str]) -> Iterator[str]:
    """The same, with a pause now and then in which the other thread goes on."""
    left = iter(paths)
    while piece := list(islice(left, PIECE)):
        yield from piece
        time.sleep(PAUSE_S)


def _leave_out(paths: list[str]) -> list[str]:
    together = _PARTS.join(paths)
    if make_harmless(together) == together and "\t" not in together and together.count(_PARTS) < len(paths):
        return paths
    return [path for path in paths if make_harmless(path) == path and not {"\n", "\t"} & {*path}]
