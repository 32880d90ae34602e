"""The session's private folder for temporary files: `TMPDIR` for commands, and written without a question."""

from typing import Protocol

VARIABLE = "TMPDIR"


class Scratch(Protocol):
    """One per session. Never raises."""

    def find(self) -> str:
        """The folder's real path where it was made and still is what has that name; else empty."""
        ...

    def make(self) -> str:
        """The same, made now if it is not there. Empty where it cannot be made."""
        ...

    def find_used(self) -> str:
        """The same as `find` where the folder has a file in it; else empty."""
        ...


class NoScratch:
    """`Scratch` of a session that has none."""

    def find(self) -> str:
        return ""

    def make(self) -> str:
        return ""

    def find_used(self) -> str:
        return ""


NO_SCRATCH = NoScratch()
