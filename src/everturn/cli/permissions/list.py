"""`everturn permissions list`: every rule in force with its place, and a word where one can never decide anything."""

import os
from collections.abc import Iterable
from typing import Any

from everturn.cli.console import complain, render_json, write
from everturn.cli.folder import find_named_folder
from everturn.cli.syntax import JSON, Arguments
from everturn.core.state import Exit
from everturn.frontends.harmless import make_line
from everturn.permissions.rules.lookup import covers_whole
from everturn.permissions.rules.names import covers_name
from everturn.permissions.rules.rule import ORDER, Rule
from everturn.ports.policy import Ruling
from everturn.settings.program_files import find_roots, load_program_settings, naming_way_out


def run_list(asked: Arguments) -> int:
    from everturn.permissions.rules.written import join_rules

    roots = find_roots(os.environ, find_named_folder(asked.text("--cwd")) or None)
    merged, _ = load_program_settings(roots, os.environ)
    for remark in (*map(str, merged.problems), *merged.warnings, merged.held):
        if remark:
            complain(make_line(remark))
    with naming_way_out(roots):
        rules, unusable = join_rules(merged.permissions.rules)
    for warning in unusable:
        complain(make_line(warning))
    mode = merged.options().get("permission_mode") or "default"
    effects = Effects(rules)
    told = [(rule, effects.judge(rule)) for rule in sorted(rules, key=lambda rule: ORDER.index(rule.ruling))]
    if JSON.name in asked:
        write(f"{render_json({'mode': mode, 'rules': [encode_rule(*each) for each in told]})}\n")
    else:
        write(render_rules(told, mode))
    # Nobody could run with these settings, so nobody should take the list for what is in force.
    return Exit.USAGE if merged.problems else Exit.OK


class Effects:
    """Which rules can never decide anything, whatever is called: a stricter or wider one always speaks first."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._first: dict[tuple[str, str | None, Ruling], Rule] = {}
        self._wholes: dict[Ruling, list[Rule]] = {ruling: [] for ruling in ORDER}
        for rule in rules:
            known = self._first.setdefault((rule.tool, rule.specifier, rule.ruling), rule)
            if known is rule and covers_whole(rule):
                self._wholes[rule.ruling].append(rule)

    def judge(self, rule: Rule) -> str:
        """Why it never does; empty where it may."""
        for ruling in ORDER[: ORDER.index(rule.ruling)]:
            if same := self._first.get((rule.tool, rule.specifier, ruling)):
                return f"contradicted: the same rule is under {ruling} in {same.place}, and {ruling} comes first"
            if whole := self._find_whole(rule, ruling):
                return f"never decides: {whole.text}, under {ruling} in {whole.place}, covers all of it"
        first = self._first[rule.tool, rule.specifier, rule.ruling]
        if first is not rule:
            return f"said already in {first.origin or first.place}"
        if not covers_whole(rule) and (whole := self._find_whole(rule, rule.ruling)):
            return f"never decides: {whole.text}, in {whole.place}, says the same of all of it"
        return ""

    def _find_whole(self, rule: Rule, ruling: Ruling) -> Rule | None:
        return next((each for each in self._wholes[ruling] if covers_name(each.tool, rule.tool)), None)


def encode_rule(rule: Rule, effect: str) -> dict[str, Any]:
    return {
        "rule": rule.text,
        "decision": rule.ruling,
        "source": rule.source,
        "origin": rule.origin,
        "never": effect or None,
    }


def render_rules(told: list[tuple[Rule, str]], mode: str) -> str:
    lines = [f"mode: {mode}"]
    for ruling in (Ruling.DENY, Ruling.ASK, Ruling.ALLOW):
        of_kind = [(rule, effect) for rule, effect in told if rule.ruling is ruling]
        if of_kind:
            lines.append(f"{ruling}:")
        for rule, effect in of_kind:
            lines.append(f"  {make_line(rule.text)}  ({rule.source}, {make_line(rule.origin or rule.place)})")
            if effect:
                lines.append(f"    ! {make_line(effect)}")
    if len(lines) == 1:
        lines.append("There are no rules: the mode alone decides.")
    return "".join(f"{line}\n" for line in lines)
