"""Queued commands: messages that the user sends while a query runs, and their state."""

from collections.abc import Callable, Iterable

from everturn.core.commands import CommandState, QueuedCommand
from everturn.core.events import CommandNoted, Event
from everturn.core.records import CommandChanged, Record


class CommandQueue:
    """Keeps the commands in order. A frontend recognises an interrupted command by its state: started, and never completed."""

    def __init__(self, record: Callable[[Record], None], emit: Callable[[Event], None]) -> None:
        self._record = record
        self._emit = emit
        self._waiting: list[QueuedCommand] = []
        self._started: list[QueuedCommand] = []
        self._interrupted: list[QueuedCommand] = []

    @property
    def interrupted(self) -> tuple[QueuedCommand, ...]:
        """Commands that were started by an earlier process and never completed."""
        return tuple(self._interrupted)

    @property
    def waiting(self) -> tuple[QueuedCommand, ...]:
        return tuple(self._waiting)

    def restore(self, waiting: Iterable[QueuedCommand], interrupted: Iterable[QueuedCommand] = ()) -> None:
        """Sets the commands of a resumed session. They are in the journal already, so they are not recorded again."""
        self._waiting.extend(waiting)
        self._interrupted.extend(interrupted)

    def take_up(self) -> None:
        """Marks interrupted commands as started again: the query that was cut off goes on."""
        self._started.extend(self._interrupted)
        self._interrupted.clear()

    def put(self, command: QueuedCommand) -> None:
        self._waiting.append(command)
        self._note(command, CommandState.QUEUED)

    def take(self, address: str) -> list[QueuedCommand]:
        """Starts all commands that wait for this address, and returns them."""
        taken = [command for command in self._waiting if command.address == address]
        self._waiting = [command for command in self._waiting if command.address != address]
        self._started.extend(taken)
        for command in taken:
            self._note(command, CommandState.STARTED)
        return taken

    def withdraw(self, command_id: str) -> str:
        """The words of a command that still waits; it will not be started. Empty where it does not wait any more."""
        found = next((command for command in self._waiting if command.id == command_id), None)
        if found is None:
            return ""
        self._waiting.remove(found)
        self._note(found, CommandState.WITHDRAWN)
        return found.text

    def complete(self) -> None:
        """Completes all started commands: the query reached its terminal."""
        for command in self._started:
            self._note(command, CommandState.COMPLETED)
        self._started.clear()

    def abandon(self) -> None:
        """Forgets the started commands: the query ended without a terminal, so no later query may complete them."""
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
