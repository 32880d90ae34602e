"""A replacement that fails leaves everything as it was."""

import fcntl
import os
import resource
import shutil
import signal
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from everturn.core.errors import ToolFault
from everturn.workspace.files import read_file, replace_file, replace_text
from everturn.workspace.opening import open_for_reading


@contextmanager
def disk_full_after(size):
    """The system's own limit on a file's size: the write breaks off in the middle, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_write_that_breaks_off_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")

    with disk_full_after(1_000), pytest.raises(ToolFault, match=r"could not be written.*What was there is untouched"):
        replace_file(str(path), "x" * 10_000, like=read_file(str(path)))

    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_new_file_that_breaks_off_is_not_there(tmp_path):
    with disk_full_after(1_000), pytest.raises(ToolFault, match="could not be written"):
        replace_file(str(tmp_path / "a"), "x" * 10_000)

    assert names(tmp_path) == []


def test_a_disk_that_cannot_be_written_is_named():
    with pytest.raises(ToolFault, match=r"/sys/kernel/new: |could not be written"):
        replace_file("/sys/kernel/new", "x")


def test_owner_and_mode_are_those_of_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o2750)
    if os.geteuid() == 0:
        shutil.chown(path, 1234, 4321)
        path.chmod(0o2750)
    before = path.stat()

    replace_file(str(path), "new", like=read_file(str(path)))

    after = path.stat()
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert stat.S_IMODE(after.st_mode) == stat.S_IMODE(before.st_mode)


def test_a_folder_moved_away_between_reading_and_writing_takes_the_write_along(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one/a").write_text("old")
    with open_for_reading(str(tmp_path / "one/a")) as file:
        seen = read_file(str(tmp_path / "one/a"))
        (tmp_path / "one").rename(tmp_path / "two")
        (tmp_path / "one").mkdir()
        (tmp_path / "one/a").write_text("old")
        replace_text(file.place, "new", like=seen)

    assert (tmp_path / "one/a").read_text() == "old"
    assert (tmp_path / "two/a").read_text() == "new"


def test_a_file_that_another_program_keeps_locked_is_not_replaced_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    seen = read_file(str(path))

    with path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ToolFault, match="is locked by another program, which may be about to write it"):
            replace_file(str(path), "new", like=seen)

    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]
    replace_file(str(path), "new", like=seen)
    assert path.read_text() == "new"


def test_who_waits_for_another_replacement_sees_it_and_does_not_undo_it(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    seen = read_file(str(path))

    with ThreadPoolExecutor() as pool, path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        waiting = pool.submit(replace_file, str(path), "mine", like=seen)
        (tmp_path / "b").write_text("theirs")
        (tmp_path / "b").replace(path)
        fcntl.flock(other, fcntl.LOCK_UN)
        with pytest.raises(ToolFault, match="has changed on disk"):
            waiting.result()

    assert path.read_text() == "theirs"
