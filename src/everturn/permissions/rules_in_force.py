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
"""Of two rules that say the same, the one of the higher source is named."""


class Workplace(msgspec.Struct, frozen=True, kw_only=True):
    """Where the rules hold."""

    folder: str
    """The working folder: what `path` in a rule starts from."""
    added: tuple[str, ...] = ()
    """More folders to work in."""
    home: str = ""
    """The user's; empty = as the system says."""
    own: tuple[str, ...] = ()
    """Folders of our own settings and sessions: never written to without asking."""
    trusted: bool = True
    """What the repository has git run by itself is none of our business."""


class RulesInForce:
    """Never changed: other rules make another one."""

    def __init__(
        self,
        rules: Iterable[Rule],
        workplace: Workplace,
        outputs: Outputs,
        known: dict[str, str] | None = None,
        scratch: Scratch = NO_SCRATCH,
    ) -> None:
        """`known`: where folders led when they were first named. A link that is put in their place later leads nowhere new."""
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
        """The working folder first; real paths."""
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
        """Without the allow rules: what passes now is harmless by itself."""
        return self.rules.without(Ruling.ALLOW)

    @cached_property
    def confined(self) -> RuleSet:
        """For commands in a sandbox: a rule that asks about every command has its answer there."""
        return RuleSet(rule for rule in self.rules.rules if rule.ruling is not Ruling.ASK or not covers_whole(rule))

    @cached_property
    def widened(self) -> "RulesInForce":
        """As if every command were allowed, and every file to it: who is asked about now is asked whatever is allowed ahead of time."""
        allowing = (Rule(ruling=Ruling.ALLOW, tool=tool, source=Source.SESSION) for tool in ("Bash", "Read", "Edit"))
        rules = (*allowing, *self.unallowed.rules)
        return RulesInForce(rules, self._workplace, self._outputs, self._known, self._scratch)

    def weakened(self, ruling: Ruling) -> "RulesInForce":
        """As if nobody had written rules of this kind."""
        return RulesInForce(
            self.rules.without(ruling).rules, self._workplace, self._outputs, self._known, self._scratch
        )
