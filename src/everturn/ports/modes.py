"""The permission mode in force, for those who switch it: the person, and the tools that plan."""

from typing import Protocol

PLAN = "plan"
"""The mode in which nothing is changed until the person has approved a plan."""


class Modes(Protocol):
    """A switch counts from the next call on."""

    @property
    def mode(self) -> str: ...

    def switch(self, mode: str) -> None:
        """Raises `OptionError` for a mode that there is not."""
        ...

    def leave_plan(self) -> str:
        """Back to the mode before the plan, whose name it gives; does nothing in any other mode."""
        ...
