"""What needs no disk, for tests: a journal, and a shelf for large results."""

from everturn.sessions.unsaved import MemoryJournal

__all__ = ["MemoryJournal", "MemoryShelf"]


class MemoryShelf:
    """`ports.outputs.Shelf`. Its paths lead nowhere; `files` has what would be there."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def put(self, text: str) -> str:
        for path, known in self.files.items():
            if known == text:
                return path
        path = f"/shelf/{len(self.files)}"
        self.files[path] = text
        return path
