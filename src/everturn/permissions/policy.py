"""The policy that the gate asks right before each call: deny rules, ask rules, mode, allow rules, in this order; everything else is asked about."""

import os
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.errors import OptionError
from everturn.core.modes import PermissionMode
from everturn.core.patterns import compile_late
from everturn.permissions.call_judge import CallJudge
from everturn.permissions.judgement import FileUse, Judgement
from everturn.permissions.modes import ModeSwitch
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.rules_in_force import RulesInForce, Workplace
from everturn.ports.holding import NO_WALLS, Walls
from everturn.ports.judged_paths import Hides, JudgedPath
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Call, Ruling, Verdict
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import Access
from everturn.workspace.paths import find_start

if TYPE_CHECKING:
    from everturn.permissions.paths.coverage import Coverage, Walk
    from everturn.permissions.paths.trace import Trace

_GOES_ELSEWHERE = compile_late(r"\s*cd\s+/[^\s;&|]+\s*&&")
"""A line that says itself where it runs: behind `&&` nothing runs where the shell stood before."""


def walk(folders: tuple[str, ...], covers: Callable[[str], bool]) -> tuple[str, ...] | None:
    """`permissions.paths.coverage.Walk`, loaded when a rule makes it necessary."""
    from everturn.permissions.paths.coverage import walk_folders

    return walk_folders(folders, covers)


class RulePolicy(ModeSwitch):
    """`ports.policy.Policy` and `ports.tool.Modes`. Mode and rules may change at any time and count from the next call on."""

    def __init__(
        self,
        mode: str,
        workplace: Workplace | str,
        *,
        rules: Iterable[Rule] = (),
        outputs: Outputs | None = None,
        shell: ShellFolder | None = None,
        bypass_disabled: bool = False,
        walls: Callable[[], Walls] = lambda: NO_WALLS,
        try_held: bool = False,
        scratch: Scratch = NO_SCRATCH,
        permitted: str = "",
    ) -> None:
        """`rules` are the command line's: they stay. Raises `OptionError`.

        `outputs` are files outside the folder that may be read as if they were inside. `shell` tells where the next
        command starts, `walls` what the machine can hold of what nobody approves. `try_held`: what would be asked about runs
        held first. `scratch`: the session's folder for temporary files. `permitted`: a command that may run exactly as it is.
        """
        super().__init__(mode, bypass_disabled=bypass_disabled)
        self._workplace = Workplace(folder=workplace) if isinstance(workplace, str) else workplace
        self._outputs = outputs or Outputs()
        self._shell = shell or ShellFolder()
        self.find_walls = walls
        self.prepare_walls: Callable[[], Coroutine[Any, Any, None]] | None = None
        """Finds out whether a command can be confined so that it does not read the files that rules deny. This may take time."""
        self.walk: Walk = walk
        """Function that searches folders for files that rules cover. Without it, every file that may be covered counts as covered."""
        self._try_held = try_held
        self._scratch = scratch
        self._permitted = permitted
        self._given = tuple(rules)
        self._known_folders: dict[str, str] = {}
        self._session: tuple[Rule, ...] = ()
        self._of_files: tuple[Rule, ...] = ()
        self._folders_of_files: tuple[str, ...] = ()
        self._settle()

    @property
    def rules(self) -> RuleSet:
        """All rules in force."""
        return self._in_force.rules

    @property
    def folders(self) -> tuple[str, ...]:
        """The working folders as real paths; the one that the session began in comes first."""
        return self._in_force.folders

    def replace_rules(self, rules: Iterable[Rule], folders: Iterable[str] = ()) -> None:
        """Replaces the rules and working folders of the settings files. Those of the command line and of this session stay."""
        self._of_files, self._folders_of_files = tuple(rules), tuple(folders)
        self._settle()

    def follow(self, other: "RulePolicy") -> None:
        """Replaces its own rules and folders by those that another policy has now."""
        theirs = (other._given, other._session, other._of_files, other._folders_of_files)  # noqa: SLF001 (its twin)
        if theirs != (self._given, self._session, self._of_files, self._folders_of_files):
            self._given, self._session, self._of_files, self._folders_of_files = theirs
            self._settle()

    def add_rule(self, rule: Rule) -> None:
        """Adds a rule for this session."""
        self._session = (rule, *(known for known in self._session if known != rule))
        self._settle()

    def imagine(self, rules: Iterable[Rule] = (), mode: str | None = None) -> "RulePolicy":
        """A copy of the policy with more rules, or with another mode. This policy does not change."""
        # Only where somebody wants to know: it is not needed to start.
        from copy import copy

        other = copy(self)
        for rule in rules:
            other.add_rule(rule)
        if mode is not None:
            other.mode = mode
        return other

    def imagine_alone(self, rules: Iterable[Rule] = (), mode: str | None = None) -> "RulePolicy":
        """A copy of the policy without allow rules other than these; its mode is `default` unless `mode` says otherwise."""
        other = self.imagine(mode=PermissionMode.DEFAULT)
        other.drop_allow_rules()
        return other.imagine(rules, mode)

    def drop_allow_rules(self) -> None:
        """Removes all allow rules: of the command line, of this session and of the settings files."""
        each = (self._given, self._session, self._of_files)
        self._given, self._session, self._of_files = (
            tuple(rule for rule in rules if rule.ruling is not Ruling.ALLOW) for rules in each
        )
        self._settle()

    def prepare(self, call: Call) -> Coroutine[Any, Any, None] | None:
        """Work that must be done before the call is judged; almost always None."""
        if call.name != "Bash" or self.prepare_walls is None or self.find_hides() is None:
            return None
        return self.prepare_walls()

    def judge(self, call: Call) -> Verdict:
        finding = self._call_judge(self._in_force).judge(call)
        judgement, trace = finding.judgement, finding.trace
        if trace is None or judgement.ruling is Ruling.DENY:
            return Verdict(
                ruling=judgement.ruling,
                reason=self._say_where(call, judgement),
                by=judgement.by,
                cause=judgement.cause,
                grave=judgement.grave,
                holding=judgement.holding,
            )
        hides = self._in_force.files.hidden_from_search() if finding.searches else None
        return Verdict(
            ruling=judgement.ruling,
            reason=judgement.why,
            by=judgement.by,
            cause=judgement.cause,
            judged=JudgedPath(target=trace.target, hides=hides),
            may_read=judgement.ruling is Ruling.ASK and self._may_read(trace),
        )

    def judge_allowed(self, call: Call) -> Verdict:
        verdict, judge = self.judge(call), self._call_judge(self._in_force)
        if not judge.judge(call).judgement.may_lift:
            return verdict
        if call.name == "Bash" and call.traits.access is Access.EXECUTE:
            # What stands in the way beside a rule for everything is no matter of the mode: protected paths, files that rules keep.
            other = msgspec.structs.replace(judge, in_force=self._in_force.widened, try_held=False)
            if other.judge(call).judgement.ruling is not Ruling.ALLOW:
                return verdict
        return msgspec.structs.replace(verdict, ruling=Ruling.ALLOW, cause=None)

    def judge_apart(self, call: Call) -> Verdict:
        other = self.imagine()
        other._shell = ShellFolder()  # noqa: SLF001 (its twin)
        return other.judge(call)

    def advise(self, call: Call) -> str:
        """Advice for the model after a denial by a rule or a mode: what would allow the call, and what it may do instead."""
        from everturn.permissions.advice import advise, wants_place

        finding = self._call_judge(self._in_force).judge(call)
        judgement = finding.judgement
        if (
            judgement.ruling is Ruling.ALLOW
            or judgement.grave
            or (judgement.rule is not None and not judgement.by_mode)
        ):
            return ""
        told = advise(
            call,
            finding,
            mode=self.mode,
            folders=self.folders,
            folder=self._command_folder(),
            allowing=self.rules.covering(call.name, Ruling.ALLOW),
            helps=lambda rules, mode: self._would_run(call, rules, mode),
        )
        if (
            self.mode is not PermissionMode.PLAN
            and wants_place(call, finding, self.folders)
            and (path := self._scratch.make())
        ):
            told.append(f"Temporary files need no approval in {path} ($TMPDIR in commands).")
        return " ".join(told)

    def _would_run(self, call: Call, rules: tuple[str, ...], mode: str | None) -> bool:
        from everturn.permissions.rules.rule_parser import RuleProblem, parse_rule

        try:
            added = [parse_rule(text, Ruling.ALLOW, folder=self._workplace.folder) for text in rules]
            other = self.imagine(added, mode)
        except (RuleProblem, OptionError):
            return False
        return other._call_judge(other._in_force).judge(call).judgement.ruling is Ruling.ALLOW  # noqa: SLF001 (its twin)

    def _may_read(self, trace: "Trace") -> bool:
        return self._in_force.files.judge_trace("read", trace, self.mode, what="Read").ruling is Ruling.ALLOW

    def explain(self, call: Call, folder: str = "") -> Judgement:
        """As `judge` decides; where rules contradict each other, it says which one was overruled.

        `folder`: the folder in which a command would start, in place of the present one.
        """
        judgement = self._call_judge(self._in_force, folder).judge(call).judgement
        judgement = msgspec.structs.replace(judgement, why=self._say_where(call, judgement, folder))
        decided = judgement.rule
        if decided is None or decided.ruling is Ruling.ALLOW:
            return judgement
        other = self._call_judge(self._in_force.weakened(decided.ruling), folder).judge(call).judgement.rule
        if other is None:
            return judgement
        why = f"{judgement.why}; {other.sentence}, but {decided.ruling} comes first"
        return msgspec.structs.replace(judgement, why=why, overruled=other)

    def judge_file(self, use: FileUse, path: str) -> Judgement:
        """Judges a file by its path; a relative path starts in the folder of the next command."""
        return self._call_judge(self._in_force).judge_file(use, path)

    def only_reads(self, command: str) -> bool:
        """Whether a command changes nothing. Rules do not matter here."""
        from everturn.permissions.shell.readonly.line import only_reads

        return only_reads(command, os.path.realpath(self._command_folder()), self._in_force.home)

    def find_hides(self) -> Hides | None:
        """Function that says whether a confined command must not read a real path; None if no rule keeps files from being read."""
        return None if self._in_force.rules.only_allows else self._in_force.files.hidden_from_search()

    def find_coverage(self, use: FileUse, *rulings: Ruling) -> "Coverage | None":
        """The files that rules of these kinds cover, for reading or for writing. None if there are no such rules."""
        return self._in_force.files.find_coverage(use, *rulings)

    def removes(self, tool: str) -> bool:
        """Whether a deny rule covers every call of the tool. Such a tool is not offered to the model."""
        return self._in_force.lookup.find_whole(tool, Ruling.DENY) is not None

    def _call_judge(self, in_force: RulesInForce, folder: str = "") -> CallJudge:
        return CallJudge(
            in_force=in_force,
            mode=self.mode,
            cwd=folder or self._command_folder(),
            find_walls=self.find_walls,
            walk=self.walk,
            try_held=self._try_held,
            shell=self._shell,
            scratch=self._scratch,
            permitted=self._permitted,
        )

    @property
    def home(self) -> str:
        """The user's home folder."""
        return self._in_force.home

    @property
    def scratch(self) -> str:
        """The session's folder for temporary files, if it was made; else empty."""
        return self._scratch.find()

    @property
    def elsewhere(self) -> str:
        """The folder in which the next command starts, if it is not the working folder; else empty."""
        folder, project = self._command_folder(), self.folders[0]
        place = folder if folder == project else os.path.realpath(folder)
        return "" if place == project else place

    def _command_folder(self) -> str:
        return find_start(self._shell, self._workplace.folder)

    def _say_where(self, call: Call, judgement: Judgement, folder: str = "") -> str:
        """The reason of the judgement, with the folder of a command whose text does not show it."""
        if call.name != "Bash" or call.traits.access is not Access.EXECUTE:
            return judgement.why
        place = folder or self.elsewhere
        if place in {"", self.folders[0]} or _GOES_ELSEWHERE.match(call.input["command"]):
            return judgement.why
        return f"{judgement.why}; it would run in {place!r}, not in the working folder"

    def _settle(self) -> None:
        added = (*self._workplace.added, *self._folders_of_files)
        workplace = msgspec.structs.replace(self._workplace, added=added)
        rules = (*self._given, *self._session, *self._of_files)
        self._in_force = RulesInForce(rules, workplace, self._outputs, self._known_folders, self._scratch)
