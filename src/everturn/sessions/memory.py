"""A journal without a disk: for sessions that are not kept, and for tests."""

from everturn.core.errors import JournalError
from everturn.core.records import Record
from everturn.ports.store import Replay
from everturn.sessions.lines import LineEncoder
from everturn.sessions.replay import fold_lines


class MemoryJournal:
    """Keeps the encoded lines, not the records: what is replayed went through the same door as on disk."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.warnings: tuple[str, ...] = ()
        self.lines: list[bytes] = []
        self._encoder = LineEncoder(session_id)
        self._closed = False

    def append(self, record: Record) -> None:
        if self._closed:
            raise JournalError(f"Session {self.session_id} is closed.")
        self.lines.append(self._encoder.encode(record))

    async def sync(self, *, end: bool = False) -> None:  # noqa: ARG002 (the port's name; without a disk nothing waits)
        if self._closed:
            raise JournalError(f"Session {self.session_id} is closed.")

    def replay(self) -> Replay:
        replay, self.warnings = fold_lines(self.session_id, self.lines)
        return replay

    def close(self) -> None:
        self._closed = True
