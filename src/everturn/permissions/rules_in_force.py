"""The rules at one moment with the folders in which they count; each part is prepared when a call first needs it."""

import os
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from everturn.permissions.rules.lookup import Lookup, covers_whole
from everturn.permissions.rules.rule import Rule, RuleSet, Source
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Ruling
from everturn.ports.scratch import NO_SCRATCH, Scratch

if TYPE_CHECKING:
    from everturn.permissions.paths.judge import FileJudge

_RANKS = {source: rank for rank, source in enumerate(Source)}
"""If two rules say the same, reasons name the one of the higher source."""


class Workplace(msgspec.Struct, frozen=True, kw_only=True):
    """The folders in which rules count."""

    folder: str
    """The working folder; `path` in a rule starts there."""
    added: tuple[str, ...] = ()
    """Further working folders."""
    home: str = ""
    """The user's home folder; empty = the one of the system."""
    own: tuple[str, ...] = ()
    """Folders of Everturn's settings and sessions, which are never written without a question."""
    trusted: bool = True
    """The folder is trusted, so programs that its git settings name are not asked about."""


class RulesInForce:
    """Immutable: when rules change, a new one is made."""

    def __init__(
        self,
        rules: Iterable[Rule],
        workplace: Workplace,
        outputs: Outputs,
        known: dict[str, str] | None = None,
        scratch: Scratch = NO_SCRATCH,
    ) -> None:
        """`known`: real paths of folders at their first use. A link that replaces a folder later does not change them."""
        self._known = {} if known is None else known
        self.rules = RuleSet(sorted(rules, key=lambda rule: _RANKS[rule.source]))
        self.lookup = Lookup(self.rules)
        self.home = workplace.home or os.path.expanduser("~")  # noqa: PTH111 (a path as text is wanted)
        self.trusted = workplace.trusted
        self._workplace = workplace
        self._outputs = outputs
        self._scratch = scratch

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The working folders as real paths, the first one first."""
        given = (self._workplace.folder, *self._workplace.added)
        places = [os.path.join(given[0], folder) for folder in given]  # noqa: PTH118 (a path as text is wanted)
        for place in places:
            if place not in self._known:
                self._known[place] = os.path.realpath(place)
        return tuple(dict.fromkeys(self._known[place] for place in places))

    @cached_property
    def files(self) -> "FileJudge":
        from everturn.permissions.paths.judge import FileJudge

        return FileJudge(
            self.rules,
            folders=self.folders,
            home=self.home,
            own=self._workplace.own,
            outputs=self._outputs,
            scratch=self._scratch,
        )

    @cached_property
    def unallowed(self) -> RuleSet:
        """The rules without allow rules: what they allow is harmless by itself."""
        return self.rules.without(Ruling.ALLOW)

    @cached_property
    def confined(self) -> RuleSet:
        """The rules for commands in a sandbox, where a rule that asks about every command does not count."""
        return RuleSet(rule for rule in self.rules.rules if rule.ruling is not Ruling.ASK or not covers_whole(rule))

    @cached_property
    def widened(self) -> "RulesInForce":
        """The rules with every command and every file allowed. What is still asked about then is asked about whatever rules allow."""
        allowing = (Rule(ruling=Ruling.ALLOW, tool=tool, source=Source.SESSION) for tool in ("Bash", "Read", "Edit"))
        rules = (*allowing, *self.unallowed.rules)
        return RulesInForce(rules, self._workplace, self._outputs, self._known, self._scratch)

    def weakened(self, ruling: Ruling) -> "RulesInForce":
        """The rules without those of this kind."""
        return RulesInForce(
            self.rules.without(ruling).rules, self._workplace, self._outputs, self._known, self._scratch
        )
