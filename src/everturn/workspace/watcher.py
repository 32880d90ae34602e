"""Tidies up after a program that was killed: a small process that outlives it by a moment and ends its commands (needs /proc)."""

import os
import signal
from contextlib import suppress
from pathlib import Path

_SHELL = "/bin/sh"
_PATH = f"{os.defpath}:/run/current-system/sw/bin"
"""The system's own programs, whatever the PATH says."""
_GRACE_S = 1
_KILLS = "KILL " * 5
"""As long as somebody is found: who was searched for may have started another meanwhile."""
_SCRIPT = f"""
session=$1 seal=$2
shift 2
while IFS= read -r line; do set -- "$@" "$line"; done
find_marked() {{
    grep -lsF -e "$1." /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do echo "$pid"; done
    [ "$2" = 0 ] || grep -lsE "^Max msgqueue size +[0-9]+ +$2 " /proc/[0-9]*/limits | while IFS=/ read -r _ _ pid _; do
        grep -qsF EVERTURN_MARK= "/proc/$pid/environ" || echo "$pid"
    done
}}
for number in TERM {_KILLS}; do
    found=$(find_marked "$session" "$seal")
    [ -n "$found" ] || break
    kill -s "$number" $found
    [ "$number" = KILL ] || sleep {_GRACE_S}
done
[ $# = 0 ] || rm -rf -- "$@"
"""
"""Waits for the end of its input, which nobody but the program can hold open. Each line of it names a folder to remove."""


class Watcher:
    """One per session that runs a command, started before the first one. Costs a shell that sleeps."""

    def __init__(self, session: str, seal: int = 0) -> None:
        """`session`: what the marks of its commands begin with; `seal`: by what those are known that have lost their mark."""
        self._session = session
        self._seal = seal
        self._pid = 0
        self._line = -1
        self._process = os.getpid()

    def part(self, session: str, seal: int) -> None:
        """In a copy of the program (`fork`): the watcher that runs is the other one's."""
        self._pid = 0
        self._hang_up()
        self._session, self._seal, self._process = session, seal, os.getpid()

    def start(self) -> None:
        """Once; and no failure: without it, everything but a killed program ends as it should."""
        if self._pid or not Path("/proc/self/environ").exists():
            return
        heard, self._line = os.pipe()
        try:
            self._pid = os.posix_spawn(
                _SHELL,
                [_SHELL, "-c", _SCRIPT, "everturn-watcher", self._session, str(self._seal)],
                {"PATH": _PATH},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, heard, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                # Neither Ctrl-C nor the end of a terminal is meant for it.
                setsid=True,
            )
        except OSError:
            self._hang_up()
        finally:
            os.close(heard)

    def note_folder(self, folder: str) -> None:
        """It goes with the program."""
        self.start()
        if self._pid and "\n" not in folder:
            # One that is gone can help nobody.
            with suppress(OSError):
                os.write(self._line, os.fsencode(f"{folder}\n"))

    def close(self) -> None:
        """There is nothing left to end."""
        if self._pid and self._process == os.getpid():
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
            self._pid = 0
        self._hang_up()

    def _hang_up(self) -> None:
        if self._line >= 0:
            os.close(self._line)
            self._line = -1
