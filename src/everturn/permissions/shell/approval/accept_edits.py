"""Which commands of a line run in the mode acceptEdits, each by itself and together with the other parts of the line."""

from functools import cached_property

from everturn.permissions.judgement import JudgedWorld
from everturn.permissions.shell.approval.earlier_changes import EarlierChanges, EditPart
from everturn.permissions.shell.approval.edit_commands import NAMES, Edits, judge_editing, spell_out
from everturn.permissions.shell.approval.taken_along import TreeRules, find_taken_along
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import Command
from everturn.permissions.shell.reading.wrappers import strip_wrappers
from everturn.permissions.shell.running.survey import Survey
from everturn.ports.policy import Ruling

_SHOWN = 80


class LineEdits:
    def __init__(self, survey: Survey, world: JudgedWorld, guard: FileGuard, *, is_ruled: bool) -> None:
        """`is_ruled`: there are rules that keep files from being read or written."""
        self._survey, self._world, self._guard = survey, world, guard
        self._is_ruled = is_ruled

    def find(self, command: Command) -> Edits | None:
        """None where it is no command that changes files, or not plainly so."""
        part = self._parts.get(id(command))
        return None if part is None else part.edits

    def find_refusal(self, command: Command) -> str | None:
        """Why a command that changes files may not run; empty where it may. None for other commands."""
        part = self._parts.get(id(command))
        if part is None:
            return self._find_unfixed(command)
        if command.here is None:
            return f"it changes the folder, and {command.text[:_SHOWN]!r} changes files after that"
        for use, path in part.edits.files:
            if self._guard.judge(use, path, command.here) is not Ruling.ALLOW:
                return f"it {use}s {path[:_SHOWN]}: {self._guard.explain(use, path, command.here)}"
            if use == "write" and not all(self._guard.is_inside_by_name(path, folder) for folder in part.folders):
                return f"it writes {path[:_SHOWN]}: that name is outside the working folder"
        around = TreeRules(
            judge=self._world.judge_file,
            find_protected=self._world.find_protected,
            ruled=self._is_ruled,
            changes=self._changes,
            scratch=self._world.scratch,
        )
        return self._changes.find_conflict(part) or find_taken_along(part, around)

    def _find_unfixed(self, command: Command) -> str | None:
        words = strip_wrappers(command.words)
        if words[0].raw not in NAMES:
            return None
        unfixed = next((word.raw for word in words if word.fixed is None), None)
        return unfixed and f"{unfixed[:_SHOWN]} in {command.text[:_SHOWN]!r} is not one fixed file"

    def find_lost_write(self) -> str:
        """Why it is not known what a redirection writes; empty where it is."""
        return self._changes.find_written_conflict() if self._parts else ""

    @cached_property
    def _parts(self) -> dict[int, EditPart]:
        found: dict[int, EditPart] = {}
        for command in self._survey.reading.commands:
            words = strip_wrappers(command.words)
            if words[0].raw not in NAMES or not words[0].plain:
                continue
            folders = tuple(sorted(command.here or ()))
            spelled = spell_out(words, folders[0]) if len(folders) == 1 else None
            edits = judge_editing(words if spelled is None else spelled.words)
            if edits is not None:
                found[id(command)] = EditPart(
                    edits=edits, folders=folders, globs=() if spelled is None else spelled.globs
                )
        return found

    @cached_property
    def _changes(self) -> EarlierChanges:
        written = [
            place
            for redirect, target in self._guard.targets
            if target.use == "write" and target.path is not None
            for place in resolve(redirect.here, target.path) or ()
        ]
        return EarlierChanges(list(self._parts.values()), written, is_ordered=self._survey.runs_in_order)
