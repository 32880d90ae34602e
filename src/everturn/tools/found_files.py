"""Order and names of the files that a search found."""

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

from everturn.workspace.paths import shorten

T = TypeVar("T")


def sort_newest(root: str, found: Iterable[T], path_of: Callable[[T], str]) -> list[T]:
    """The newest first, of the same time by path. What has vanished comes last."""
    prefix = f"{root.rstrip('/')}/"
    keyed = [(-changed_ns(prefix + (path := path_of(item))), path, item) for item in found]
    # No two have the same path: the items themselves are never compared.
    keyed.sort(key=lambda entry: entry[:2])
    return [item for _, _, item in keyed]


def changed_ns(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0


class Names:
    """Names for the model of files below one root; the root is a real path."""

    def __init__(self, folder: str, root: str) -> None:
        place = shorten(folder, root)
        inside = root == os.path.realpath(folder)
        self._prefix = "" if inside else f"{place.rstrip('/')}/"

    def of(self, path: str) -> str:
        return render_name(self._prefix + path)


def render_name(path: str) -> str:
    """As text: bytes of a name that are not UTF-8 are shown as a replacement mark."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
