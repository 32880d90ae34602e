"""Files that are written for the model, outside the project: what it may read without asking, wherever they lie."""

from typing import Protocol


class Outputs:
    """The files of one session. Tools add them, the policy asks for them."""

    def __init__(self) -> None:
        self.folder: str | None = None
        """Where tools put them: a folder of the session, which is made when it is needed. None where it is not saved."""
        self.temporary = ""
        """Where such a folder is made where `folder` is None; empty: where the process wants temporary files."""
        self._paths: set[str] = set()

    def add(self, path: str) -> None:
        """Real and absolute."""
        self._paths.add(path)

    def list_paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._paths))

    def remove(self, path: str) -> None:
        """The file no longer exists."""
        self._paths.discard(path)

    def __contains__(self, path: str | None) -> bool:
        return path in self._paths


class Shelf(Protocol):
    """Where results go that are too large to be sent: a file that the model can read back in pages.

    Contract: what is put there is readable without asking, and survives a power cut before `put` returns.
    """

    def put(self, text: str) -> str:
        """The absolute path of the file that holds it. The same text always has the same. Raises `OSError`."""
        ...
