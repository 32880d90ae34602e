"""Ends the processes of a confined thread and no others: a process outside shows whether the thread is confined.

A thread that Landlock's rules bind reaches no process with a signal but those under the same rules. So one SIGKILL to everybody ends what
the thread has started. A thread that is not bound would end all that the user runs: before the signal it is tried out on a witness.
"""

import os
import signal
import threading
from contextlib import suppress

import msgspec

_INIT = 1
_SHELL = "/bin/sh"
_WAITING = "read -r line"


class _Started(msgspec.Struct, frozen=True):
    """A witness of our own."""

    starter: int
    """The process that started it: a copy of that (`fork`) starts another."""
    pid: int


_started: list[_Started] = []
"""At most one: all sessions of this process share it."""
_starting = threading.Lock()


def find_witness() -> int:
    """Only for a thread that is not bound: a process that it reaches, and that no command of ours has started.

    Our parent is one, or the first process. Where we reach neither, we start one. Raises `OSError`.
    """
    for pid in (os.getppid(), _INIT):
        # 0 is a parent outside our view of processes; a signal to 0 would be one to our own group.
        if pid > 0 and pid != os.getpid() and is_reached(pid):
            return pid
    with _starting:
        if not _started or _started[0].starter != os.getpid() or not is_reached(_started[0].pid):
            _started[:] = [_Started(os.getpid(), _start())]
        return _started[0].pid


def _start() -> int:
    """It waits for input that never comes, and ends when we do, since nobody else has the other end."""
    heard, line = os.pipe()
    try:
        return os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _WAITING, "everturn-witness"],
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, heard, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            # Neither Ctrl-C nor the end of a terminal is meant for it.
            setsid=True,
        )
    except OSError:
        os.close(line)
        raise
    finally:
        os.close(heard)


def is_reached(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def kill_reachable(witness: int) -> bool:
    """SIGKILL to all whom the calling thread reaches. False: it reaches the witness too, is not bound, and has done nothing.

    All in one step: between a look and a signal a process may have started another and be gone, again and again. Whoever has
    this signal starts no other.
    """
    if witness <= 0 or is_reached(witness):
        return False
    # Where there are only the first process and we, there is nobody to be sent it.
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    return True
