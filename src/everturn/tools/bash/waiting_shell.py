"""A shell that has started already and waits for its command: to start one takes longer than most commands do."""

import os
import signal
from contextlib import suppress

from everturn.core.patterns import compile_late
from everturn.tools.bash.process import Begun, begin_process
from everturn.tools.bash.shell_report import WORDS, render_waiting
from everturn.workspace.descendants import MARK

_MAX_CHARACTERS = 4_000
"""A shell reads them one by one; and so many fit into a pipe, so that we never wait for it."""
_PLAIN = compile_late(r"[\t\n -~]*")
"""What every shell reads as it is, whatever its locale."""


class WaitingShell:
    """It has done nothing yet, and ends by itself where the program around us ends."""

    def __init__(self, program: str, environment: dict[str, str], mark: str, seal: int) -> None:
        """`environment`: without the mark. `seal`: see `choose_seal`. Raises `OSError` and `ValueError`."""
        self.mark = mark
        self._process = os.getpid()
        self._is_over = False
        self._program, self._environment = program, environment
        heard, self._line = os.pipe()
        try:
            arguments = [program, "-c", render_waiting(seal), "bash"]
            self._begun = begin_process(arguments, mark_environment(environment, mark), descriptors=((heard, WORDS),))
        except BaseException:
            os.close(self._line)
            raise
        finally:
            os.close(heard)

    def fits(self, program: str, environment: dict[str, str]) -> bool:
        """Whether it is what a shell would be that started now. In a copy of the program (`fork`) it is the other one's."""
        return (self._program, self._environment, self._process) == (program, environment, os.getpid())

    def begin(self, words: tuple[str, ...]) -> Begun | None:
        """Once. None where it is gone: then nothing has run."""
        try:
            os.write(self._line, "".join(f"{word}\0" for word in words).encode())
        except OSError:
            self.close()
            return None
        os.close(self._line)
        self._is_over = True
        return self._begun

    def close(self) -> None:
        """Nobody wants it. After `begin` it does nothing."""
        if self._is_over:
            return
        self._is_over = True
        for descriptor in (self._line, self._begun.output, self._begun.report):
            os.close(descriptor)
        if self._process == os.getpid():
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._begun.pid, signal.SIGKILL)
                os.waitpid(self._begun.pid, 0)


def mark_environment(given: dict[str, str], mark: str) -> dict[str, str]:
    """A command inside a command has the outer marks, too."""
    outer = given.get(MARK)
    return given | {MARK: f"{outer}:{mark}" if outer else mark}


def can_be_told(words: tuple[str, ...]) -> bool:
    return sum(map(len, words)) < _MAX_CHARACTERS and all(_PLAIN.fullmatch(word) for word in words)
