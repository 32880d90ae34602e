"""Judges a command by rules, by the files that it names, and by the mode. Called where the mode alone does not decide."""

from itertools import islice
from typing import Any

from everturn.core.modes import PermissionMode
from everturn.permissions.judgement import JudgedWorld, Judgement
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.shell.approval.command_pattern import Patterns, patterns_of
from everturn.permissions.shell.approval.holding import plan_trial
from everturn.permissions.shell.approval.line import Approval
from everturn.permissions.shell.doubts import Doubts
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.reading.prescan import MAX_ARGUMENT_LENGTH
from everturn.permissions.shell.running.survey import Candidate, Survey, survey_command
from everturn.ports.policy import Ruling

_SHOWN = 80
_MAX_DEPTH = 3
_RUN_NAMES = frozenset({"git", "npm", "pnpm", "yarn", "bun"})
"""They run what stands under a name in a file."""
_MAX_NAMED = 16
_MAX_PROGRAMS = 64


def judge_by_rules(
    command: str,
    survey: Survey,
    rules: RuleSet,
    world: JudgedWorld,
    *,
    given: dict[str, Any],
    critical: Judgement | None,
) -> Judgement:
    """Deny, ask, what is `critical`, the mode and what the rules allow, in this order."""
    guard = FileGuard(survey, rules, world)
    if judgement := _judge_rules(Ruling.DENY, command, survey, rules, given) or guard.find(Ruling.DENY):
        return judgement
    named = _list_named(survey, rules, world)
    return (
        _judge_named(Ruling.DENY, named, rules, world)
        or _judge_rules(Ruling.ASK, command, survey, rules, given)
        or guard.find(Ruling.ASK)
        or _judge_named(Ruling.ASK, named, rules, world)
        or _judge_suspicions(survey, rules)
        or critical
        or _judge_mode(survey, rules, world, guard)
    )


def judge_monster(command: str, rules: RuleSet) -> Judgement:
    """No kernel starts it. The start of it is held against the deny rules all the same."""
    rule = patterns_of(rules, Ruling.DENY).find(command[:MAX_ARGUMENT_LENGTH].lstrip())
    if rule is not None:
        return _by_rule(rule, command)
    return Judgement(ruling=Ruling.ASK, why=f"the command is longer than {MAX_ARGUMENT_LENGTH:,} characters")


def _judge_rules(
    ruling: Ruling, command: str, survey: Survey, rules: RuleSet, given: dict[str, Any]
) -> Judgement | None:
    patterns = patterns_of(rules, ruling)
    if rule := patterns.find_parameter(given):
        return Judgement(ruling=ruling, why=f"{rule.shown} {_verb(ruling)} this call", rule=rule)
    if not patterns:
        return None
    for text in survey.texts:
        if rule := patterns.find(text):
            return _by_rule(rule, text)
    if rule := _find_bare(patterns):
        return _by_rule(rule, command)
    return None


def _list_named(survey: Survey, rules: RuleSet, world: JudgedWorld, depth: int = 0) -> list[tuple[str, Survey]]:
    """What the line runs by a name that stands in a file. Without a rule about commands, nobody looks there."""
    against = [patterns for ruling in (Ruling.DENY, Ruling.ASK) if (patterns := patterns_of(rules, ruling))]
    if not against or depth >= _MAX_DEPTH or not any(map(_may_be_named, survey.candidates)):
        return []
    from everturn.permissions.shell.running.named_scripts import NamedScripts

    programs = islice((name for patterns in against for name in patterns.list_programs()), _MAX_PROGRAMS)
    named = NamedScripts(survey, world.cwd, world.home, programs, world.exports.get("PATH", ""))
    found: list[tuple[str, Survey]] = []
    for script in islice(named.find(), _MAX_NAMED):
        inner = survey_command(script, world.cwd, world.home)
        found += [(script, inner), *_list_named(inner, rules, world, depth + 1)]
    return found


def _may_be_named(program: Candidate) -> bool:
    return "/" in program.argv[0] or program.argv[0] in _RUN_NAMES


def _judge_named(
    ruling: Ruling, named: list[tuple[str, Survey]], rules: RuleSet, world: JudgedWorld
) -> Judgement | None:
    for script, inner in named:
        if found := _judge_rules(ruling, script, inner, rules, {}):
            return found
        if ruling is Ruling.ASK:
            doubt = Doubts(inner, rules, world, FileGuard(inner, rules, world)).find_command()
            if doubt:
                return Judgement(ruling=Ruling.ASK, why=f"{doubt}, in {script[:_SHOWN]!r}, which is in a file")
    return None


def _find_bare(patterns: Patterns) -> Rule | None:
    """A rule for every command holds for those, too, that we cannot take apart."""
    return next((rule for pattern, rule in patterns.covering("") if pattern.is_everything), None)


def _judge_suspicions(survey: Survey, rules: RuleSet) -> Judgement | None:
    """Where something is not understood, the mere text of a denied command is a reason to ask, whatever the mode."""
    for ruling in (Ruling.DENY, Ruling.ASK):
        patterns = patterns_of(rules, ruling)
        if not patterns:
            continue
        for text in survey.suspicions:
            if rule := patterns.find(text):
                doubt = next(iter(survey.reading.unsure), "scripts within scripts")
                why = f"not understood: {doubt}; {rule.shown} may cover a part of it"
                return Judgement(ruling=Ruling.ASK, why=why, rule=rule)
    return None


def _judge_mode(survey: Survey, rules: RuleSet, world: JudgedWorld, guard: FileGuard) -> Judgement:
    doubts = Doubts(survey, rules, world, guard)
    if world.mode == PermissionMode.BYPASS:
        if doubt := doubts.find():
            return Judgement(ruling=Ruling.ASK, why=doubt)
        return Judgement(ruling=Ruling.ALLOW, why=f"mode {PermissionMode.BYPASS}")
    approval = Approval(survey, rules, world, guard, doubts)
    trouble = approval.find_trouble()
    if isinstance(trouble, str):
        return Judgement(
            ruling=Ruling.ASK,
            why=trouble,
            trial=plan_trial(survey, world),
            refused=tuple(approval.refused),
            movable=approval.movable,
            objection=approval.objection,
        )
    return trouble


def _by_rule(rule: Rule, text: str) -> Judgement:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return Judgement(ruling=rule.ruling, why=f"{rule.shown} {_verb(rule.ruling)} {shown!r}", rule=rule)


def _verb(ruling: Ruling) -> str:
    return {Ruling.DENY: "denies", Ruling.ASK: "wants a person to be asked about", Ruling.ALLOW: "allows"}[ruling]
