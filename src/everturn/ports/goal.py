"""Runs the command that shows whether a goal is met, and watches the files that it reads."""

from typing import Protocol

import msgspec

from everturn.core.events import GoalFile
from everturn.core.hiding import Hiding


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the command."""

    passed: bool
    """It ended with exit code 0."""
    ended: str
    """How it ended, in a clause that follows "the command": `ended with exit code 1`."""
    code: int | None = None
    """Exit code; negative: the number of the signal that ended it; None: we ended it."""
    told: str = ""
    """What it printed, both ends of it where it was much: what is compared with other runs. Without escape sequences."""
    end: str = ""
    """The end of what it printed."""
    size: int = 0
    """Bytes that it printed."""
    path: str | None = None
    """The file that holds more of it than `end`, where there is one."""


class Verifier(Protocol):
    """One per session. Only one command runs at a time."""

    async def begin(self, command: str, *, since: float = 0.0, goes_on: bool = False) -> None:
        """Remembers how the files are that the command reads or names.

        `since`: the work began at this time already, in another program. `goes_on`: with an earlier prompt of this one, so that
        what was remembered then still counts.
        """
        ...

    async def run(self, command: str, *, limit_s: float, hiding: Hiding) -> Verification:
        """In the working folder, with the environment that the program was started with. 0 = no limit.

        Cancelled, it ends all that it has started. Raises `ToolFault` where it cannot run.
        """
        ...

    async def find_touched(self) -> tuple[GoalFile, ...]:
        """The files that it watches and that are no longer what they were, by their paths."""
        ...

    async def aclose(self) -> None: ...
