"""Ends what a bound thread has started, and nobody else: a process outside shows whether the thread is bound.

A thread that Landlock's rules bind reaches no process with a signal but those under the same rules. So one SIGKILL to everybody ends what
the thread has started. A thread that is not bound would end all that the user runs: before the signal it is tried out on a witness.
"""

import os
import signal
from contextlib import suppress

_INIT = 1
_SHELL = "/bin/sh"
_WAITING = "read -r line"


class Witness:
    """A process that no command of ours has started. Our parent is one, or the first process; where we reach neither, we start one."""

    def __init__(self) -> None:
        self._own = 0
        self._line = -1

    def find(self) -> int:
        """Only for a thread that is not bound: it reaches the witness. Raises `OSError`."""
        for pid in (os.getppid(), _INIT, self._own):
            # 0 is a parent outside our view of processes; a signal to 0 would be one to our own group.
            if pid > 0 and pid != os.getpid() and is_reached(pid):
                return pid
        self.close()
        return self._start()

    def close(self) -> None:
        if self._own:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._own, signal.SIGKILL)
                os.waitpid(self._own, 0)
            self._own = 0
        if self._line >= 0:
            os.close(self._line)
            self._line = -1

    def _start(self) -> int:
        """It waits for input that never comes, and ends when we do."""
        heard, self._line = os.pipe()
        try:
            self._own = os.posix_spawn(
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
        finally:
            os.close(heard)
        return self._own


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
