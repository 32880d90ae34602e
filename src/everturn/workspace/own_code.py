"""The folders of Everturn's own code: the package, the interpreter, and what it imports. Files written there would run as Everturn."""

import os
import sys
from collections.abc import Iterable

import everturn

_SITES = ("/site-packages", "/dist-packages")
_SYSTEM = frozenset({"/", "/usr", "/usr/local"})
"""Prefixes that hold much else. Of these only the library counts."""


def find_own_code() -> tuple[str, ...]:
    """Absolute paths of folders, as they are named and as they are."""
    return list_own_code(
        prefixes=(sys.prefix, sys.base_prefix),
        library=os.path.dirname(os.__file__),  # noqa: PTH120 (before the first request)
        package=os.path.dirname(everturn.__file__),  # noqa: PTH120
        imported=sys.path,
    )


def list_own_code(*, prefixes: Iterable[str], library: str, package: str, imported: Iterable[str]) -> tuple[str, ...]:
    """`imported`: where modules come from. Of these only what is installed counts: the first is often the user's folder."""
    sites = (path for path in imported if path.rstrip("/").endswith(_SITES))
    own = (prefix for prefix in prefixes if prefix.rstrip("/") not in _SYSTEM and prefix.strip("/"))
    found = (*own, library, package, *sites)
    return tuple(dict.fromkeys(path for path in found if path.startswith("/")))
