"""Paths in a verdict: the file that was judged, and what rules hide below a folder."""

from collections.abc import Callable
from typing import Protocol

import msgspec


class JudgedPath(msgspec.Struct, frozen=True, kw_only=True):
    """What a verdict was about: a tool holds itself to it, so that what was judged and what is opened cannot be two things."""

    target: str
    """The real path, every link followed; empty where it led nowhere. A tool that comes to another one opens nothing."""
    hides: Callable[[str], bool] | None = None
    """Tells which real paths a search must leave out."""


class HiddenBelow(Protocol):
    """Which names in one folder rules keep from being read."""

    def hides(self, name: str) -> bool:
        """What has this name there, with all below it."""
        ...

    def enter(self, name: str) -> "HiddenBelow | None":
        """The same for a subfolder that is not hidden itself. None where no rule hides anything below it."""
        ...


class Hides(Protocol):
    """Two that are equal hide the same."""

    def __call__(self, path: str) -> bool:
        """A real path."""
        ...

    def enter(self, folder: str) -> HiddenBelow | None:
        """What rules hide in the folder with this real path. None where no rule hides anything below it."""
        ...
