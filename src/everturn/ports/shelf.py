"""Where results go that are too large to be sent: a file that the model can read back in pages."""

from typing import Protocol


class Shelf(Protocol):
    """Contract: what is put there is readable without asking, and survives a power cut before `put` returns."""

    def put(self, text: str) -> str:
        """The absolute path of the file that holds it. The same text always has the same. Raises `OSError`."""
        ...
