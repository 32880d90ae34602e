"""What a verdict was about: a tool holds itself to it, so that what was judged and what is opened cannot be two things."""

from collections.abc import Callable

import msgspec


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    """The real path, every link followed; empty where it led nowhere. A tool that comes to another one opens nothing."""
    hides: Callable[[str], bool] | None = None
    """Of a search: real paths that it must leave out."""
