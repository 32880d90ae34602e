"""What a frontend may tell the engine while a query runs."""

from enum import StrEnum

import msgspec

MAIN = "main"
"""The address of the main thread; subagents have their own."""


SENT_MEANWHILE = "The user sent this while you were working:"
"""Stands before a queued command's words where the model reads them."""


class CommandState(StrEnum):
    QUEUED = "queued"
    STARTED = "started"
    """Taken into a query. One that is never completed was interrupted."""
    COMPLETED = "completed"
    WITHDRAWN = "withdrawn"
    """Taken back before any query had started it."""


class QueuedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """Words of the user that wait for the next tool round, or for the end of the query."""

    id: str
    text: str
    address: str = MAIN
