"""Queued commands: words of the user that arrive while a query runs, and what became of them."""

from collections.abc import Callable, Iterable

from everturn.core.commands import CommandState, QueuedCommand
from everturn.core.events import CommandNoted, Event
from everturn.core.records import CommandChanged, Record


class CommandQueue:
    """A command that was started but never completed is how a frontend recognises an interrupted one."""

    def __init__(self, record: Callable[[Record], None], emit: Callable[[Event], None]) -> None:
        self._record = record
        self._emit = emit
        self._waiting: list[QueuedCommand] = []
        self._started: list[QueuedCommand] = []
        self._interrupted: list[QueuedCommand] = []

    @property
    def interrupted(self) -> tuple[QueuedCommand, ...]:
        """Started before this process, and never completed."""
        return tuple(self._interrupted)

    @property
    def waiting(self) -> tuple[QueuedCommand, ...]:
        return tuple(self._waiting)

    def restore(self, waiting: Iterable[QueuedCommand], interrupted: Iterable[QueuedCommand] = ()) -> None:
        """Of a resumed session: the journal knows them already."""
        self._waiting.extend(waiting)
        self._interrupted.extend(interrupted)

    def take_up(self) -> None:
        """The query that was cut off goes on, and with it what it had started."""
        self._started.extend(self._interrupted)
        self._interrupted.clear()

    def put(self, command: QueuedCommand) -> None:
        self._waiting.append(command)
        self._note(command, CommandState.QUEUED)

    def take(self, address: str) -> list[QueuedCommand]:
        """Starts all that wait for this address."""
        taken = [command for command in self._waiting if command.address == address]
        self._waiting = [command for command in self._waiting if command.address != address]
        self._started.extend(taken)
        for command in taken:
            self._note(command, CommandState.STARTED)
        return taken

    def complete(self) -> None:
        """All that were started are done: the query reached its terminal."""
        for command in self._started:
            self._note(command, CommandState.COMPLETED)
        self._started.clear()

    def abandon(self) -> None:
        """The query was left without a terminal: what it started stays started, and no later query completes it."""
        self._started.clear()

    def _note(self, command: QueuedCommand, state: CommandState) -> None:
        queued = state is CommandState.QUEUED
        self._record(
            CommandChanged(
                id=command.id,
                state=state,
                text=command.text if queued else "",
                address=command.address if queued else "",
            )
        )
        self._emit(CommandNoted(command_id=command.id, state=state))
