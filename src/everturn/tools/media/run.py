"""Starts the child process for one job, waits for it, and ends it if it takes too long or is not needed any more."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import msgspec

from everturn.core.errors import ToolFault
from everturn.tools.media.jobs import Job, MediaAnswer
from everturn.workspace.load_paths import CHILD, encode_child, list_libraries

_MAX_WAIT_S = 60.0
_GLANCE_S = 0.1
_KEPT = ("LANG", "LC_ALL", "TMPDIR")
"""What decoders may know of our environment: no key is among it, and no place to find programs in."""
_MAIN = f"{CHILD}from everturn.tools.media.child import main\nmain()\n"


def run_job(
    job: Job, source: int | bytes, folders: tuple[str, ...], *, stop: Callable[[], bool] = lambda: False
) -> MediaAnswer:
    """Blocks. `source` is a descriptor to read from its beginning, or the bytes themselves. `folders`: those that are worked in.

    What goes wrong with the file is the answer's `problem`. Raises `ToolFault` when `stop` says so.
    """
    try:
        with _opened(source) as descriptor:
            os.lseek(descriptor, 0, os.SEEK_SET)
            child = _start(job, descriptor, folders)
    except OSError as error:
        return MediaAnswer(problem=f"cannot be shown: the decoder did not start ({error.strerror})")
    with child:
        try:
            out = _wait(child, stop)
        finally:
            if child.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
    try:
        return msgspec.json.decode(out, type=MediaAnswer)
    except msgspec.DecodeError:
        return MediaAnswer(problem="is too much for its decoder (it crashed, or took too much time or memory)")


@contextmanager
def _opened(source: int | bytes) -> Iterator[int]:
    """A file and no pipe: a wait that is cut short, to see whether to stop, forgets what it had not sent yet."""
    if isinstance(source, int):
        yield source
        return
    from tempfile import TemporaryFile

    with TemporaryFile(buffering=0) as file:
        file.write(source)
        yield file.fileno()


def _start(job: Job, source: int, folders: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _MAIN, encode_child(folders), msgspec.json.encode(job).decode()],
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _KEPT if name in os.environ} | list_libraries(folders),
        start_new_session=True,
    )


def _wait(child: "subprocess.Popen[bytes]", stop: Callable[[], bool]) -> bytes:
    """Empty when the time is over."""
    deadline = time.monotonic() + _MAX_WAIT_S
    while time.monotonic() < deadline:
        if stop():
            raise ToolFault("The reading was interrupted.")
        try:
            out, _ = child.communicate(timeout=_GLANCE_S)
        except subprocess.TimeoutExpired:
            continue
        return out
    return b""
