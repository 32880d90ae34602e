"""Notes that the person pinned: no compaction may lose them."""

from collections.abc import Callable

import msgspec

from everturn.core.errors import OptionError
from everturn.core.tokens import estimate_bytes
from everturn.engine.recorder import Recorder

WINDOW_SHARE = 4
"""All pinned notes together may take this fraction of the window: one part in so many."""


class Pins:
    def __init__(self, recorder: Recorder, window: Callable[[], int]) -> None:
        """`window` returns the window of the model in use, in tokens."""
        self._recorder = recorder
        self._window = window
        self._removed: list[str] = []

    @property
    def all(self) -> tuple[str, ...]:
        return self._recorder.notes.pins

    def add(self, text: str) -> None:
        """Pins the note. Raises `OptionError` for an empty one, or where the notes would take too much of the window."""
        if not text.strip():
            raise OptionError("pin", "it is empty")
        pins = (*self.all, text.strip())
        taken = sum(estimate_bytes(len(pin.encode(errors="replace"))) for pin in pins)
        if taken > self._window() // WINDOW_SHARE:
            raise OptionError("pin", "it is too long to be pinned; write it into a file, and pin the file's path")
        self._keep(pins)

    def remove(self, number: int) -> str:
        """Removes the note with this number, from 1, and returns it. Raises `OptionError`."""
        pins = self.all
        if not 1 <= number <= len(pins):
            raise OptionError("pin", f"there is no note {number} (there are {len(pins)})")
        self._keep((*pins[: number - 1], *pins[number:]))
        self._removed.append(pins[number - 1])
        return pins[number - 1]

    def take_removed(self) -> tuple[str, ...]:
        """Returns the notes that were removed since the model was told last, and forgets them."""
        removed = tuple(self._removed)
        self._removed.clear()
        return removed

    def _keep(self, pins: tuple[str, ...]) -> None:
        self._recorder.keep_notes(msgspec.structs.replace(self._recorder.notes, pins=pins))
