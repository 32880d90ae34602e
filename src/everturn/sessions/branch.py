"""Which branch a folder is on, read from git's own files: starting git would take longer than the whole turn."""

import os
import stat
from pathlib import Path

_REF = "ref: refs/heads/"
_MOST = 4_096
"""A HEAD that is longer than that is none."""


def load_branch(folder: Path) -> str:
    """Empty where there is no repository; `HEAD` where no branch is checked out."""
    try:
        head = _find_head(folder)
        text = _read(head) if head is not None else ""
    except (OSError, ValueError):
        return ""
    if not text:
        return ""
    return text.removeprefix(_REF) if text.startswith(_REF) else "HEAD"


def _find_head(folder: Path) -> Path | None:
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_dir():
            return git / "HEAD"
        if git.is_file():
            # A worktree or a submodule: the file names the real place.
            return place / _read(git).removeprefix("gitdir:").strip() / "HEAD"
    return None


def _read(path: Path) -> str:
    """Empty where it is no plain file: a pipe would hold us for ever, and is opened without waiting."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, _MOST).decode().strip() if is_plain else ""
    finally:
        os.close(descriptor)
