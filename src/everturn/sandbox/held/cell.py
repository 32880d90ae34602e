"""One command that nobody approved: its descriptors, whether it was denied something, and the cleaning up after it."""

import os
import re
from collections.abc import Callable
from contextlib import ExitStack

from everturn.core.patterns import compile_late
from everturn.ports.sandbox import Room, Start

_LAST = 8_000
_MET = compile_late(
    r"(?i)permission denied|operation not permitted|read-only file system|\bE(?:ACCES|PERM|ROFS)\b|\[Errno (?:1|13|30)\]"
    r"|could not resolve|name resolution|name or service not known|network is unreachable|dubious ownership"
    r"|file size limit exceeded|no space left|cannot allocate memory|address family not supported|couldn't create socket"
    r"|resource temporarily unavailable|unable to create"
)
"""How programs say that the system refused them something."""
_COMPLAINT = compile_late(
    r"^[\w.-]+: (?:\S.*: )?(?:Permission denied|Operation not permitted|Read-only file system)$", re.MULTILINE
)
"""A line of a program's own, and not of a file that it shows."""
_SAID = compile_late(r"(?:[\w./+-]+(?:\[\d+\])?|[\w.]+(?:Error|Exception)): ")
"""How a line begins that a program says of itself; one of a log begins with a time, one of a text with words."""
READ = (
    "This command ran without approval, so the operating system confined it: it can read the working folders and the system's "
    "programs, and write, start or reach nothing else. That may be the cause of the error above. Links that lead out of the "
    "folders do not work. To read a file elsewhere, use a call for it alone (Read, or cat PATH); the person is asked about that."
)
EDIT = (
    "This command ran without approval, so the operating system confined it to the working folders, except protected files "
    "(settings of agents, editors, shells and git; start-up files). That may be the cause of the error above. Make such a "
    "change by a call for it alone (Write, Edit or one command); the person is asked about that."
)
UNSETTLED = "What the command has left could not be put in order, so the person must look at what is protected"


class HeldCell:
    """`ports.sandbox.Cell`."""

    asked_s = 0.0

    def __init__(
        self,
        start: Start,
        room: Room,
        *,
        writes: bool = False,
        handed: tuple[int, ...] = (),
        note_started: Callable[[], None] | None = None,
        remark: Callable[[str], tuple[str, ...]] = lambda _: (),
        settle: Callable[[], tuple[str, ...]] | None = None,
        note_closed: Callable[[], None] | None = None,
    ) -> None:
        """`handed`: descriptors of ours that it needs to start, and we no longer.

        `remark` says what of its output is not what it seems. `settle` is called once, when it has ended: it puts in order what the command has left, and says what there was.
        """
        self._writes = writes
        self._remark = remark
        self._note_started = note_started
        self._settle = settle
        self._settled: tuple[str, ...] | None = None
        self.start = start
        self.room = room
        self._handed = handed
        self._note_closed = note_closed

    def note_started(self) -> None:
        handed, self._handed = self._handed, ()
        for descriptor in handed:
            os.close(descriptor)
        if self._note_started is not None:
            self._note_started()

    def stop_asking(self) -> None:
        pass

    def explain(self, output: str, code: int | None) -> tuple[str, ...]:
        told = (*self._remark(output), *self._put_in_order())
        # A command may go on after a refusal and end well: then only what is unmistakable is told.
        signs = _MET if code else _COMPLAINT
        if not signs.search(output[-_LAST:]):
            return told
        return (EDIT if self._writes else READ, *told)

    def _put_in_order(self) -> tuple[str, ...]:
        if self._settled is None:
            self._settled = ()
            if self._settle is not None:
                try:
                    self._settled = self._settle()
                except Exception as error:  # noqa: BLE001 - whatever it is, the session goes on
                    self._settled = (f"{UNSETTLED} ({error}).",)
        return self._settled

    def find_refusals(self, output: str, code: int | None) -> tuple[str, ...]:
        """As far as can be seen: programs say it in many ways. Where it ended well, a line must look like a program's complaint."""
        lines = (line.strip() for line in output.splitlines() if _MET.search(line))
        return tuple(dict.fromkeys(line for line in lines if code != 0 or _SAID.match(line)))

    def close(self) -> None:
        # The last first. Each happens whatever becomes of the others.
        with ExitStack() as steps:
            if self._note_closed is not None:
                steps.callback(self._note_closed)
                self._note_closed = None
            steps.callback(self._put_in_order)
            steps.callback(self.note_started)
