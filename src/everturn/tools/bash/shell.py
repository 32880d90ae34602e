"""The state of the shell between commands, without a process: folder and exported variables."""

import asyncio
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from enum import Enum
from functools import lru_cache
from shutil import which

import msgspec

from everturn.ports.exports import is_handed_on
from everturn.ports.scratch import NO_SCRATCH, VARIABLE, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.tools.bash.exports import judge_exports
from everturn.tools.bash.shell_report import (
    ShellReport,
    VariableChanges,
    parse_exports,
    plan_changes,
    render_failing,
    render_script,
    render_seal,
)
from everturn.tools.bash.waiting_shell import WaitingShell, can_be_told, mark_environment
from everturn.workspace.descendants import MARK, choose_seal, find_members
from everturn.workspace.paths import find_start, is_inside, shorten
from everturn.workspace.programs import find_program

_SECRETS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "BRAVE_API_KEY"})
NOBODY_ANSWERS = {
    # What only looks writes nothing: `git status` would put its findings into the index.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "PAGER": "cat",
    "SSH_ASKPASS_REQUIRE": "never",
}
"""Programs that would page, ask or open an editor do without. A command may export something else."""


_BUILTINS = frozenset({
    ".", ":", "[", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command", "compgen",
    "complete", "compopt", "continue", "declare", "dirs", "disown", "echo", "enable", "eval", "exec", "exit",
    "export", "false", "fc", "fg", "getopts", "hash", "help", "history", "jobs", "kill", "let", "local",
    "logout", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "set",
    "shift", "shopt", "source", "suspend", "test", "times", "trap", "true", "type", "typeset", "ulimit",
    "umask", "unalias", "unset", "wait",
})  # fmt: skip
_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MOMENT_S = 0.0005
_MAX_WAITING_S = 60.0
"""So long a shell waits for its command: an idle session keeps none."""
_MAX_PATH_LENGTH = 4_096
"""Bytes: the kernel takes no longer one."""


class Side(Enum):
    """Of the walls around commands: what is exported on one side does not count on another."""

    OUTSIDE = "outside"
    SANDBOX = "sandbox"
    HELD = "held"
    """Nobody approved the command: nothing of it is taken over but the folder that it ended in."""


class CommandStart(msgspec.Struct, frozen=True, kw_only=True):
    """What one command begins with."""

    arguments: list[str]
    environment: dict[str, str]
    generation: int
    """Of what is known: the same number, the same variables but for the mark."""
    side: "Side"
    mark: str
    folder: str
    notice: str
    """Where the command cannot begin where the last one ended."""
    scratch: str
    """Where it puts temporary files; empty where there is no such folder."""
    words: tuple[str, str, str]
    """The command, its folder, and what `cd -` would go to."""
    waiting: WaitingShell | None = None
    """Takes the words in place of a shell that is started with `arguments`. Whoever has this value begins it, or closes it."""


class Exported:
    """On one side."""

    def __init__(self) -> None:
        self.set: dict[str, str] = {}
        self.unset: frozenset[str] = frozenset()
        self.generation = 0
        self.unchanged: tuple[int, bytes] | None = None
        """What a shell told that had changed nothing: most of them do, and to read it again takes time."""

    def take(self, changes: VariableChanges) -> None:
        self.generation += 1
        self.set = {name: value for name, value in self.set.items() if name not in changes.unset} | changes.set
        self.unset = (self.unset - changes.set.keys()) | changes.unset


class Shell:
    """Commands may overlap: each begins with what is known then, and what it changed is added at its end."""

    def __init__(
        self,
        place: ShellFolder | None = None,
        scratch: Scratch = NO_SCRATCH,
        *,
        max_waiting_s: float = _MAX_WAITING_S,
    ) -> None:
        """`place` is told where the next command starts. `scratch`: where commands put temporary files."""
        self._place = place or ShellFolder()
        self._scratch = scratch
        self._scratch_folder = ""
        """As the last command was given it."""
        self._exported = {side: Exported() for side in Side}
        self._inherited = plan_inherited(os.environ)
        self._waiting: WaitingShell | None = None
        self._max_waiting_s = max_waiting_s
        self._next_step: asyncio.TimerHandle | None = None
        """To start the one that waits, or to end it."""
        self._closed = False
        self.begin()
        self._place.hand_variables_to(self._take_variables)

    def begin(self) -> None:
        """With a mark of its own: a copy of the program (`fork`) would end the commands of the other by one that both have."""
        self.process = os.getpid()
        self.session = os.urandom(8).hex()
        """All marks of its commands begin with it, and a dot."""
        self.seal = choose_seal()
        self._count = 0
        # In a copy, the one that waits is not ours to end: only our ends of its pipes are closed.
        self._end_waiting()

    def plan_start(self, command: str, folders: tuple[str, ...], side: Side = Side.OUTSIDE) -> CommandStart:
        """`folders`: those that are worked in, the project first."""
        self._closed = False
        folder, notice = self._starting_folder(folders[0])
        program = find_shell(folders)
        words = command, folder, self._place.previous
        self._scratch_folder = self._scratch.make()
        given = self._plan_environment(self._exported[side])
        waiting = self._claim(program, given, words) if side is Side.OUTSIDE else None
        mark = waiting.mark if waiting is not None else self._next_mark()
        return CommandStart(
            arguments=plan_arguments(
                *words, program, seal=0 if side is Side.HELD else self.seal, alone=side is Side.HELD
            ),
            environment=mark_environment(given, mark),
            generation=self._exported[side].generation,
            side=side,
            mark=mark,
            folder=folder,
            notice=notice,
            scratch=self._scratch_folder,
            words=words,
            waiting=waiting,
        )

    def prepare(self, folders: tuple[str, ...]) -> None:
        """Soon there is a shell that waits for the next command outside of all walls. Without one, that takes longer.

        Not at once: what has ended is on its way to the model first.
        """
        if self._closed:
            # The command was ended with the session.
            return
        if self._next_step is not None:
            self._next_step.cancel()
        self._next_step = asyncio.get_running_loop().call_later(_MOMENT_S, self._start_waiting, folders)

    def close(self) -> None:
        """No other command comes, or it begins anew."""
        self._closed = True
        if self._next_step is not None:
            self._next_step.cancel()
        self._end_waiting()

    def _start_waiting(self, folders: tuple[str, ...]) -> None:
        program = find_shell(folders)
        if self._waiting is None and program.endswith("bash"):
            given = self._plan_environment(self._exported[Side.OUTSIDE])
            with suppress(OSError, ValueError):
                self._waiting = WaitingShell(program, given, self._next_mark(), self.seal)
        self._next_step = asyncio.get_running_loop().call_later(self._max_waiting_s, self._end_waiting)

    def _end_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None

    def _claim(self, program: str, given: dict[str, str], words: tuple[str, str, str]) -> WaitingShell | None:
        """The one that waits, where it is what a shell would be that started now."""
        if self._waiting is None or not can_be_told(words):
            return None
        waiting, self._waiting = self._waiting, None
        if waiting.fits(program, given):
            return waiting
        waiting.close()
        return None

    def learn(self, start: CommandStart, report: ShellReport, project: str, command: str) -> str:
        """A notice when the command ended outside the project, or exported what matters to others."""
        told = "" if start.side is Side.HELD else self._learn_exports(start, report, command)
        if _is_path(report.previous) and (
            start.side is Side.OUTSIDE or is_inside(project, os.path.realpath(report.previous))
        ):
            self._place.previous = report.previous
        return "; ".join(notice for notice in (self._move_to(report.folder, project), told) if notice)

    @property
    def stand(self) -> tuple[str | None, str]:
        """Where the next command starts, and what `cd -` means to it."""
        return self._place.path, self._place.previous

    def go_back(self, stand: tuple[str | None, str]) -> None:
        self._place.path, self._place.previous = stand

    def _learn_exports(self, start: CommandStart, report: ShellReport, command: str) -> str:
        if not report.exported:
            # Every shell has some variables: this one did not run the command.
            return ""
        exported = self._exported[start.side]
        told = start.generation, report.exported.replace(start.mark.encode(), b"")
        if told == exported.unchanged:
            return ""
        changes = plan_changes(start.environment, parse_exports(report.exported), without=MARK)
        if not (changes.set or changes.unset):
            exported.unchanged = told
            return ""
        taken = judge_exports(changes, exported.set, command)
        if taken.changes.set or taken.changes.unset:
            exported.take(taken.changes)
        self._tell_exports()
        return taken.notice

    def _take_variables(self, given: Mapping[str, str], unset: frozenset[str]) -> None:
        """Of hooks: outside of walls and in the sandbox. Commands that nobody approved do without."""
        for side in (Side.OUTSIDE, Side.SANDBOX):
            self._exported[side].take(VariableChanges(dict(given), unset))
        self._tell_exports()

    def _tell_exports(self) -> None:
        self._place.exports = self._exported[Side.OUTSIDE].set
        self._place.sandboxed = self._exported[Side.SANDBOX].set
        self._place.unset = {
            side is Side.SANDBOX: self._exported[side].unset & self._inherited.keys()
            for side in (Side.OUTSIDE, Side.SANDBOX)
        }
        self._place.exported = frozenset(name for each in self._exported.values() for name in each.set)
        self._place.changed = self._place.exported.union(*(each.unset for each in self._exported.values()))

    @property
    def folder(self) -> str:
        """Where the next command starts, if that can be told in text; empty for the project's folder."""
        path = self._place.path or ""
        return path if is_text(path) else ""

    @property
    def exported(self) -> tuple[str, ...]:
        """By name, on every side."""
        return tuple(sorted({name for each in self._exported.values() for name in each.set if is_text(name)}))

    def find_left_behind(self, known: Collection[int] = ()) -> list[int]:
        """Processes of all commands that are still there."""
        if self.process != os.getpid():
            return []
        prefix = f"{self.session}."
        return find_members(lambda marks: any(mark.startswith(prefix) for mark in marks), known=known, seal=self.seal)

    def _next_mark(self) -> str:
        self._count += 1
        return f"{self.session}.{self._count}"

    def _plan_environment(self, exported: Exported) -> dict[str, str]:
        """But for the mark."""
        scratch = self._scratch_folder
        given = self._inherited | ({VARIABLE: scratch} if scratch else {}) | exported.set
        for name in exported.unset:
            given.pop(name, None)
        return given

    def _starting_folder(self, project: str) -> tuple[str, str]:
        folder = find_start(self._place, project)
        lost, self._place.lost = self._place.lost, ""
        what = "cannot be entered" if lost and os.path.lexists(lost) else "is gone"
        return folder, f"The folder {lost} {what}; the command ran in {folder}" if lost else ""

    def _move_to(self, reported: str, project: str) -> str:
        before = self._place.path or project
        if reported in {"", project}:
            # Empty: the command removed the folder that it stood in, or its shell could not go there.
            self._place.path = None
            moved = "The shell is back in the working folder" if before != project else ""
            return moved if reported else "The shell's folder is gone; the next command runs in the working folder"
        folder = os.path.realpath(reported) if _is_path(reported) else ""
        if is_inside(project, folder):
            self._place.path = folder
            return f"The shell is now in {render_folder(folder, project)}" if folder != before else ""
        self._place.path = None
        place = f"in {folder}, outside" if is_text(folder) and folder else "outside"
        return f"The command ended {place} the working folder; the next one starts in the working folder"


def render_folder(folder: str, project: str) -> str:
    """For the model: relative to the working folder, as other tools take paths."""
    return f"{shorten(project, folder).rstrip('/')}/"


def plan_inherited(given: Mapping[str, str]) -> dict[str, str]:
    """Of our own environment: neither secrets, nor what would make of a command another one than was judged (`CDPATH`, `BASH_ENV`)."""
    kept = {
        name: value
        for name, value in given.items()
        if name not in _SECRETS and is_handed_on(name, _is_program_of_system)
    }
    return kept | NOBODY_ANSWERS


def _is_program_of_system(name: str) -> bool:
    return name in _BUILTINS or which(name, path=_SYSTEM) is not None


def _is_path(text: str) -> bool:
    """A command may tell anything: what no system call takes would keep every later command from starting."""
    return text.startswith("/") and len(os.fsencode(text)) < _MAX_PATH_LENGTH


def is_text(name: str) -> bool:
    return name.isprintable()


def plan_arguments(
    command: str, folder: str, previous: str, shell: str, *, seal: int = 0, alone: bool = False
) -> list[str]:
    """`seal`: see `choose_seal`. `alone`: the folder is all that is told at the end."""
    numbered = shell.endswith("bash")
    running = render_script(numbered=numbered, folder_alone=alone)
    # `eval` keeps the trap out of the shell's own messages about the command, and their line numbers right.
    moved = "OLDPWD=$3" if previous else "unset OLDPWD"
    script = f'{render_seal(seal)}cd -- "$2" || {render_failing(numbered=numbered)}; {moved}; __command=$1; {running}'
    return [shell, "-c", script, "bash", command, folder, previous]


@lru_cache(maxsize=32)
def find_shell(folders: tuple[str, ...]) -> str:
    """Found once, and never in a folder that commands work in."""
    return find_program("bash", folders) or "/bin/sh"
