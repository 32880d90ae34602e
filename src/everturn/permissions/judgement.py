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
    """What it would do cannot be undone, and nobody should mean it: a yes is not said by a single key."""
    guarded: bool = False
    """It is about a place that no rule opens: protected, or by way of the kernel's own links."""
    rule: Rule | None = None
    """The rule that decided; None where mode, built-in knowledge or caution did."""
    by_mode: bool = False
    """The mode turned into a no what a rule would ask about."""
    holding: Holding | None = None
    """Nobody approved it: it may run as long as it is held like this."""
    trial: Holding | None = None
    """It is asked about, and could be tried held like this."""
    refused: tuple[str, ...] = ()
    """Of a command line that is asked about: the parts that no rule allows, as they are written."""
    movable: bool = False
    """... and it would write a file that could as well lie in the scratch folder."""
    objection: DenialCause | None = None
    """What stands against it in particular, where neither a rule nor the mode decided and it is not guarded or grave."""
    overruled: Rule | None = None
    """A rule that would have decided otherwise, had it come first; told where somebody wants an explanation."""

    @property
    def may_lift(self) -> bool:
        """Neither a rule, nor protection, nor gravity wants a person; only the mode does, or asks nobody."""
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
        """What stands against it; None where it may run."""
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
    """What a judgement may know besides the rules. Nothing here is searched for anew while judging."""

    cwd: str
    """Where the command would start; absolute, links resolved."""
    home: str
    folders: tuple[str, ...]
    """The working folder and those added to it; absolute, links resolved."""
    mode: str
    trusted: bool = False
    """A person trusts the working folder: what its repository says may count."""
    judge_file: Callable[[FileUse, str], Judgement]
    """The paths room: may this file (absolute, or relative to `cwd`) be read or written, by rules, mode and protection?"""
    find_protected: Callable[[str], str | None]
    """The protected name in an absolute path; None where there is none."""
    look_inside: Callable[[], "InsideLook"] = _look_by_names
    """A look for what is protected inside folders."""
    find_own_programs: Callable[[str], str] = _find_none
    """What the repository around a folder would have git run by itself. Empty: nothing, or nothing that matters."""
    find_far: Callable[[str], str] = _find_none
    """What git must read outside the working folders where nobody vouches for it. Empty: nothing."""
    find_around: Callable[[str], str] = _find_none
    """What of the repository around the working folders git would read. Empty: nothing."""
    find_covered: Callable[[FileUse], tuple[str, ...] | None] = lambda _: None
    """The files that deny and ask rules keep from being read, or written. None: nobody has looked for them, or there is too much."""
    walls: Walls = NO_WALLS
    """What the machine can hold."""
    exports: Mapping[str, str] = {}
    """What earlier commands have set for this one, where it is not held."""
    scratch: str = ""
    """The session's scratch folder, links resolved; empty where it cannot be made."""
    temporary: str = ""
    """What `TMPDIR` holds when the line begins, where the line names it and that is the scratch folder; else empty."""
    unset: frozenset[str] = frozenset()
    """What they have taken from it."""
