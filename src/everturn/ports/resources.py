"""What only one session can have at a time: locks, ports, screens. Tools put it here, and the stop phase gives it back."""

from collections.abc import Callable
from contextlib import suppress


class Resources:
    """Of one session. Who gives a resource back sooner takes it out again."""

    def __init__(self) -> None:
        self._held: dict[str, Callable[[], None]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """In the order in which they were taken."""
        return tuple(self._held)

    def put(self, name: str, release: Callable[[], None]) -> None:
        """`name`: in words, for people. A resource that is put in again under the same name replaces the first."""
        self._held[name] = release

    def take_out(self, name: str) -> None:
        self._held.pop(name, None)

    def release(self) -> tuple[str, ...]:
        """All of them, the latest first, whatever one of them raises. The problems, a sentence each."""
        problems = []
        while self._held:
            with suppress(KeyError):
                name, release = self._held.popitem()
                try:
                    release()
                except Exception as error:  # noqa: BLE001 (a tool's own function)
                    problems.append(f"{name} could not be released: {type(error).__name__}: {error}")
        return tuple(problems)
