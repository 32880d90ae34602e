"""Disks that fail for real: a small one that is full, and one that is mounted read-only, where we may mount; else the nearest thing."""

import resource
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

ROOM = 65_536
"""Bytes."""


@contextmanager
def mounted(folder: Path, *options: str):
    """Gives whether it could be mounted."""
    mount = shutil.which("mount")
    done = mount is not None and _run(mount, "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder))
    try:
        yield done
    finally:
        if done:
            _run("umount", str(folder))


@contextmanager
def small_disk(folder: Path):
    """Has room for less than `ROOM`."""
    with mounted(folder, f"size={ROOM}") as done:
        if done:
            yield
        else:
            with files_end_at(ROOM):
                yield


@contextmanager
def locked_disk(folder: Path):
    """Gives a function after which nothing can be written there any more."""
    with mounted(folder, f"size={ROOM}") as done:

        def lock() -> None:
            if done:
                assert _run("mount", "-o", "remount,ro", str(folder))
            else:
                for path in (*folder.iterdir(), folder):
                    path.chmod(0o555 if path.is_dir() else 0o444)

        yield lock
        if not done:
            folder.chmod(0o755)


@contextmanager
def files_end_at(size: int):
    """The system's own limit on a file's size: a write breaks off in the middle."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def _run(*words: str) -> bool:
    return subprocess.run(words, check=False, capture_output=True, timeout=60).returncode == 0
