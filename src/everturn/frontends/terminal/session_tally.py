"""What a session has done since it was opened here: time, lines of files, verifications of its goal."""

import time
from collections.abc import Callable

from everturn.core.events import CallEnded, Event, ResultEvent, VerificationEnded
from everturn.core.notes import Goal


class SessionTally:
    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self.api_s = 0.0
        """That calls of models took."""
        self.lines_added = self.lines_removed = 0
        """By Edit and Write."""
        self._verified: VerificationEnded | None = None
        self._elapsed = elapsed
        self._began_s = elapsed()

    @property
    def open_s(self) -> float:
        return self._elapsed() - self._began_s

    def note(self, event: Event) -> None:
        match event:
            case ResultEvent(api_duration_s=took):
                self.api_s += took
            case VerificationEnded():
                self._verified = event
            case CallEnded(shown=shown) if shown is not None:
                signs = [line[:1] for hunk in getattr(shown, "structured_patch", ()) for line in hunk.lines]
                self.lines_added += signs.count("+")
                self.lines_removed += signs.count("-")
                if getattr(shown, "type", "") == "create":
                    self.lines_added += len(shown.content.splitlines())

    def tell_goal(self, goal: Goal | None) -> str:
        """How far it is; empty without one."""
        if goal is None:
            return ""
        last = self._verified
        if last is None or last.command != goal.command:
            return "goal: not verified"
        return "goal: met" if last.passed else f"goal: not met ({last.attempt})"
