"""Large results beside the journal, each in a file that is named by its content."""

from pathlib import Path

from everturn.ports.disk import Disk
from everturn.ports.outputs import Outputs
from everturn.sessions.blobs import BlobStore
from everturn.sessions.disk import LocalDisk


class ResultShelf:
    """`ports.shelf.Shelf`. `folder` is the session's own; None = one that is made at the first need, and removed at the end."""

    def __init__(self, folder: Path | None, outputs: Outputs, *, disk: Disk | None = None) -> None:
        self._folder = folder
        self._outputs = outputs
        self._disk = disk or LocalDisk()
        self._store: BlobStore | None = None
        self._passing: Path | None = None

    def put(self, text: str) -> str:
        folder = self._folder or self._make_passing()
        if self._store is None:
            self._store = BlobStore(self._disk, folder)
        path = str((folder / self._store.put(text.encode(errors="replace"))).resolve())
        self._outputs.add(path)
        return path

    def close(self) -> None:
        """May be called again. What a saved session put there stays."""
        if self._passing is not None:
            import shutil

            shutil.rmtree(self._passing, ignore_errors=True)
            self._passing = self._store = None

    def _make_passing(self) -> Path:
        if self._passing is None:
            from tempfile import mkdtemp

            self._passing = Path(mkdtemp(prefix="everturn-results-"))
        return self._passing
