"""From a file that is new or has grown to what the index knows of it: first its card, and its words when somebody searches."""

from pathlib import Path

from everturn.core.errors import JournalError
from everturn.core.records import MessageAdded, MessageRetracted, Rewound
from everturn.ports.disk import Disk
from everturn.sessions.formats import decode_line
from everturn.sessions.index.card import Gathered
from everturn.sessions.index.file_marks import Mark, has_grown, load_place, read_whole_lines
from everturn.sessions.index.gatherer import Gatherer
from everturn.sessions.index.passages import SPEAKERS, render_passage
from everturn.sessions.index.store import MESSAGE, SaidRow, Store

STRETCH = 8 << 20
"""Bytes whose words are indexed in one transaction: other programs wait as long."""


def follow_file(store: Store, disk: Disk, home: Path, path: str, mark: Mark) -> None:
    """Raises `OSError`."""
    handle = disk.open_for_reading(home / path)
    try:
        with store.changing():
            # Asked inside the transaction: another program may have read on meanwhile.
            row = store.file(path)
            if row is not None and has_grown(disk, handle, row.place):
                file, offset, told = row.id, row.place.offset, row.told
            else:
                file, offset, told = store.begin_file(path), 0, Gathered()
            gatherer = Gatherer(told, _Counted(store, file))
            for end, line in read_whole_lines(disk, handle, offset):
                if gatherer.is_done:
                    break
                gatherer.read(line)
                offset = end
            store.keep_file(path, mark, load_place(disk, handle, offset), gatherer.told)
    finally:
        disk.close(handle)


def hear_more(store: Store, disk: Disk, home: Path, path: str) -> bool:
    """A stretch of the file, as far as its card goes. Whether there is another. Raises `OSError`."""
    handle = disk.open_for_reading(home / path)
    try:
        with store.changing():
            row = store.file(path)
            if row is None or row.heard_to >= row.place.offset:
                return False
            for end, line in read_whole_lines(disk, handle, row.heard_to):
                if end > row.place.offset:
                    break
                _hear(store, row.id, line)
                if end - row.heard_to > STRETCH:
                    store.heard(row.id, end)
                    return True
            store.heard(row.id, row.place.offset)
            return False
    finally:
        disk.close(handle)


def _hear(store: Store, file: int, line: bytes) -> None:
    try:
        record = decode_line(line).record
    except JournalError:
        return
    if isinstance(record, MessageRetracted):
        store.unhear(file, record.id)
    elif isinstance(record, Rewound):
        store.unhear_uncounted(file)
    elif not isinstance(record, MessageAdded) or not store.is_counted(file, f"{MESSAGE}{record.id}"):
        # The card was read as far as this line and further: what is taken back later is not there any more.
        return
    elif text := render_passage(record):
        store.hear(SaidRow(file=file, message=record.id, speaker=SPEAKERS[record.kind], text=text))


class _Counted:
    """Of one file."""

    def __init__(self, store: Store, file: int) -> None:
        self._store = store
        self._file = file

    def add(self, key: str) -> bool:
        return self._store.count(self._file, key)

    def discard(self, key: str) -> bool:
        return self._store.uncount(self._file, key)

    def after(self, key: str) -> list[str]:
        return self._store.counted_after(self._file, key)
