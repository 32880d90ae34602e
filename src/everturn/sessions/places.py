"""Where sessions lie: one folder per project, one file per session, and how a session is found by its id."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from everturn.core.errors import JournalError
from everturn.ports.disk import Disk

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_NAME_LIMIT = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
SUFFIX = ".jsonl"


class UnkeptError(JournalError):
    """There is no room for the session's file where it belongs; a new session can still live in memory."""


def is_session_id(text: str) -> bool:
    """Safe as a file name on every system."""
    return _ID.fullmatch(text) is not None


def check_session_id(session_id: str) -> None:
    if not is_session_id(session_id):
        raise JournalError(
            f"{session_id[:80]!r} is not a session id: it may hold letters, digits, dots, dashes and underscores, "
            "and starts with a letter or a digit."
        )


def project_folder(home: Path, folder: Path | str) -> Path:
    """Of the sessions that work in `folder`, which is meant as an absolute path without links."""
    path = str(folder)
    name = re.sub(r"[^a-zA-Z0-9]", "-", path)
    if len(name) > _NAME_LIMIT:
        name = f"{name[:_NAME_LIMIT]}-{_hash(path)}"
    return home.joinpath("projects", name)


def session_file(home: Path, session_id: str, folder: Path | str) -> Path:
    """Where a new session of this folder is kept. Raises `JournalError` for what is no id."""
    check_session_id(session_id)
    return project_folder(home, folder) / f"{session_id}{SUFFIX}"


def old_session_file(home: Path, session_id: str) -> Path:
    """Where sessions of the first format lie; they are gone on with in place."""
    return home / "sessions" / f"{session_id}{SUFFIX}"


def find_session_file(home: Path, session_id: str, folder: Path | str | None = None) -> Path | None:
    """In this folder's project first, then in any other; None where there is no such session. Raises `JournalError`."""
    check_session_id(session_id)
    own = [] if folder is None else [session_file(home, session_id, folder)]
    elsewhere = (project / f"{session_id}{SUFFIX}" for project in _projects(home))
    candidates = (*own, *elsewhere, old_session_file(home, session_id))
    try:
        return next((path for path in candidates if path.exists() or path.is_symlink()), None)
    except OSError as error:
        raise JournalError(f"Sessions in {home} cannot be read: {error.strerror}.") from error


def list_session_files(home: Path) -> Iterator[Path]:
    """Every session file of this home, in no order; those of subagents are not sessions."""
    for folder in (*_projects(home), home / "sessions"):
        try:
            yield from (path for path in folder.glob(f"*{SUFFIX}") if is_session_id(path.stem))
        except OSError:
            continue


def blobs_folder(file: Path) -> Path:
    """Beside the session's file, so that what is deleted is deleted whole."""
    return file.parent.joinpath(file.stem, "blobs")


def results_folder(file: Path) -> Path:
    """Of results that were too large to be sent; beside the session's file, too."""
    return file.parent.joinpath(file.stem, "results")


def is_result(path: str, results: Path) -> bool:
    """Whether it is in the folder of results of this or another session of the same project: a fork names those of its origin."""
    real = Path(os.path.realpath(path))
    projects = Path(os.path.realpath(results.parent.parent))
    return real.parent.name == results.name and real.parent.parent.parent == projects


def make_folder(disk: Disk, folder: Path) -> None:
    """Readable by its owner only. Raises `UnkeptError`."""
    try:
        disk.make_folder(folder)
    except OSError as error:
        raise UnkeptError(f"Sessions cannot be kept in {folder}: {error.strerror}.") from error


def _projects(home: Path) -> list[Path]:
    try:
        return [path for path in (home / "projects").iterdir() if path.is_dir()]
    except OSError:
        return []


def _hash(text: str) -> str:
    """Of 32 bits and in base 36, over the UTF-16 units of the path, as other programs name these folders."""
    value = 0
    units = text.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (value * 31 + int.from_bytes(units[at : at + 2], "little")) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value >> 31 else value)
    digits = ""
    while value or not digits:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
    return digits
