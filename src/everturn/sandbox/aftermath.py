"""What a session's commands leave behind, put in order after each: protected places, and repositories that would run something."""

import threading
from collections.abc import Iterable

import msgspec

from everturn.sandbox.aside import Aside
from everturn.sandbox.kept import Keeper, PutBack
from everturn.sandbox.places import Places
from everturn.sandbox.repositories import Repositories

MOST_AT_ONCE = 600
"""Folders that are looked at while somebody waits for the command: two milliseconds."""


class Aftermath:
    """One per session. Commands may overlap: what one has left is told by what was there before the first that still runs."""

    def __init__(self) -> None:
        self._keeper = Keeper()
        self._repositories = Repositories()
        self._roots: dict[str, None] = {}
        self._running = 0
        self._kept: frozenset[str] = frozenset()
        self._covered: frozenset[str] = frozenset()
        self._looking: threading.Thread | None = None
        self._found_late = PutBack()

    @property
    def unheld(self) -> tuple[str, ...]:
        """Protected places that could not be put back, as they were before the last command."""
        return tuple(self._keeper.unheld)

    def begin(self, kept: Iterable[str], places: Places, temporary: str) -> None:
        """`kept`: what is put back if it changes."""
        self._wait()
        kept, covered = frozenset(kept), _list_covered(places)
        if self._running:
            # What has appeared since the first of those that run is theirs: it is neither kept nor taken for protected.
            old = tuple(f"{root.rstrip('/')}/" for root in self._roots)
            kept = frozenset(path for path in kept if path in self._kept or not path.startswith(old))
            covered = self._covered | {path for path in covered if not path.startswith(old)}
        self._kept, self._covered = self._kept | kept if self._running else kept, covered
        new = [root for root in places.writable if root not in self._roots and root != temporary]
        self._roots.update(dict.fromkeys(new))
        if new or not self._running:
            self._repositories.begin(self._roots, self._covered, is_known=not new)
        self._keeper.begin(kept, places.writable)
        self._running += 1

    def end(self) -> PutBack:
        """When nothing of the command runs any more. In a large workspace repositories are told with the next command."""
        self._wait()
        aside = Aside()
        done = self._keeper.end(aside)
        self._running -= 1
        late, self._found_late = self._found_late, PutBack()
        if self._repositories.size <= MOST_AT_ONCE:
            disarmed = self._disarm(aside).disarmed
        else:
            disarmed = ()
            self._looking = threading.Thread(target=self._look_later, name="everturn-aftermath", daemon=True)
            self._looking.start()
        aside.close()
        return msgspec.structs.replace(
            done, disarmed=(*late.disarmed, *disarmed), aside=", ".join(filter(None, (late.aside, aside.place)))
        )

    def close(self) -> None:
        self._wait()
        self._keeper.close()

    def _disarm(self, aside: Aside) -> PutBack:
        disarmed = self._repositories.end(self._roots, self._covered, aside)
        return PutBack(disarmed=disarmed, aside=aside.place)

    def _look_later(self) -> None:
        aside = Aside()
        self._found_late = self._disarm(aside)
        aside.close()

    def _wait(self) -> None:
        if self._looking is not None:
            self._looking.join()
            self._looking = None


def _list_covered(places: Places) -> frozenset[str]:
    return frozenset((*places.protected, *places.missing, *places.links, *places.traps))
