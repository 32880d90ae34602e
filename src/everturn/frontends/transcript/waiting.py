"""The line that says what the loop waits for: the model or the running calls, and for how long."""

from collections.abc import Callable

from everturn.frontends.figures import render_duration
from everturn.frontends.flow import cut_line, width_of
from everturn.frontends.harmless import HarmlessText, make_line

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_PER_S = 10
MIN_SHOWN_S = 1.0
"""A shorter wait needs no figure."""
MAX_TAIL = 2_000
"""Characters of a line of output that is not complete yet."""
MAX_LINES = 8
"""Lines of output that are kept while a call runs."""


class RunningCall:
    def __init__(self, line: str, began_s: float) -> None:
        self.line = line
        self.began_s = began_s
        self.tail: list[str] = []
        """The last lines of what it has printed."""
        self._harmless = HarmlessText()
        self._open = ""

    def note(self, text: str) -> None:
        """Output comes in pieces that end anywhere."""
        lines = (self._open + self._harmless.feed(text)).split("\n")
        if self._open and self.tail:
            self.tail.pop()
        self._open = lines[-1][-MAX_TAIL:]
        shown = [line for each in lines[-MAX_LINES:] if (line := make_line(each))]
        self.tail = (self.tail + shown)[-MAX_LINES:]

    @property
    def progress(self) -> str:
        return self.tail[-1] if self.tail else ""

    def render_time(self, now: float) -> str:
        """Empty at first: a shorter wait needs no figure."""
        passed = now - self.began_s
        return f"  {render_duration(passed)}" if passed >= MIN_SHOWN_S else ""


class Waiting:
    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._what = ""
        self._began_s = 0.0
        self._calls: dict[str, RunningCall] = {}

    @property
    def calls(self) -> list[RunningCall]:
        """Those that run, oldest first."""
        return list(self._calls.values())

    @property
    def now(self) -> float:
        """By the clock that the beginnings were read from."""
        return self._elapsed()

    @property
    def is_waiting(self) -> bool:
        return bool(self._what or self._calls)

    def begin(self, what: str) -> None:
        if what != self._what:
            self._what, self._began_s = what, self._elapsed()

    def end(self) -> None:
        self._what = ""
        self.forget_calls()

    def begin_call(self, tool_use_id: str, line: str) -> None:
        self._calls[tool_use_id] = RunningCall(line, self._elapsed())

    def note_progress(self, tool_use_id: str, text: str) -> None:
        if (call := self._calls.get(tool_use_id)) is not None:
            call.note(text)

    def end_call(self, tool_use_id: str) -> None:
        self._calls.pop(tool_use_id, None)

    def forget_calls(self) -> None:
        self._calls.clear()

    def render(self, columns: int) -> str:
        """Empty when nothing is waited for. A long line is cut, not its time and what follows it."""
        if self._calls:
            first, *others = self._calls.values()
            more = f"  and {len(others)} more" if others else ""
            return self._spin(first.line, first.began_s, more, first.progress, columns)
        return self._spin(self._what, self._began_s, "", "", columns) if self._what else ""

    def _spin(self, what: str, began_s: float, more: str, progress: str, columns: int) -> str:
        now = self._elapsed()
        spinner = FRAMES[int(now * FRAMES_PER_S) % len(FRAMES)]
        passed = now - began_s
        fixed = (f"  {render_duration(passed)}" if passed >= MIN_SHOWN_S else "") + more
        room = columns - 2 - width_of(fixed)
        told = f"  {progress}" if progress else ""
        # Each of the two has half of the room, and what the other leaves.
        line = cut_line(what, max(room - width_of(told), room - room // 2))
        return f"{spinner} {line}{fixed}{cut_line(told, room - width_of(line))}"
