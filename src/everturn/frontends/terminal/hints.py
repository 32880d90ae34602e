"""Words that stand in the line of status for a moment, and keys that count when they are pressed twice."""

import asyncio
import time
from collections.abc import Callable

HINT_S = 2.0
"""How long a hint stands, and how soon a second press must follow the first."""


class Hints:
    def __init__(self, changed: Callable[[], None]) -> None:
        """`changed` is called when a hint has had its time."""
        self._changed = changed
        self.text = ""
        self._pressed = ("", 0.0)
        """The key that asks for a second press, and when it was pressed."""

    def tell(self, text: str) -> None:
        self.text = text
        asyncio.get_running_loop().call_later(HINT_S, self._end, text)

    def clear(self) -> None:
        self.text = ""

    def press_twice(self, name: str, act: Callable[[], None]) -> None:
        """Leaves with the second press."""
        now = time.monotonic()
        if self._pressed[0] == name and now - self._pressed[1] <= HINT_S:
            act()
            return
        self._pressed = (name, now)
        self.tell(f"press {name} again to leave")

    def _end(self, text: str) -> None:
        if self.text == text:
            self.text = ""
            self._changed()
