"""The state of a session as one small file, for lists of sessions, which need not ask the program."""

import errno
import os
from collections.abc import Callable
from contextlib import suppress

import msgspec

from everturn.core.jobs import JobReport


def job_writer(path: str, tell: Callable[[str], None]) -> Callable[[JobReport], None]:
    """Returns a function that writes the report; the file is replaced in one step and is readable by its owner only.

    `tell` is called once where the file cannot be written. The folder is looked up each time: a command may replace
    it, or put a link in its place.
    """
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - a path as text
    folder = os.path.realpath(folder)
    known = _identify(folder)
    told: list[str] = []

    def write(report: JobReport) -> None:
        made = f"{name}.{os.urandom(4).hex()}.new"
        try:
            place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if _identify(place) != known:
                    raise OSError(errno.ESTALE, "its folder was replaced")
                _replace(place, made, name, msgspec.json.encode(report) + b"\n")
            finally:
                os.close(place)
        except OSError as error:
            if not told:
                told.append(f"The job file {path} cannot be written: {error.strerror}.")
                tell(told[0])

    return write


def _identify(folder: str | int) -> tuple[int, int] | None:
    with suppress(OSError):
        status = os.stat(folder)  # noqa: PTH116 - a path as text, or a descriptor
        return status.st_dev, status.st_ino
    return None


def _replace(place: int, made: str, name: str, content: bytes) -> None:
    """`made` is nobody's yet: neither a link nor a pipe is written to."""
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=place)
    try:
        try:
            os.write(descriptor, content)
        finally:
            os.close(descriptor)
        os.replace(made, name, src_dir_fd=place, dst_dir_fd=place)
    except OSError:
        with suppress(OSError):
            os.unlink(made, dir_fd=place)
        raise
