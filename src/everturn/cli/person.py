"""The person at the terminal that the program was started from; what it takes to ask them is loaded with the first question."""

import errno
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, BinaryIO

from everturn.frontends.asking.floor import Floor
from everturn.ports.policy import Call, Verdict

if TYPE_CHECKING:
    from everturn.frontends.asking.approver import TerminalApprover


class Person:
    """`ports.policy.Approver`."""

    one_at_a_time = True

    def __init__(self, keys: int, screen: BinaryIO, env: Mapping[str, str]) -> None:
        self._keys = keys
        self._screen = screen
        self._env = env
        self._approver: TerminalApprover | None = None
        self.floor = Floor()

    async def approve(self, call: Call, reason: str) -> Verdict:
        # Nothing is awaited before the approver has taken its place on the floor.
        if self._approver is None:
            self._approver = self._build()
        return await self._approver.approve(call, reason)

    def _build(self) -> "TerminalApprover":
        from everturn.frontends.ansi import choose_style
        from everturn.frontends.asking.approver import TerminalApprover
        from everturn.frontends.asking.dialogue import Dialogue
        from everturn.frontends.asking.keyboard import Keyboard
        from everturn.frontends.headless.sink import Sink

        sink = Sink(self._screen)
        dialogue = Dialogue(
            Keyboard(self._keys), write=sink.write_text, style=choose_style(self._env), size=sink.measure
        )
        return TerminalApprover(dialogue, self.floor)


def find_person(env: Mapping[str, str]) -> Person | None:
    """None where nobody can be asked: keys come from a terminal, and so do our words go to one, or there is no asking."""
    screen = next((stream for stream in (sys.stdout, sys.stderr) if stream is not None and stream.isatty()), None)
    if screen is None or sys.stdin is None or not sys.stdin.isatty():
        return None
    keys = sys.stdin.fileno()
    return Person(keys, screen.buffer, env) if is_in_front(keys) else None


def is_in_front(terminal: int) -> bool:
    """In the background the terminal belongs to others: to ask would only stop us. Where no jobs are kept it is ours."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError as error:
        return error.errno == errno.ENOTTY
