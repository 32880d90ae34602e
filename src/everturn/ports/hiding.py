"""What rules keep from being read, told name by name: whoever goes through folders need not ask about each whole path."""

from typing import Protocol


class HiddenBelow(Protocol):
    """In one folder."""

    def hides(self, name: str) -> bool:
        """What has this name there, with all below it."""
        ...

    def enter(self, name: str) -> "HiddenBelow | None":
        """In the folder of this name there, which is not hidden itself. None: whatever lies below, no rule hides it."""
        ...


class Hides(Protocol):
    """Two that are equal hide the same."""

    def __call__(self, path: str) -> bool:
        """A real path."""
        ...

    def enter(self, folder: str) -> HiddenBelow | None:
        """In the folder with this real path. None: whatever lies below, no rule hides it."""
        ...
