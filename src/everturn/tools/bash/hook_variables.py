"""Variables that hooks set for later commands: a file of `export NAME=value`, read by a shell that runs beside the session."""

import asyncio
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping

from everturn.ports.exports import NEVER_KEPT
from everturn.ports.hooks import FILE_VARIABLES, PROJECT_VARIABLES, Program, Programs
from everturn.ports.shell_folder import ShellFolder
from everturn.tools.bash.exports import MAX_BYTES, MAX_LENGTH
from everturn.tools.bash.shell import find_shell
from everturn.tools.bash.shell_report import VariableChanges, parse_exports, plan_changes
from everturn.workspace.descendants import MARK

MAX_FILE = 1_048_576
"""Bytes of such a file."""
MAX_S = 10.0
"""So long it may take to read one: a value can be what a command prints."""
_OF_HOOKS = frozenset({*FILE_VARIABLES, *PROJECT_VARIABLES, "CLAUDECODE", "CLAUDE_EFFORT"})
"""Hooks are given these; one that writes down all that it has means none of them."""
_READ = '. "$1" >/dev/null 2>&1 </dev/null; export -p'


class HookVariables:
    """`ports.hooks.GivenVariables`."""

    def __init__(self, place: ShellFolder, programs: Programs, environment: Mapping[str, str], folder: str) -> None:
        """`environment`: that of hooks. What commands have exported is no part of it: a hook's file is read with the user's rights."""
        self._place = place
        self._programs = programs
        self._environment = dict(environment)
        self._folder = folder

    def make(self) -> str:
        path = f"{tempfile.mkdtemp(prefix='everturn-env-')}/variables.sh"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return path

    def remove(self, path: str) -> None:
        """With its folder, whatever hooks have put there."""
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)  # noqa: PTH120 (as text)

    async def take(self, path: str) -> str:
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                return "something else stands in the place of their file"
            if status.st_size > MAX_FILE:
                return f"their file holds more than {MAX_FILE:,} bytes"
            changes = await self._read(path) if status.st_size else None
        except TimeoutError:
            return f"to read their file took longer than {MAX_S:g} s"
        except OSError as error:
            return str(error)
        if changes is None:
            return "" if not status.st_size else "their file ends the shell that reads it"
        self._environment = {
            name: value for name, value in self._environment.items() if name not in changes.unset
        } | changes.set
        kept = {
            name: value
            for name, value in changes.set.items()
            if name not in _OF_HOOKS and not NEVER_KEPT.fullmatch(name)
        }
        if sum(map(len, (*kept, *kept.values()))) > MAX_BYTES or any(
            len(value) > MAX_LENGTH for value in kept.values()
        ):
            return "they are too large for programs to start"
        if kept or changes.unset:
            self._place.take_variables(kept, changes.unset)
        return ""

    async def _read(self, path: str) -> VariableChanges | None:
        """None where the shell did not get as far as to tell."""
        reading = Program(
            arguments=(find_shell((self._folder,)), "-c", _READ, "everturn", path),
            environment=self._environment,
            folder=self._folder,
            most_bytes=2 * MAX_FILE,
        )
        async with asyncio.timeout(MAX_S):
            finished = await self._programs.run(reading)
        exported = parse_exports(finished.output)
        return plan_changes(self._environment, exported, without=MARK) if exported else None
