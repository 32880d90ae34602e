"""Putting a whole new file in the place of an old one in a single step, so that no reader ever sees half of it."""

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from everturn.core.errors import ToolFault
from everturn.ports.files import Stamp
from everturn.workspace.failures import explain_failure
from everturn.workspace.opening import OpenFile, Place, open_in, refuse_special

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 1 << 20
_MAX_WAIT_S = 3.0
"""Ours are held while a file is read once more: of the largest that are changed, under a second."""
_A_MOMENT_S = 0.002


def replace_in(place: Place, data: bytes, *, like: Stamp | None) -> Stamp:
    """Writes beside the file and renames, all inside the folder that the place holds. Keeps mode and owner.

    `like` is the file as it was read: if it changed since, nothing is written. None: nothing may be there yet.
    On any failure what was there is untouched and nothing is left beside it. Raises `ToolFault`.
    """
    try:
        before = None if like is None else _status_before(place)
        with _written_beside(place, data, before) as (beside, status):
            if like is None:
                _settle_new(place, beside)
            else:
                with _held_alone(place) as now:
                    _refuse_changed(now, like)
                    os.replace(beside, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except OSError as error:
        raise explain_failure(error, place.path) from None
    _sync_folder(place)
    return stamp_of(data, status)


def stamp_of(data: bytes, status: os.stat_result) -> Stamp:
    from hashlib import sha256

    return Stamp(size=len(data), mtime_ns=status.st_mtime_ns, digest=sha256(data).hexdigest())


def load_digest(file: OpenFile) -> str:
    from hashlib import sha256

    digest = sha256()
    os.lseek(file.descriptor, 0, os.SEEK_SET)
    while piece := os.read(file.descriptor, _PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _status_before(place: Place) -> os.stat_result:
    status = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    refuse_special(place.path, status)
    if not os.access(place.name, os.W_OK, dir_fd=place.folder):
        raise ToolFault(f"{place.path} is read-only.")
    return status


@contextmanager
def _written_beside(place: Place, data: bytes, before: os.stat_result | None) -> Iterator[tuple[str, os.stat_result]]:
    """The name of a file that is on the disk as it shall be; gone at the end, unless it was renamed."""
    beside = f".everturn-{os.urandom(8).hex()}.new"
    # A new file gets the mode the umask leaves; a replaced one stays private until it has its old mode.
    descriptor = os.open(beside, _NEW, 0o600 if before else 0o666, dir_fd=place.folder)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            _write_all(file.fileno(), data)
            if before:
                _take_over(descriptor, before)
            os.fsync(descriptor)
            status = os.fstat(descriptor)
        yield beside, status
    finally:
        with suppress(OSError):
            os.unlink(beside, dir_fd=place.folder)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _settle_new(place: Place, beside: str) -> None:
    """A second name instead of a rename: it fails where somebody else's file stands, however late that came."""
    try:
        os.link(beside, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except FileExistsError:
        raise ToolFault(f"{place.path} exists already. Read it before you overwrite it.") from None
    except OSError:
        # A file system without second names.
        with suppress(FileNotFoundError):
            os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
            raise ToolFault(f"{place.path} exists already. Read it before you overwrite it.") from None
        os.replace(beside, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)


def _refuse_changed(now: OpenFile, like: Stamp) -> None:
    if load_digest(now) != like.digest:
        raise ToolFault(f"{now.path} has changed on disk since it was read. Read it again before you change it.")


@contextmanager
def _held_alone(place: Place) -> Iterator[OpenFile]:
    """The file as it is, while no other session can replace it: one of two that look and replace at once must see the other."""
    while True:
        with open_in(place) as file:
            _lock(file)
            if _is_still_there(place, file):
                yield file
                return


def _lock(file: OpenFile) -> None:
    """Raises `ToolFault` where somebody holds it for long: without it, of two that replace the file one could be lost."""
    until = time.monotonic() + _MAX_WAIT_S
    while True:
        try:
            fcntl.flock(file.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise ToolFault(
                    f"{file.path} is locked by another program, which may be about to write it. It was not changed; try again, "
                    "or find out with a command who holds it (`fuser`, `lsof`)."
                ) from None
            time.sleep(_A_MOMENT_S)
        except OSError:
            # Some network file systems know no locks.
            return
        else:
            return


def _is_still_there(place: Place, file: OpenFile) -> bool:
    """False where somebody replaced it while we waited."""
    named = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    return (named.st_dev, named.st_ino) == (file.status.st_dev, file.status.st_ino)


def _take_over(descriptor: int, before: os.stat_result) -> None:
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (before.st_uid, before.st_gid):
        # Only root may give a file away; for others the file becomes theirs, as with any editor.
        with suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _sync_folder(place: Place) -> None:
    # Some file systems refuse to sync a folder; the rename itself has happened.
    with suppress(OSError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=place.folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
