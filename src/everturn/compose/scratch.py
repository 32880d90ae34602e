"""The scratch folder of an engine: made when the first command, or a denial that names it, needs it; removed with the session."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everturn.sandbox.temporary import Temporary


class SessionScratch:
    """`ports.scratch.Scratch`. A session that needs none makes none."""

    def __init__(self) -> None:
        self._made: Temporary | None = None
        self._process = os.getpid()

    def find(self) -> str:
        if self._made is None or self._process != os.getpid() or not self._made.is_there:
            return ""
        return self._made.path

    def make(self) -> str:
        if path := self.find():
            return path
        from everturn.sandbox.temporary import SCRATCH_PREFIX, Temporary

        self.close()
        try:
            self._made, self._process = Temporary(prefix=SCRATCH_PREFIX), os.getpid()
        except OSError:
            return ""
        return self._made.path

    def find_used(self) -> str:
        return "" if self._made is None or self._made.is_empty else self.find()

    def close(self) -> None:
        """Removes the folder with all that is in it. A copy of the program leaves the folder to the other one."""
        made, self._made = self._made, None
        if made is not None and self._process == os.getpid():
            made.close()
