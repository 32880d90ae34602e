"""What only scenarios need: a way to see that processes are really gone."""

import os
import select
from collections.abc import Iterator

import pytest


class Lifeline:
    """A pipe that every process of a command holds open: when nobody holds it, all of them have ended."""

    def __init__(self, path):
        os.mkfifo(path)
        self._reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.command = f"exec 9>{path}; echo started; sleep 600 & sleep 600"
        """Says when it runs, then sleeps in two processes."""

    def is_cut(self) -> bool:
        """Waits for the end at most five seconds."""
        readable, _, _ = select.select([self._reader], [], [], 5)
        return bool(readable) and os.read(self._reader, 1) == b""

    def close(self) -> None:
        os.close(self._reader)


@pytest.fixture
def lifeline(tmp_path) -> Iterator[Lifeline]:
    made = Lifeline(tmp_path / "lifeline")
    yield made
    made.close()
