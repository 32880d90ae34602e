"""What deny and ask rules may cover, although only running the line would show it. Such lines are asked about in every mode and in a sandbox."""

from functools import cached_property

from everturn.permissions.judgement import JudgedWorld
from everturn.permissions.rules.rule import RuleSet
from everturn.permissions.shell.files.clearness import find_unclear
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.files.opened_files import OpenedFiles
from everturn.permissions.shell.files.possible_writes import PossibleWrites
from everturn.permissions.shell.files.read_doubts import ReadDoubts
from everturn.permissions.shell.files.write_doubts import WriteDoubts
from everturn.permissions.shell.running.command_doubts import CommandDoubts
from everturn.permissions.shell.running.survey import Survey
from everturn.ports.policy import Ruling


class Doubts:
    """About one line."""

    def __init__(self, survey: Survey, rules: RuleSet, world: JudgedWorld, guard: FileGuard) -> None:
        self._survey, self._rules, self._world, self._guard = survey, rules, world, guard
        self._files = OpenedFiles(survey, world, guard)
        self._write_rules = tuple(
            rule
            for tool, ruling in (("Edit", Ruling.DENY), ("Edit", Ruling.ASK), ("Read", Ruling.DENY))
            for rule in rules.covering(tool, ruling)
        )

    def find(self) -> str:
        """Why a person must be asked; empty where no rule can cover more than was seen."""
        return self.find_command() or self.find_file()

    def find_protected(self) -> str:
        """Why a rule that allows the line is not enough, because it may write a protected path; empty where it may not."""
        return self._possible.find_protected()

    @cached_property
    def _possible(self) -> PossibleWrites:
        return PossibleWrites(self._survey, self._world, self._guard, self._files)

    def find_command(self) -> str:
        """About what runs."""
        return CommandDoubts(self._survey, self._rules).find()

    def find_file(self) -> str:
        """About the files that it reads and writes."""
        survey, world, guard = self._survey, self._world, self._guard
        if guard.read_rules and (trouble := ReadDoubts(survey, world, guard, self._files).find()):
            return trouble
        if self._write_rules:
            writes = WriteDoubts(survey, world, guard, self._files, self._write_rules)
            if trouble := writes.find() or self._possible.find_ruled(self._write_rules, writes.may_write):
                return trouble
        is_there = (guard.read_rules and self._files.list_covered("read") != ()) or (
            self._write_rules and self._files.list_covered("write") != ()
        )
        why = find_unclear(survey, world.home, self._files.set_names) if is_there else ""
        return f"{why}, and a rule keeps some files from being opened" if why else ""
