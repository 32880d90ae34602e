"""A flush that failed may have dropped what the disk had taken: it is written again, and a power cut later loses nothing."""

import asyncio
import errno
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import JournalError
from everturn.core.records import ErrorWithheld
from everturn.sessions.disk import LocalDisk
from everturn.sessions.journal import FileJournal
from everturn.testing import Fault, FaultyDisk, MemoryDisk

PLACE = Path("/home/s.jsonl")


class ForgetfulDisk(MemoryDisk):
    """Knows which bytes would survive a power cut. A flush that fails takes them for written, as Linux does."""

    def __init__(self, *failing):
        super().__init__()
        self._failing = set(failing)
        self._flushes = 0
        self._dirty = {}
        self._safe = {}

    def write(self, handle, data):
        path, content = self._open[handle]
        self._dirty.setdefault(path, []).append((len(content), bytes(data)))
        return super().write(handle, data)

    def rewrite(self, handle, data, at):
        self._dirty.setdefault(self._open[handle][0], []).append((at, bytes(data)))
        super().rewrite(handle, data, at)

    def sync(self, handle):
        path = self._open[handle][0]
        self._flushes += 1
        pieces = self._dirty.pop(path, [])
        if self._flushes in self._failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        safe = self._safe.setdefault(path, bytearray())
        for at, data in pieces:
            safe.extend(bytes(max(0, at + len(data) - len(safe))))
            safe[at : at + len(data)] = data

    def after_a_power_cut(self):
        return bytes(self._safe.get(PLACE, b""))


def record(number):
    return ErrorWithheld(kind=str(number), text="x" * (number * 37 % 500))


def own_lines(content):
    """Whole ones; those of other programs are theirs to flush."""
    return [line for line in bytes(content).splitlines() if line.startswith(b'{"type":"everturn"')]


steps = st.lists(st.sampled_from(["append", "append", "sync", "title"]), max_size=30)


@given(steps, st.sets(st.integers(1, 12)))
@settings(max_examples=200, deadline=None)
async def test_what_a_flush_confirmed_at_last_is_all_that_was_written(story, failing):
    disk = ForgetfulDisk(*failing)
    journal = FileJournal(PLACE, "s", disk=disk)
    other = disk.open(PLACE, create=False)
    for number, step in enumerate(story):
        if step == "append":
            journal.append(record(number))
        elif step == "title":
            disk.write(other, b'{"type":"tag","tag":"%d"}\n' % number)
        else:
            try:
                await journal.sync()
            except JournalError:
                continue
            assert own_lines(disk.after_a_power_cut()) == own_lines(disk.files[PLACE])
    kinds = [line.split(b'"kind":"')[1].split(b'"')[0] for line in own_lines(disk.files[PLACE])]
    assert kinds == [b"%d" % number for number, step in enumerate(story) if step == "append"]
    for _ in range(13):
        journal.append(record(99))
        try:
            await journal.sync()
        except JournalError:
            continue
        break
    assert disk.after_a_power_cut() == bytes(disk.files[PLACE])


async def test_a_file_that_lost_what_it_had_taken_is_completed(tmp_path):
    """Its pages are gone, also for those who read it."""
    disk = FaultyDisk(LocalDisk(), Fault(nth=2, operations=frozenset({"sync"})))
    path = tmp_path / "s.jsonl"
    journal = FileJournal(path, "s", disk=disk)
    journal.append(record(1))
    await journal.sync()
    safe = path.stat().st_size
    journal.append(record(2))
    whole = path.read_bytes()
    os.truncate(path, safe)
    journal.append(record(3))
    with path.open("ab") as file:
        file.write(b'{"type":"tag","tag":"a"}\n')
    with pytest.raises(JournalError):
        await journal.sync()
    await journal.sync()
    journal.close()
    kinds = [line.split(b'"kind":"')[1][:1] for line in own_lines(path.read_bytes())]
    assert sorted(kinds) == [b"1", b"2", b"3"]
    assert path.read_bytes().startswith(whole[:safe])


@pytest.mark.parametrize("failing", [(), (1,), (2,), (1, 2)])
async def test_two_flushes_at_once_confirm_what_they_confirm(failing):
    """As two calls that run beside each other cause them."""
    disk = ForgetfulDisk(*failing)
    journal = FileJournal(PLACE, "s", disk=disk)
    for number in range(3):
        journal.append(record(2 * number))
        first = asyncio.create_task(journal.sync())
        await asyncio.sleep(0)
        journal.append(record(2 * number + 1))
        told = await asyncio.gather(first, journal.sync(), return_exceptions=True)
        assert {type(each) for each in told} <= {type(None), JournalError}
    assert disk.after_a_power_cut() == bytes(disk.files[PLACE])
    assert len(own_lines(disk.files[PLACE])) == 6


def test_the_local_disk_writes_over_and_appends_afterwards(tmp_path):
    disk = LocalDisk()
    handle = disk.open(tmp_path / "file", create=True)
    disk.write(handle, b"one\ntwo\n")
    disk.rewrite(handle, b"two\n", 4)
    disk.write(handle, b"three\n")
    disk.close(handle)
    assert (tmp_path / "file").read_bytes() == b"one\ntwo\nthree\n"
