"""What a session keeps beside its transcript, so that neither a compaction nor a restart loses it."""

from enum import StrEnum

import msgspec


class TodoStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Todo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    content: str
    """What is to be done, as a command: `Run the tests`."""
    status: TodoStatus
    active_form: str
    """The same while it is being done: `Running the tests`."""


class Goal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What must hold before the work counts as done."""

    text: str
    command: str
    """Shows it: exit code 0 means that the goal is met."""
    since: float = 0.0
    """When the work on it began, in seconds since 1970; 0: a session does not tell."""


class Notes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Never mutated: a tool that changes something makes the next one, whole."""

    todos: tuple[Todo, ...] = ()
    plan: str = ""
    """The one that the person approved last."""
    goal: Goal | None = None
    """Until it is met, or the person takes it back."""
    pins: tuple[str, ...] = ()
    """Notes of the person that no compaction may lose."""
    found_tools: tuple[str, ...] = ()
    """Deferred tools that are listed since a search found them, in the order of finding."""
    shell_folder: str = ""
    """Where the next command starts; empty for the project's folder."""
    exported: tuple[str, ...] = ()
    """Names of variables that commands exported. Their values are not kept: one may be a secret."""
    scratch: str = ""
    """The folder for temporary files, where commands have left something in it. It goes when the program ends."""
