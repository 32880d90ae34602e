"""What is being waited for, in one line: the model, or the calls that run, and for how long."""

from collections.abc import Callable

from everturn.frontends.figures import render_duration

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_PER_S = 10
PATIENCE_S = 1.0
"""A shorter wait needs no figure."""


class _Call:
    def __init__(self, line: str, began_s: float) -> None:
        self.line = line
        self.began_s = began_s
        self.progress = ""


class Waiting:
    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._what = ""
        self._began_s = 0.0
        self._calls: dict[str, _Call] = {}

    def begin(self, what: str) -> None:
        if what != self._what:
            self._what, self._began_s = what, self._elapsed()

    def end(self) -> None:
        self._what = ""
        self.forget_calls()

    def begin_call(self, tool_use_id: str, line: str) -> None:
        self._calls[tool_use_id] = _Call(line, self._elapsed())

    def note_progress(self, tool_use_id: str, line: str) -> None:
        if line and (call := self._calls.get(tool_use_id)) is not None:
            call.progress = line

    def end_call(self, tool_use_id: str) -> None:
        self._calls.pop(tool_use_id, None)

    def forget_calls(self) -> None:
        self._calls.clear()

    def render(self) -> str:
        """Empty when nothing is waited for."""
        if self._calls:
            first, *others = self._calls.values()
            more = f"  and {len(others)} more" if others else ""
            progress = f"  {first.progress}" if first.progress else ""
            return self._spin(first.line, first.began_s) + more + progress
        return self._spin(self._what, self._began_s) if self._what else ""

    def _spin(self, what: str, began_s: float) -> str:
        now = self._elapsed()
        spinner = FRAMES[int(now * FRAMES_PER_S) % len(FRAMES)]
        passed = now - began_s
        return f"{spinner} {what}  {render_duration(passed)}" if passed >= PATIENCE_S else f"{spinner} {what}"
