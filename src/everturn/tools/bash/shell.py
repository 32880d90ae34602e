"""The shell of a session, without a process: where the last command left off, and what it had exported."""

import os
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import msgspec

from everturn.ports.shell_folder import ShellFolder
from everturn.tools.bash.members import MARK, find_members
from everturn.tools.bash.report import Changes, Report, parse_exports, plan_changes, render_telling
from everturn.workspace.paths import is_inside

_SECRETS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "BRAVE_API_KEY"})
_NOBODY_ANSWERS = {
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "PAGER": "cat",
    "SSH_ASKPASS_REQUIRE": "never",
}
"""Programs that would page, ask or open an editor do without. A command may export something else."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """What one command begins with."""

    arguments: list[str]
    environment: dict[str, str]
    generation: int
    """Of what is known: the same number, the same variables but for the mark."""
    mark: str
    folder: str
    notice: str
    """Where the command cannot begin where the last one ended."""


class Shell:
    """Commands may overlap: each begins with what is known then, and what it changed is added at its end."""

    def __init__(self, place: ShellFolder | None = None) -> None:
        """`place` is told where the next command starts."""
        self._place = place or ShellFolder()
        self._previous = ""
        self._set: dict[str, str] = {}
        self._unset: frozenset[str] = frozenset()
        self._inherited = {name: value for name, value in os.environ.items() if name not in _SECRETS} | _NOBODY_ANSWERS
        self._generation = 0
        self._unchanged: tuple[int, bytes] | None = None
        """What a shell told that had changed nothing: most of them do, and to read it again takes time."""
        self.session = os.urandom(8).hex()
        """All marks of its commands begin with it, and a dot."""
        self._count = 0

    def plan_start(self, command: str, project: str) -> Start:
        folder, notice = self._starting_folder(project)
        self._count += 1
        mark = f"{self.session}.{self._count}"
        return Start(
            arguments=plan_arguments(command, folder, self._previous, os.environ.get("PATH")),
            environment=self._environment(mark),
            generation=self._generation,
            mark=mark,
            folder=folder,
            notice=notice,
        )

    def learn(self, start: Start, report: Report, project: str) -> str:
        """A notice when the command ended outside the project."""
        told = start.generation, report.exported.replace(start.mark.encode(), b"")
        if told != self._unchanged:
            changes = plan_changes(start.environment, parse_exports(report.exported), without=MARK)
            if changes.set or changes.unset:
                self._take(changes)
            else:
                self._unchanged = told
        self._previous = report.previous
        return self._move_to(report.folder, project)

    @property
    def folder(self) -> str:
        """Where the next command starts, if that can be told in text; empty for the project's folder."""
        path = self._place.path or ""
        return path if is_text(path) else ""

    @property
    def exported(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self._set if is_text(name)))

    def find_left_behind(self, known: Collection[int] = ()) -> list[int]:
        """Processes of all commands that are still there."""
        prefix = f"{self.session}."
        return find_members(lambda marks: any(mark.startswith(prefix) for mark in marks), known=known)

    def _take(self, changes: Changes) -> None:
        self._generation += 1
        self._set = {name: value for name, value in self._set.items() if name not in changes.unset} | changes.set
        self._unset = (self._unset - changes.set.keys()) | changes.unset

    def _environment(self, mark: str) -> dict[str, str]:
        given = self._inherited | self._set
        for name in self._unset:
            given.pop(name, None)
        outer = self._inherited.get(MARK)
        given[MARK] = f"{outer}:{mark}" if outer else mark
        return given

    def _starting_folder(self, project: str) -> tuple[str, str]:
        if self._place.path is None:
            return project, ""
        if Path(self._place.path).is_dir() and is_inside(project, self._place.path):
            return self._place.path, ""
        gone, self._place.path = self._place.path, None
        return project, f"The folder {gone} is gone; the command ran in {project}"

    def _move_to(self, reported: str, project: str) -> str:
        if reported in {"", project}:
            # Empty: the command removed the folder that it stood in.
            self._place.path = None
            return "" if reported else f"The shell's folder is gone; the next command runs in {project}"
        folder = os.path.realpath(reported)
        if is_inside(project, folder):
            self._place.path = folder
            return ""
        self._place.path = None
        return f"Shell cwd was reset to {project}"


def is_text(name: str) -> bool:
    return name.isprintable()


def plan_arguments(command: str, folder: str, previous: str, path: str | None) -> list[str]:
    shell = find_shell(path)
    telling = render_telling(numbered=shell.endswith("bash"))
    # `eval` keeps the trap out of the shell's own messages about the command, and their line numbers right.
    moved = "OLDPWD=$3" if previous else "unset OLDPWD"
    script = f'cd -- "$2" || exit; {moved}; trap \'{telling}\' EXIT; __command=$1; set --; eval "$__command"'
    return [shell, "-c", script, "bash", command, folder, previous]


@lru_cache(maxsize=1)
def find_shell(path: str | None) -> str:
    from shutil import which

    return which("bash", path=path) or "/bin/sh"
