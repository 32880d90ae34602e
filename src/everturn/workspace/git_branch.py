"""Which branch a folder is on, read from git's own files: starting git would take longer than the whole turn."""

import errno
import os
import stat
from pathlib import Path

_REF = "ref: refs/heads/"
_MAX_COUNT = 4_096
"""A HEAD that is longer than that is none."""


def load_branch(folder: Path) -> str:
    """Empty where there is no repository; `HEAD` where no branch is checked out."""
    try:
        found = find_git(folder)
        text = _read(os.path.join(found[1], "HEAD")) if found is not None else ""  # noqa: PTH118
    except (OSError, ValueError):
        return ""
    if not text:
        return ""
    return text.removeprefix(_REF) if text.startswith(_REF) else "HEAD"


def find_git(folder: Path) -> tuple[str, str] | None:
    """The working tree around a folder and where git keeps what belongs to it. Raises `OSError` and `ValueError`.

    With paths as text: each query looks twice, in every folder up to the root.
    """
    place, below = os.fspath(folder), ""
    while place != below:
        git = os.path.join(place, ".git")  # noqa: PTH118
        mode = _find_mode(git)
        if stat.S_ISDIR(mode):
            return place, git
        if stat.S_ISREG(mode):
            # A worktree or a submodule: the file names the real place.
            return place, os.path.join(place, _read(git).removeprefix("gitdir:").strip())  # noqa: PTH118
        place, below = os.path.dirname(place), place  # noqa: PTH120
    return None


def _find_mode(path: str) -> int:
    """0 where there is nothing."""
    try:
        return os.stat(path).st_mode  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        if error.errno == errno.ELOOP:
            return 0
        raise


def _read(path: str) -> str:
    """Empty where it is no plain file: a pipe would hold us for ever, and is opened without waiting."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, _MAX_COUNT).decode().strip() if is_plain else ""
    finally:
        os.close(descriptor)
