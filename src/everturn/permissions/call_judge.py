"""Judges one call by the rules and the mode that are in force at that moment, and says which file the judgement is about."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from everturn.core.denials import DenialCause
from everturn.core.modes import PermissionMode
from everturn.permissions.judgement import FileUse, JudgedWorld, Judgement
from everturn.permissions.rules.lookup import covers_whole
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.rules_in_force import RulesInForce
from everturn.ports.holding import NO_WALLS, Walls
from everturn.ports.policy import Call, Ruling
from everturn.ports.scratch import NO_SCRATCH, VARIABLE, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import Access, Confinement

if TYPE_CHECKING:
    from everturn.permissions.paths.coverage import Walk
    from everturn.permissions.paths.trace import Trace

_SEARCHERS = frozenset({"Glob", "Grep"})
_READERS = frozenset({"Read"}) | _SEARCHERS
_EDITORS = frozenset({"Write", "Edit", "NotebookEdit"})
_OWN_MATTERS = frozenset({"TaskOutput", "TaskStop", "TodoWrite", "ToolSearch"})
"""They only touch the session's own state, so they run without a question."""
_QUESTIONS = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"})
"""They are allowed in plan mode, too, because the person decides about them."""


class JudgedCall(msgspec.Struct, frozen=True, kw_only=True):
    judgement: Judgement
    trace: "Trace | None" = None
    """All names of the file that the call is about."""
    searches: bool = False


class CallJudge(msgspec.Struct, frozen=True, kw_only=True):
    """Judges one call; made for it."""

    in_force: RulesInForce
    mode: PermissionMode
    cwd: str
    """Folder in which a command would start."""
    shell: ShellFolder
    """Folder and exported variables that earlier commands have left."""
    find_walls: Callable[[], Walls] = lambda: NO_WALLS
    """Function that finds which confinement works on this machine; called for commands only."""
    walk: "Walk" = lambda _, __: None
    """Function that searches folders for files that rules cover; called only for commands whose files are not certain."""
    try_held: bool = False
    """A command that would be asked about first runs confined."""
    scratch: Scratch = NO_SCRATCH
    permitted: str = ""
    """The command of the goal, which may run exactly as it is written."""

    def judge(self, call: Call) -> JudgedCall:
        finding = self._judge(call)
        judgement = finding.judgement
        if judgement.ruling is Ruling.ASK and self.mode is PermissionMode.DONT_ASK:
            nobody = "nobody is asked" if judgement.rule is None else f"mode {self.mode} asks nobody"
            why = f"{judgement.why}, and {nobody}"
            denied = msgspec.structs.replace(judgement, ruling=Ruling.DENY, why=why, by_mode=True)
            return msgspec.structs.replace(finding, judgement=denied)
        return finding

    def judge_file(self, use: FileUse, path: str) -> Judgement:
        return self.in_force.files.judge(use, path, self.mode, cwd=self.cwd)

    def _judge(self, call: Call) -> JudgedCall:
        """Applies the rules that name the tool, then the judge of its kind of call; the stricter of the two decides."""
        if rule := self._find(call, Ruling.DENY):
            return JudgedCall(judgement=_by_rule(rule))
        asking = self._find(call, Ruling.ASK)
        if call.name == "Bash" and call.traits.access is Access.EXECUTE:
            finding = JudgedCall(judgement=self._heed_permission(call, self._judge_confined(call)))
            if asking is not None and call.traits.confinement is Confinement.ENOUGH and covers_whole(asking):
                asking = None
        elif (use := _use_of(call)) is not None:
            finding = self._judge_path(call, use)
        else:
            finding = JudgedCall(judgement=self._judge_other(call, is_asking=asking is not None))
        if asking is not None and finding.judgement.ruling is not Ruling.DENY:
            asked = msgspec.structs.replace(_by_rule(asking), grave=finding.judgement.grave)
            return msgspec.structs.replace(finding, judgement=asked)
        return finding

    def _find(self, call: Call, ruling: Ruling) -> Rule | None:
        return self.in_force.lookup.find(call.name, ruling, call.input)

    def _heed_permission(self, call: Call, judgement: Judgement) -> Judgement:
        """Allows the command of the goal, if it starts in the working folder and no exported variable changes its meaning."""
        if not self.permitted or call.input.get("command") != self.permitted or self.mode is PermissionMode.PLAN:
            return judgement
        is_open = judgement.ruling is Ruling.ASK and judgement.rule is None and not judgement.grave
        is_held = judgement.ruling is Ruling.ALLOW and judgement.holding is not None
        confinement = call.traits.confinement
        if (
            not (is_open or is_held)
            or confinement is Confinement.LEAVES
            or _runs_behind(call)
            or os.path.realpath(self.cwd) != self.in_force.folders[0]
            or self.shell.list_exports(confinement)
        ):
            return judgement
        return Judgement(ruling=Ruling.ALLOW, why="it is the command that verifies the goal")

    def _judge_confined(self, call: Call) -> Judgement:
        """Judges a call that runs in the sandbox: no question inside it, always a question to leave it."""
        judgement, confinement = self._judge_command(call), call.traits.confinement
        if judgement.ruling is Ruling.ALLOW and confinement is Confinement.ENOUGH:
            # The person has said that the sandbox is enough: it is where the state of these commands is, too.
            return msgspec.structs.replace(judgement, holding=None)
        if judgement.holding is not None and judgement.holding.writes and _runs_behind(call):
            # What it finds when it comes to its end is not what was judged, and what it moves then may have got another name to be obeyed by.
            why = f"mode {self.mode}: it would change files in the background, beside other calls, and is judged by what is there now"
            judgement = Judgement(ruling=Ruling.ASK, why=why)
        if (
            judgement.ruling is Ruling.ASK
            and confinement is Confinement.ENOUGH
            and self.mode is not PermissionMode.PLAN
        ):
            # As in the mode that allows everything: rules that deny or ask, and what nobody should remove, still speak.
            freely = self._judge_command(call, self.in_force.confined, PermissionMode.BYPASS)
            if freely.ruling is Ruling.ALLOW:
                return Judgement(ruling=Ruling.ALLOW, why="it runs in the sandbox")
            return freely
        if judgement.ruling is Ruling.ALLOW and confinement is Confinement.LEAVES:
            rule, command = judgement.rule, call.input.get("command")
            if rule is None or rule.specifier != command:
                return Judgement(
                    ruling=Ruling.ASK, why="it would run outside the sandbox", objection=DenialCause.SANDBOX
                )
        if self.try_held and judgement.ruling is Ruling.ASK and self._may_try(call, judgement):
            return Judgement(
                ruling=Ruling.ALLOW,
                why=f"mode {self.mode}: it runs confined first (permissions.tryHeld), since {judgement.why}",
                holding=judgement.trial,
            )
        return judgement

    def _may_try(self, call: Call, judgement: Judgement) -> bool:
        """Whether the call may run confined before a person is asked: no rule asks, it can be undone, and no rule keeps a file from being read."""
        return (
            judgement.trial is not None
            and judgement.rule is None
            and not judgement.grave
            and self.mode in {PermissionMode.DEFAULT, PermissionMode.ACCEPT_EDITS}
            and call.traits.confinement is Confinement.NONE
            and not _runs_behind(call)
            and self.in_force.files.hidden_from_search() is None
        )

    def _judge_command(self, call: Call, rules: RuleSet | None = None, mode: PermissionMode | None = None) -> Judgement:
        """`rules` and `mode` replace those in force."""
        from everturn.permissions.shell.judge import judge_command

        plans = self.mode is PermissionMode.PLAN
        command = call.input.get("command")
        temporary = self._find_temporary(command)
        world = JudgedWorld(
            cwd=os.path.realpath(self.cwd),
            home=self.in_force.home,
            folders=self.in_force.folders,
            mode=mode or self.mode,
            trusted=self.in_force.trusted,
            judge_file=self.judge_file if mode is None else msgspec.structs.replace(self, mode=mode).judge_file,
            find_protected=self._find_protected,
            look_inside=self.in_force.files.look_inside,
            walls=NO_WALLS if (mode or self.mode) is PermissionMode.BYPASS else self.find_walls(),
            find_far=self._find_far,
            find_around=self._find_around,
            find_covered=self._find_covered,
            exports=self.shell.list_exports(call.traits.confinement),
            scratch=self.scratch.make(),
            temporary=temporary,
            unset=self.shell.list_unset(call.traits.confinement),
        )
        if not self.in_force.trusted:
            world = msgspec.structs.replace(world, find_own_programs=_find_own_programs)
        rules = rules or (self.in_force.unallowed if plans else self.in_force.rules)
        judgement = judge_command(command if isinstance(command, str) else "", rules, world, input=call.input)
        if plans and judgement.rule is None and judgement.ruling is not Ruling.ALLOW:
            why = judgement.why.removeprefix(f"mode {self.mode}: ") or f"{call.name} may change something"
            return self._say(Ruling.DENY, why)
        if (rule := judgement.rule) is not None:
            where = f"({rule.place})"
            told = judgement.why if where in judgement.why else f"{judgement.why} {where}"
            return msgspec.structs.replace(judgement, why=told)
        if judgement.why.startswith("mode "):
            return judgement
        return msgspec.structs.replace(judgement, why=f"mode {self.mode}: {judgement.why}")

    def _find_temporary(self, command: object) -> str:
        """The scratch folder, if the line names `TMPDIR` and no command has changed that; else empty."""
        if not isinstance(command, str) or VARIABLE not in command or self.shell.has_changed(VARIABLE):
            return ""
        return self.scratch.make()

    def _find_protected(self, path: str) -> str | None:
        """Loads the judge of files only here: in the mode `bypassPermissions` most commands do not need it."""
        return self.in_force.files.find_protected(path)

    def _find_covered(self, use: FileUse) -> tuple[str, ...] | None:
        coverage = self.in_force.files.find_coverage(use, Ruling.DENY, Ruling.ASK)
        return () if coverage is None else coverage.find(self.walk)

    def _find_around(self, folder: str) -> str:
        from everturn.permissions.git.places import list_around

        return next(iter(list_around(folder, self.in_force.folders, self.in_force.home)), "")

    def _find_far(self, folder: str) -> str:
        from everturn.permissions.git.places import find_far

        return find_far(folder, self.in_force.folders, self.in_force.home)

    def _judge_path(self, call: Call, use: FileUse) -> JudgedCall:
        """Judges a call about a file. A rule with the bare name of the tool allows it, except for protected files."""
        files, searches = self.in_force.files, call.name in _SEARCHERS
        given = call.input.get("path", ".") if searches else call.input.get(_field_of(call))
        if not isinstance(given, str):
            return JudgedCall(judgement=self._judge_other(call, is_asking=False))
        trace = files.trace(given)
        judgement = files.judge_trace(use, trace, self.mode, what=call.name, named=self._find(call, Ruling.ALLOW))
        return JudgedCall(judgement=judgement, trace=trace, searches=searches)

    def _judge_other(self, call: Call, *, is_asking: bool) -> Judgement:
        """Judges a call that is neither a command nor about a file."""
        traits = call.traits
        if self.mode is PermissionMode.BYPASS and not traits.needs_person:
            return self._say(Ruling.ALLOW, "no rule covers it")
        if self.mode is PermissionMode.PLAN and not traits.read_only and call.name not in _QUESTIONS:
            return self._say(Ruling.DENY, f"{call.name} may change something")
        if traits.needs_person:
            return self._judge_question(call)
        if not is_asking and (rule := self._find(call, Ruling.ALLOW)):
            return _by_rule(rule)
        if call.name in _OWN_MATTERS and traits.access is Access.READ:
            return self._say(Ruling.ALLOW, "it only touches the session itself")
        is_known = call.name in _READERS
        if self.mode is PermissionMode.PLAN and traits.access is not Access.NETWORK and not is_known:
            return self._say(Ruling.ALLOW, f"{call.name} changes nothing")
        return self._say(Ruling.ASK, f"{call.name} needs approval")

    def _judge_question(self, call: Call) -> Judgement:
        """Judges a question to the person. A switch to the mode that is on already is refused."""
        if call.name == "EnterPlanMode" and self.mode is PermissionMode.PLAN:
            return Judgement(ruling=Ruling.DENY, why="plan mode is already on")
        if call.name == "ExitPlanMode" and self.mode is not PermissionMode.PLAN:
            return Judgement(ruling=Ruling.DENY, why="plan mode is not on, so there is nothing to leave")
        return self._say(Ruling.ASK, f"{call.name} is for the person to answer")

    def _say(self, ruling: Ruling, why: str) -> Judgement:
        return Judgement(ruling=ruling, why=f"mode {self.mode}: {why}")


def _by_rule(rule: Rule) -> Judgement:
    return Judgement(ruling=rule.ruling, why=rule.sentence, rule=rule)


def _use_of(call: Call) -> FileUse | None:
    """How the call uses its file. Only for the built-in tool: a tool of the caller with the same name may do something else."""
    if call.name in _READERS and call.traits.access is Access.READ:
        return "read"
    return "write" if call.name in _EDITORS and call.traits.access is Access.EDIT else None


def _find_own_programs(folder: str) -> str:
    """Loaded only for commands to which git's settings matter."""
    from everturn.permissions.git.own_programs import find_own_programs

    return find_own_programs(folder)


def _runs_behind(call: Call) -> bool:
    return call.input.get("run_in_background") is True


def _field_of(call: Call) -> str:
    return "notebook_path" if call.name == "NotebookEdit" else "file_path"
