"""Values that the judges share: a ruling with its reason and its rule, and what a judge knows about the session (`World`)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from everturn.core.denials import DenialCause
from everturn.permissions.rules.rule import Rule
from everturn.ports.holding import NO_WALLS, Holding, Walls
from everturn.ports.policy import Decider, Ruling

if TYPE_CHECKING:
    from everturn.permissions.paths.inside import InsideLook

FileUse = Literal["read", "write"]


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    ruling: Ruling
    why: str
    """One clause for people and the model: `Bash(rm:*) denies rm -rf build`."""
    grave: bool = False
    """The call cannot be undone, so a yes takes more than one key."""
    guarded: bool = False
    """It is about a place that no rule allows: a protected one, or one behind a link of the kernel such as `/proc/self/cwd`."""
    rule: Rule | None = None
    """The rule that decided; None if the mode or a built-in judgement did."""
    by_mode: bool = False
    """A rule asks, and the mode turned the question into a denial."""
    holding: Holding | None = None
    """How the command is confined if it runs without approval."""
    trial: Holding | None = None
    """How the command could be confined to be tried before the question."""
    refused: tuple[str, ...] = ()
    """Parts of a command line that no rule allows, as they are written."""
    movable: bool = False
    """The command writes a file that could be in the scratch folder instead."""
    objection: DenialCause | None = None
    """Cause of a question that neither a rule nor the mode asks, for a call that is neither `guarded` nor `grave`."""
    overruled: Rule | None = None
    """A rule that would have decided otherwise if it had come first; for explanations."""

    @property
    def may_lift(self) -> bool:
        """Only the mode asks or denies, so a hook or a sandbox may lift it."""
        waits = self.ruling is Ruling.ASK or (self.ruling is Ruling.DENY and self.by_mode)
        return waits and self.rule is None and not self.guarded and not self.grave

    @property
    def by(self) -> Decider | None:
        if self.rule is not None and not self.by_mode:
            return Decider.RULE
        # What no rule and no mode opens was decided by neither.
        return None if (self.guarded or self.grave) and not self.by_mode else Decider.MODE

    @property
    def cause(self) -> DenialCause | None:
        """Why the call is asked about or denied; None if it may run."""
        if self.ruling is Ruling.ALLOW:
            return None
        if self.by_mode:
            return DenialCause.MODE
        if self.rule is not None:
            return DenialCause.RULE
        if self.grave or self.guarded:
            return DenialCause.IRREVERSIBLE if self.grave else DenialCause.PROTECTED_PATH
        return self.objection or (DenialCause.MODE if self.ruling is Ruling.DENY else DenialCause.UNAPPROVED)


def _find_none(_: str) -> str:
    return ""


def _look_by_names() -> "InsideLook":
    from everturn.permissions.paths.inside import InsideLook

    return InsideLook()


class JudgedWorld(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge of commands knows besides the rules. Each value is found once for a call."""

    cwd: str
    """Folder in which the command would start; absolute, links resolved."""
    home: str
    folders: tuple[str, ...]
    """The working folder and those added to it; absolute, links resolved."""
    mode: str
    trusted: bool = False
    """A person trusts the working folder, so settings of its repository may count."""
    judge_file: Callable[[FileUse, str], Judgement]
    """Function that judges a file (absolute, or relative to `cwd`) by rules, mode and protection."""
    find_protected: Callable[[str], str | None]
    """The protected name in an absolute path; None where there is none."""
    look_inside: Callable[[], "InsideLook"] = _look_by_names
    """Function that makes a search for protected files inside folders."""
    find_own_programs: Callable[[str], str] = _find_none
    """Function that finds a program that git would run in the repository around a folder; empty if there is none."""
    find_far: Callable[[str], str] = _find_none
    """Function that finds a place outside the working folders that git would read and that is not known to be safe; empty if there is none."""
    find_around: Callable[[str], str] = _find_none
    """Function that finds the part of the repository around the working folders that git would read; empty if there is none."""
    find_covered: Callable[[FileUse], tuple[str, ...] | None] = lambda _: None
    """Function that finds the files that deny and ask rules cover, for reading or writing; None if they were not searched, or are too many."""
    walls: Walls = NO_WALLS
    """Which confinement works on this machine."""
    exports: Mapping[str, str] = {}
    """Variables that earlier commands have exported; they count if this command is not confined."""
    scratch: str = ""
    """The session's scratch folder, links resolved; empty where it cannot be made."""
    temporary: str = ""
    """Value of `TMPDIR` at the start of the line, if the line names it and it is the scratch folder; else empty."""
    unset: frozenset[str] = frozenset()
    """Variables that earlier commands have unset."""
