"""From rules as they are written to rules in force: a wrong allow rule is skipped with a warning, a wrong deny or ask rule is an error."""

import os
from collections.abc import Iterable

from everturn.core.errors import OptionError
from everturn.permissions.rules.rule import Rule, Source
from everturn.permissions.rules.rule_parser import RuleProblem, parse_rule
from everturn.ports.policy import Ruling
from everturn.ports.rules import WrittenRule


def join_rules(written: Iterable[WrittenRule]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules, and a warning for each that was passed over. Raises `OptionError` that names file and line.

    To leave out an allow costs a question; to leave out a deny would let run what somebody forbade.
    """
    rules, warnings, problems = parse_written(written)
    if problems:
        raise problems[0]
    return rules, warnings


def parse_written(
    written: Iterable[WrittenRule],
) -> tuple[tuple[Rule, ...], tuple[str, ...], tuple[OptionError, ...]]:
    """The rules that can work, a warning for each that was passed over, and a problem for each that somebody relies on."""
    rules: list[Rule] = []
    warnings: list[str] = []
    problems: list[OptionError] = []
    for one in written:
        try:
            rules.append(_parse(one, one.text))
        except RuleProblem as problem:
            if one.ruling is Ruling.ALLOW:
                warnings.append(f"{one.origin}: a rule of permissions.allow cannot work and is passed over: {problem}")
            elif (meant := _parse_meant(one, problem.nearest)) is not None:
                rules.append(meant)
                warnings.append(f"{one.origin}: permissions.{one.ruling}: {one.text} is taken as {problem.nearest}")
            else:
                told = f"permissions.{one.ruling} holds a rule that cannot work: {problem}"
                problems.append(OptionError(one.origin, told))
    return tuple(rules), tuple(warnings), tuple(problems)


def _parse(one: WrittenRule, text: str) -> Rule:
    return parse_rule(text, one.ruling, source=Source(one.source), folder=one.folder, origin=one.origin)


def _parse_meant(one: WrittenRule, nearest: str) -> Rule | None:
    """The same brackets for the tool whose rules cover this one's: `Write(x)` is meant, and `Edit(x)` forbids it."""
    if not nearest or one.text.partition("(")[2] != nearest.partition("(")[2]:
        return None
    try:
        return _parse(one, nearest)
    except RuleProblem:
        return None


def find_missing(folders: Iterable[str]) -> list[str]:
    """A warning for each working folder that is not there: a misspelt one is no use to anybody."""
    missing = (folder for folder in folders if not os.path.isdir(folder))  # noqa: PTH112 (before the first request)
    return [f"{folder} is to be a working folder, too, and is not there" for folder in missing]
