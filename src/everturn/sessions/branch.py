"""Which branch a folder is on, read from git's own files: starting git would take longer than the whole turn."""

from pathlib import Path

_REF = "ref: refs/heads/"
_MOST = 4_096
"""A HEAD that is longer than that is none."""


def load_branch(folder: Path) -> str:
    """Empty where there is no repository; `HEAD` where no branch is checked out."""
    try:
        head = _find_head(folder)
        text = _read(head) if head is not None else ""
    except (OSError, UnicodeDecodeError):
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
    with path.open("rb") as file:
        return file.read(_MOST).decode().strip()
