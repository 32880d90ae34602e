"""Repairs after each command: protected places, and repositories that would run something."""

import threading
from collections.abc import Iterable
from contextlib import closing

from everturn.ports import unsettled
from everturn.sandbox.aside import Aside
from everturn.sandbox.kept import Keeper, PutBack
from everturn.sandbox.places import Places
from everturn.sandbox.replaced import Replaced
from everturn.sandbox.repositories import Repositories

MAX_AT_ONCE = 600
"""Folders that are looked at while somebody waits for the command: two milliseconds."""


class Aftermath:
    """One per session, for its sandbox and its held edits. Commands may overlap: what one has left is told by what was there before the first that still runs."""

    def __init__(self) -> None:
        self._keeper = Keeper()
        self._replaced = Replaced()
        self._repositories = Repositories()
        self._roots: dict[str, None] = {}
        self._running = 0
        self._kept: frozenset[str] = frozenset()
        self._covered: frozenset[str] = frozenset()
        self._looking: threading.Thread | None = None
        self._found_late = PutBack()
        self._is_sure = True
        self._is_gap_told = False
        self._written: list[str] = []
        """Folders that the running commands may write, once for each of these."""
        self._is_left = False
        """Something is left that may still change what is protected, or has."""

    @property
    def is_sure(self) -> bool:
        """Until now nothing was left behind that must not be, nothing could be overlooked, and all could be put back."""
        self._wait()
        return self._is_sure and self._repositories.is_whole and not self._keeper.unheld

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
        roots = self._roots | dict.fromkeys(new)
        if new or not self._running:
            self._repositories.begin(roots, self._covered, is_known=not new)
        self._roots = roots
        self._keeper.begin(kept, places.writable)
        self._replaced.begin(self._covered - self._kept, is_first=not self._running)
        self._running += 1
        written = [root for root in places.writable if root != temporary]
        self._written += written
        unsettled.begin(written)

    def end(self, *, is_over: bool = True, may_linger: bool = False) -> PutBack:
        """When nothing of the command runs any more, as far as we know. In a large workspace repositories are told with the next command.

        `may_linger`: nothing here could find out. It never raises: what could not be done is told.
        """
        self._wait()
        self._running -= 1
        late, self._found_late = self._found_late, PutBack()
        with closing(Aside()) as aside:
            done = self._put_back(aside)
            if self._repositories.size <= MAX_AT_ONCE or not self._start_looking():
                found = self._disarm(aside)
            else:
                found = PutBack()
            where = ", ".join(filter(None, (late.aside, aside.place)))
        done = PutBack(
            changed=done.changed,
            lost=done.lost,
            aside=where,
            disarmed=(*late.disarmed, *found.disarmed),
            armed=(*late.armed, *found.armed),
            is_whole=self._is_gap_told or (late.is_whole and found.is_whole),
            is_over=is_over,
        )
        # Once: it is so from now on.
        self._is_gap_told = self._is_gap_told or not done.is_whole
        self._is_sure = self._is_sure and done.is_sure
        self._is_left = self._is_left or may_linger or not is_over or bool(done.lost)
        if not self._running and not self._is_left:
            # Not before the last has ended: which folders were whose is not asked.
            unsettled.end(self._written)
            self._written = []
        return done

    def close(self) -> None:
        self._wait()
        self._keeper.close()
        self._repositories.let_go()

    def _put_back(self, aside: Aside) -> PutBack:
        try:
            done = self._keeper.end(aside)
            changed, lost = self._replaced.end(aside)
            return PutBack((*done.changed, *changed), (*done.lost, *lost), aside.place)
        except Exception:  # noqa: BLE001 - whatever it is, the person is told, and the session goes on
            return PutBack(changed=tuple(sorted(self._kept)), lost=tuple(sorted(self._kept)))

    def _disarm(self, aside: Aside) -> PutBack:
        try:
            return self._repositories.end(self._covered, aside)
        except Exception:  # noqa: BLE001 - as above
            return PutBack(is_whole=False)
        finally:
            if not self._running:
                self._repositories.let_go()

    def _start_looking(self) -> bool:
        looking = threading.Thread(target=self._look_later, name="everturn-aftermath", daemon=True)
        try:
            looking.start()
        except RuntimeError:
            # The system has no thread for us.
            return False
        self._looking = looking
        return True

    def _look_later(self) -> None:
        with closing(Aside()) as aside:
            self._found_late = self._disarm(aside)

    def _wait(self) -> None:
        if self._looking is not None:
            self._looking.join()
            self._looking = None


def _list_covered(places: Places) -> frozenset[str]:
    return frozenset((*places.protected, *places.missing, *places.links, *places.traps))
