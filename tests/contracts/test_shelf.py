"""Every shelf keeps what is put there under an absolute path, and the same text under the same."""

from pathlib import Path

import pytest

from everturn.ports.outputs import Outputs
from everturn.sessions.blobs import ResultShelf
from everturn.testing import MemoryShelf

TEXTS = ["a result", "", "ü\n\0" * 1_000, "half a character: \ud800"]


class OnDisk:
    """What was put, as whoever reads it finds it."""

    def __init__(self, folder):
        self.outputs = Outputs()
        self._shelf = ResultShelf(folder, self.outputs)
        self.put, self.close = self._shelf.put, self._shelf.close

    def read(self, path):
        assert path in self.outputs
        return Path(path).read_bytes().decode()


class InMemory:
    def __init__(self):
        self._shelf = MemoryShelf()
        self.put = self._shelf.put

    def read(self, path):
        return self._shelf.files[path].encode(errors="replace").decode()

    def close(self):
        """Nothing is held."""


@pytest.fixture(params=["saved", "passing", "memory"])
def shelf(request, tmp_path):
    made = {"saved": lambda: OnDisk(tmp_path / "s" / "results"), "passing": lambda: OnDisk(None), "memory": InMemory}
    opened = made[request.param]()
    yield opened
    opened.close()


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_put_there_is_found_there(shelf, text):
    path = shelf.put(text)
    assert path.startswith("/")
    assert shelf.read(path) == text.encode(errors="replace").decode()
    assert shelf.put(text) == path
    assert shelf.put(text + "!") != path
