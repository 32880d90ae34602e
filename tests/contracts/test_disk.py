"""One suite for every disk: the machine's own, the one in memory, and the faulty one while nothing is wrong with it."""

import errno
import os
import stat
import time
from pathlib import Path

import pytest

from everturn.ports.disk import Disk
from everturn.sessions.disk import LocalDisk
from everturn.testing import Fault, FaultyDisk, MemoryDisk

DISKS = {"local": LocalDisk, "memory": MemoryDisk, "faulty": lambda: FaultyDisk(LocalDisk())}


@pytest.fixture(params=DISKS)
def disk(request) -> Disk:
    return DISKS[request.param]()


@pytest.fixture
def folder(disk, tmp_path):
    made = tmp_path / "deep" / "folder"
    disk.make_folder(made)
    return made


@pytest.fixture
def handle(disk, folder):
    opened = disk.open(folder / "file", create=True)
    yield opened
    disk.close(opened)


def fails_with(number, act, *arguments, **named):
    with pytest.raises(OSError, match=r"\w") as caught:
        act(*arguments, **named)
    return caught.value.errno == number and caught.value.strerror == os.strerror(number)


def test_what_is_written_is_read_and_every_write_lands_at_the_end(disk, folder, handle):
    other = disk.open(folder / "file", create=True)
    assert [disk.write(handle, b"one,"), disk.write(other, b"two,"), disk.write(handle, b"three")] == [4, 4, 5]
    assert disk.pread(handle, 100, 4) == b"two,three"
    assert disk.pread(other, 3, 0) == b"one"
    assert disk.pread(other, 3, 100) == b""
    assert (disk.size(handle), disk.size(other)) == (13, 13)
    disk.sync(handle)
    disk.sync_folder(folder)
    disk.close(other)


def test_a_file_is_cut_to_a_size(disk, handle):
    disk.write(handle, b"0123456789")
    disk.truncate(handle, 4)
    disk.write(handle, b"x")
    assert disk.pread(handle, 100, 0) == b"0123x"


def test_a_file_is_held_by_one_until_it_is_closed(disk, folder, handle):
    assert disk.lock(handle)
    assert disk.lock(handle)
    other = disk.open(folder / "file", create=False)
    assert not disk.lock(other)
    disk.close(other)
    third = disk.open(folder / "another", create=True)
    assert disk.lock(third)
    disk.close(third)


def test_a_file_that_is_not_there_is_made_only_when_that_is_wanted(disk, folder):
    assert fails_with(errno.ENOENT, disk.open, folder / "file", create=False)
    assert fails_with(errno.ENOENT, disk.open_for_reading, folder / "file")
    assert not disk.exists(folder / "file")
    disk.close(disk.open(folder / "file", create=True))
    disk.close(disk.open_for_reading(folder / "file"))
    assert disk.exists(folder / "file")


def test_a_renamed_file_takes_the_place_of_another(disk, folder):
    for name, content in (("a", b"new"), ("b", b"old")):
        handle = disk.open(folder / name, create=True)
        disk.write(handle, content)
        disk.close(handle)
    disk.rename(folder / "a", folder / "b")
    handle = disk.open_for_reading(folder / "b")
    assert disk.pread(handle, 10, 0) == b"new"
    disk.close(handle)
    assert list(disk.names(folder)) == ["b"]
    disk.unlink(folder / "b")
    assert fails_with(errno.ENOENT, disk.unlink, folder / "b")
    assert fails_with(errno.ENOENT, disk.rename, folder / "b", folder / "c")


def test_a_folder_is_made_with_its_parents_and_as_often_as_one_likes(disk, folder):
    disk.make_folder(folder)
    assert disk.exists(folder)
    assert list(disk.names(folder)) == []
    assert list(disk.names(folder / "nowhere")) == []
    disk.close(disk.open(folder / "file", create=True))
    with pytest.raises(OSError, match=r"\w"):
        disk.make_folder(folder / "file" / "below")


def test_a_handle_that_was_closed_is_none(disk, folder):
    handle = disk.open(folder / "file", create=True)
    disk.close(handle)
    assert fails_with(errno.EBADF, disk.size, handle)


def test_files_and_folders_of_the_machine_are_for_their_owner_only(tmp_path):
    disk, folder = LocalDisk(), tmp_path / "a" / "b"
    disk.make_folder(folder)
    handle = disk.open(folder / "file", create=True)
    (folder / "file").chmod(0o664)
    disk.narrow(handle)
    disk.close(handle)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a", folder, folder / "file")]
    assert modes == [0o700, 0o700, 0o600]


def test_a_link_and_a_fifo_are_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "link", tmp_path / "fifo"):
        with pytest.raises(OSError, match=r"\w"):
            LocalDisk().open_for_reading(path)


def test_the_nth_operation_fails_and_the_next_does_not(tmp_path):
    disk = FaultyDisk(LocalDisk(), Fault(nth=2, operations=frozenset({"write"}), error=errno.ENOSPC))
    handle = disk.open(tmp_path / "file", create=True)
    assert disk.write(handle, b"one") == 3
    assert fails_with(errno.ENOSPC, disk.write, handle, b"two")
    assert disk.write(handle, b"three") == 5
    assert disk.performed == ["open", "write", "write", "write"]
    disk.close(handle)


def test_a_shortened_write_takes_half_and_refuses_the_rest():
    disk = FaultyDisk(MemoryDisk(), Fault(nth=1, effect="shorten", operations=frozenset({"write"}), error=errno.ENOSPC))
    folder = Path("/home")
    disk.make_folder(folder)
    handle = disk.open(folder / "file", create=True)
    assert disk.write(handle, b"0123456789") == 5
    assert fails_with(errno.ENOSPC, disk.write, handle, b"56789")
    assert disk.write(handle, b"x") == 1
    assert disk.pread(handle, 20, 0) == b"01234x"


def test_faults_strike_until_the_disk_is_mended(tmp_path):
    disk = FaultyDisk(LocalDisk(), Fault(nth=1, times=float("inf")))
    for _ in range(3):
        assert fails_with(errno.EIO, disk.open, tmp_path / "file", create=True)
    disk.mend()
    disk.close(disk.open(tmp_path / "file", create=True))


def test_an_operation_can_be_delayed_or_be_the_last(tmp_path):
    slept, killed = [], []
    delays = Fault(nth=1, effect="delay", delay_s=2.5, operations=frozenset({"open"}))
    kills = Fault(nth=1, effect="kill", operations=frozenset({"write"}))
    disk = FaultyDisk(LocalDisk(), delays, kills, kill=lambda: killed.append("now"), sleep=slept.append)
    handle = disk.open(tmp_path / "file", create=True)
    disk.write(handle, b"x")
    disk.close(handle)
    assert (slept, killed) == ([2.5], ["now"])


def test_a_real_delay_takes_its_time(tmp_path):
    disk = FaultyDisk(LocalDisk(), Fault(nth=1, effect="delay", delay_s=0.01))
    began = time.monotonic()
    disk.close(disk.open(tmp_path / "file", create=True))
    assert time.monotonic() - began >= 0.01
