"""One command in the sandbox: what it was handed, what was held back of it, and what is tidied up behind it."""

import os
from collections.abc import Callable

import msgspec

from everturn.ports.sandbox import Start
from everturn.sandbox.denials import Held, explain_denials
from everturn.sandbox.kept import Kept
from everturn.sandbox.network.doorway import Doorway

UNMISTAKABLE = "Read-only file system"


class OpenCell:
    """`ports.sandbox.Cell` for a command that runs outside."""

    asked_s = 0.0

    def __init__(self, start: Start, warning: str = "") -> None:
        self.start = start
        self._warning = warning

    def note_started(self) -> None:
        pass

    def stop_asking(self) -> None:
        pass

    def explain(self, output: str, code: int | None) -> tuple[str, ...]:  # noqa: ARG002 - nothing was held back
        return (self._warning,) if self._warning else ()

    def close(self) -> None:
        pass


class CommandCell:
    """`ports.sandbox.Cell`."""

    def __init__(
        self,
        start: Start,
        held: Held,
        *,
        kept: Kept,
        note_closed: Callable[[], None] | None = None,
        filtered: int = -1,
        doorway: Doorway | None = None,
    ) -> None:
        self.start = start
        self._held = held
        self._kept = kept
        self._note_closed = note_closed
        self._filtered = filtered
        self._doorway = doorway
        self._put_back: tuple[str, ...] | None = None

    @property
    def asked_s(self) -> float:
        return self._doorway.consent.asked_s if self._doorway and self._doorway.consent else 0.0

    def stop_asking(self) -> None:
        if self._doorway and self._doorway.consent:
            self._doorway.consent.stop()

    def note_started(self) -> None:
        if self._filtered >= 0:
            os.close(self._filtered)
            self._filtered = -1
        if self._doorway is not None:
            self._doorway.let_go()

    def explain(self, output: str, code: int | None) -> tuple[str, ...]:
        refused = tuple(self._doorway.refused) if self._doorway else ()
        # A command may go on after a refusal and end well: then only what is unmistakable is told.
        heard = output if code or (UNMISTAKABLE in output and not self._held.by_rules) else ""
        if not (code or heard or refused or self._restore()):
            return ()
        put_back = self._restore()
        held = msgspec.structs.replace(
            self._held, output=heard, refused=refused, put_back=put_back, aside=self._kept.aside
        )
        return explain_denials(held)

    def close(self) -> None:
        self.note_started()
        if self._doorway is not None:
            self._doorway.close()
        self._restore()
        if self._note_closed is not None:
            self._note_closed()
            self._note_closed = None

    def _restore(self) -> tuple[str, ...]:
        if self._put_back is None:
            self._put_back = self._kept.put_back()
        return self._put_back
