"""One command in the sandbox: its descriptors, what was denied to it, and the cleaning up after it."""

import os
from collections.abc import Callable
from contextlib import ExitStack

import msgspec

from everturn.ports.sandbox import Start
from everturn.sandbox.denials import ConfinedRun, explain_denials
from everturn.sandbox.kept import PutBack
from everturn.sandbox.network.doorway import Doorway
from everturn.sandbox.placeholders import explain_placeholders
from everturn.sandbox.survivors import Survivors

UNMISTAKABLE = "Read-only file system"


class OpenCell:
    """`ports.sandbox.Cell` for a command that runs outside."""

    asked_s = 0.0
    room = None

    def __init__(self, start: Start, warning: str = "") -> None:
        self.start = start
        self._warning = warning

    def note_started(self) -> None:
        pass

    def stop_asking(self) -> None:
        pass

    def explain(self, output: str, code: int | None) -> tuple[str, ...]:  # noqa: ARG002 - nothing was held back
        return (self._warning,) if self._warning else ()

    def find_refusals(self, output: str, code: int | None) -> tuple[str, ...]:  # noqa: ARG002 - it was approved
        return ()

    def close(self) -> None:
        pass


class CommandCell:
    """`ports.sandbox.Cell`."""

    room = None

    def __init__(
        self,
        start: Start,
        held: ConfinedRun,
        *,
        survivors: Survivors | None,
        put_back: Callable[[bool], PutBack],
        note_closed: Callable[[], None] | None = None,
        filtered: int = -1,
        doorway: Doorway | None = None,
        placeholders: tuple[str, ...] = (),
    ) -> None:
        """`put_back` is called once, when nothing of the command runs any more, and is told whether that is certain."""
        self.start = start
        self._held = held
        self._survivors = survivors
        self._note_closed = note_closed
        self._filtered = filtered
        self._doorway = doorway
        self._put_back = put_back
        self._placeholders = placeholders
        self._done: PutBack | None = None

    @property
    def asked_s(self) -> float:
        return self._doorway.consent.asked_s if self._doorway and self._doorway.consent else 0.0

    def stop_asking(self) -> None:
        if self._doorway and self._doorway.consent:
            self._doorway.consent.stop()

    def note_started(self) -> None:
        if self._survivors is not None:
            self._survivors.note_started()
        self._let_go()

    def explain(self, output: str, code: int | None) -> tuple[str, ...]:
        refused = tuple(self._doorway.refused) if self._doorway else ()
        # A command may go on after a refusal and end well: then only what is unmistakable is told.
        heard = output if code or (UNMISTAKABLE in output and not self._held.by_rules) else ""
        done = self._restore()
        remarks = explain_placeholders(output, self._placeholders)
        if not (code or heard or refused or done.is_told):
            return remarks
        denied = explain_denials(msgspec.structs.replace(self._held, output=heard, refused=refused, put_back=done))
        return (*remarks, *denied)

    def find_refusals(self, output: str, code: int | None) -> tuple[str, ...]:  # noqa: ARG002 - it was approved
        return ()

    def close(self) -> None:
        # The last first. Each happens whatever becomes of the others.
        with ExitStack() as steps:
            if self._note_closed is not None:
                steps.callback(self._note_closed)
                self._note_closed = None
            steps.callback(self._restore)
            if self._doorway is not None:
                steps.callback(self._doorway.close)
            steps.callback(self._let_go)

    def _let_go(self) -> None:
        if self._filtered >= 0:
            filtered, self._filtered = self._filtered, -1
            os.close(filtered)
        if self._doorway is not None:
            self._doorway.let_go()

    def _restore(self) -> PutBack:
        if self._done is None:
            self._done = PutBack(is_over=False)
            is_over = False
            try:
                is_over = self._survivors is None or self._survivors.end()
            finally:
                self._done = self._put_back(is_over)
        return self._done
