"""A shelf in memory, for tests of what is put there."""


class MemoryShelf:
    """`ports.shelf.Shelf`. Its paths lead nowhere; `files` has what would be there."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def put(self, text: str) -> str:
        for path, known in self.files.items():
            if known == text:
                return path
        path = f"/shelf/{len(self.files)}"
        self.files[path] = text
        return path
