"""Notices for the person that belong to no answer: shown at once while the engine works, otherwise with the next query."""

from collections.abc import Callable

from everturn.core.events import Event, Level, Noticed


class Notices:
    def __init__(self) -> None:
        self._waiting: list[str] = []
        self.emit: Callable[[Event], None] | None = None
        """Emits an event; None while no query runs."""

    def add(self, text: str) -> None:
        """Shows the text when the next query begins."""
        self._waiting.append(text)

    def tell(self, text: str) -> None:
        """Shows the text now, or when the next query begins."""
        if self.emit is None:
            self.add(text)
        else:
            self.emit(Noticed(text=text, level=Level.WARNING))

    def pass_on(self, event: Event) -> None:
        """Emits the event now, or drops it while no query runs."""
        if self.emit is not None:
            self.emit(event)

    def show(self, emit: Callable[[Event], None]) -> None:
        """Emits the notices that wait."""
        for text in self._waiting:
            emit(Noticed(text=text, level=Level.WARNING))
        self._waiting.clear()
