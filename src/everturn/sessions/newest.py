"""The newest session of a folder, found by a look at the files alone: quick, and right whatever the index says."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from everturn.core.errors import JournalError
from everturn.core.records import MessageAdded, SessionOpened
from everturn.core.spelled_paths import spell_path
from everturn.sessions.loading import stream_told
from everturn.sessions.places import list_session_files

MOST_LINES = 50
"""Of a file, in which its first message must stand to count as a conversation."""


def find_newest_file(home: Path, folder: Path | str) -> Path | None:
    """The session of this folder that was written last, and in which something was said, or that was asked for by `/clear`."""
    for path in stream_newest_first(home):
        opened = load_opening(path)
        if opened is not None and opened.folder == spell_path(str(folder)):
            return path
    return None


def load_opening(path: Path) -> SessionOpened | None:
    """The first record of a session that counts as a conversation."""
    try:
        records = [told.record for told, _ in islice(stream_told(path), MOST_LINES)]
    except JournalError:
        return None
    first = records[0] if records else None
    has_message = any(isinstance(record, MessageAdded) for record in records)
    return first if isinstance(first, SessionOpened) and (has_message or first.after) else None


def stream_newest_first(home: Path) -> Iterator[Path]:
    def written(path: Path) -> int:
        try:
            return path.stat().st_mtime_ns
        except OSError:
            return 0

    try:
        found = sorted(list_session_files(home), key=written, reverse=True)
    except OSError:
        return iter(())
    return iter(found)
