"""The files that hold what commands printed: in the session's own folder, or in a temporary one where the session is not saved."""

import os
from collections.abc import Callable
from contextlib import suppress

from everturn.ports.outputs import Outputs

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class OutputFiles:
    """Files for their user alone. Their folder is made with the first one, and held open: its name may be a command's to change."""

    def __init__(self, outputs: Outputs | None = None, note_folder: Callable[[str], object] = lambda _: None) -> None:
        """`outputs` says which folder, and learns each file's path. `note_folder` learns of a temporary one when it is made."""
        self._outputs = outputs or Outputs()
        self._note_folder = note_folder
        self._folder: str | None = None
        self._descriptor = -1
        self._names: list[str] = []
        self._is_kept = False

    def open(self) -> tuple[str, int]:
        """The path and a descriptor of a new file. Raises `OSError`."""
        if self._folder is None:
            self._folder = self._make_folder()
        name = f"command-{os.urandom(8).hex()}.log"
        descriptor = os.open(name, _OPEN_FILE, 0o600, dir_fd=self._descriptor)
        self._names.append(name)
        path = f"{self._folder}/{name}"
        self._outputs.add(path)
        return path, descriptor

    def close(self) -> None:
        """The session has ended. What a saved one printed stays with it."""
        if self._folder is None:
            return
        if not self._is_kept:
            for name in self._names:
                with suppress(OSError):
                    os.unlink(name, dir_fd=self._descriptor)
                self._outputs.remove(f"{self._folder}/{name}")
            with suppress(OSError):
                # Only an empty one: what else somebody has put there is theirs.
                os.rmdir(self._folder)  # noqa: PTH106 - a path as text
        os.close(self._descriptor)
        self._folder = None
        self._names.clear()

    def _make_folder(self) -> str:
        if self._outputs.folder is not None:
            made = os.path.realpath(self._outputs.folder)
            # The session's own folder and the one for results in it.
            for folder in (os.path.dirname(made), made):  # noqa: PTH120 - a path as text
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700)  # noqa: PTH102 - a path as text
            self._descriptor = os.open(made, _OPEN_FOLDER)
            self._is_kept = True
            return made
        from tempfile import mkdtemp

        made = os.path.realpath(mkdtemp(prefix="everturn-"))
        self._descriptor = os.open(made, _OPEN_FOLDER)
        self._note_folder(made)
        return made
