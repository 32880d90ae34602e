"""Finding a session to go on with: by its id, or the newest one of a folder."""

from collections.abc import Iterator
from pathlib import Path

from everturn.cli.usage import UsageError
from everturn.core.errors import JournalError
from everturn.core.records import MessageAdded, SessionOpened, decode_record
from everturn.sessions.journal import session_file

MOST_LINES = 50
"""Of a file, in which its first message must stand to count as a conversation."""
NEAR = 3


def find_newest(home: Path, folder: Path) -> str:
    """The session of this folder that was written last. Raises `UsageError`."""
    for path in _newest_first(home / "sessions"):
        opened = load_opening(path)
        if opened is not None and opened.folder == str(folder):
            return path.stem
    raise UsageError(f"there is no session to continue in {folder}")


def check_resumable(home: Path, session_id: str) -> None:
    """Raises `UsageError` that names ids like the one that was asked for."""
    if not session_file(home, session_id).exists():
        near = find_near(home, session_id)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"there is no session {session_id} in {home / 'sessions'}{hint}")


def check_new(home: Path, session_id: str) -> None:
    if session_file(home, session_id).exists():
        raise UsageError(f"there is a session {session_id} already; go on with it by --resume {session_id}")


def find_near(home: Path, session_id: str) -> list[str]:
    import difflib

    known = [path.stem for path in _newest_first(home / "sessions")]
    begun = [name for name in known if name.startswith(session_id)]
    return begun[:NEAR] or difflib.get_close_matches(session_id, known, n=NEAR)


def load_opening(path: Path) -> SessionOpened | None:
    """The first record of a session in which something was said."""
    try:
        with path.open("rb") as file:
            lines = [file.readline() for _ in range(MOST_LINES)]
        records = [decode_record(line) for line in lines if line.endswith(b"\n")]
    except (OSError, JournalError):
        return None
    first = records[0] if records else None
    has_message = any(isinstance(record, MessageAdded) for record in records)
    return first if isinstance(first, SessionOpened) and has_message else None


def _newest_first(folder: Path) -> Iterator[Path]:
    def written(path: Path) -> int:
        try:
            return path.stat().st_mtime_ns
        except OSError:
            return 0

    try:
        found = sorted(folder.glob("*.jsonl"), key=written, reverse=True)
    except OSError:
        return iter(())
    return iter(found)
