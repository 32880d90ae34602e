"""What the model may do in place of a call that was denied: the rule or mode that would help, and the nearest thing that is allowed."""

from collections.abc import Callable, Iterable
from posixpath import basename

from everturn.permissions.granting import plan_grants
from everturn.permissions.judgement import Judgement
from everturn.permissions.modes import Mode
from everturn.permissions.rules.rule import Rule
from everturn.permissions.ruling import Finding
from everturn.permissions.shell.runners import INTERPRETERS
from everturn.ports.policy import Call
from everturn.ports.scratch import VARIABLE
from everturn.ports.tool import Access
from everturn.workspace.paths import is_inside

_MOST_RULES = 6
"""Rules that are named."""
_RUN_TESTS = ("pytest", "test", "jest", "vitest", "unittest", "tox", "nox")

Tries = Callable[[tuple[str, ...], str | None], bool]
"""Whether the call would run with these rules besides, or in this mode."""


def advise(
    call: Call, finding: Finding, *, mode: Mode, folders: tuple[str, ...], allowing: Iterable[Rule], helps: Tries
) -> list[str]:
    """Sentences. `allowing`: the rules that allow some calls of the tool."""
    if mode is Mode.PLAN:
        return ["Plan mode allows what only reads; what should change belongs in the plan."]
    told = [_tell_way(call, finding.judgement, helps)]
    if call.name == "Bash" and call.traits.access is Access.EXECUTE:
        told.append(_tell_allowed(tuple(allowing), finding.judgement, mode))
    elif finding.trace is not None and not any(is_inside(each, finding.trace.target) for each in folders):
        told.append(f"The working folder is {', '.join(folders)}.")
    return [each for each in told if each]


def wants_place(call: Call, finding: Finding, folders: tuple[str, ...]) -> bool:
    """What it would write could as well lie in the scratch folder."""
    if finding.trace is None:
        return finding.judgement.movable
    inside = not finding.trace.target or any(is_inside(each, finding.trace.target) for each in folders)
    return call.traits.access is Access.EDIT and not inside


def _tell_way(call: Call, judgement: Judgement, helps: Tries) -> str:
    """A rule or a mode that was tried. Nobody but the user can set it."""
    for grant in plan_grants(call):
        if helps(grant.rules, grant.mode):
            way = f"the mode {grant.mode}" if grant.mode else _name_rules(grant.rules)
            return f"The user can allow it with {way}."
    wide = tuple(dict.fromkeys(filter(None, map(_plan_wide, judgement.refused))))
    if wide and helps(wide, None):
        return f"The user can allow it with {_name_rules(wide)}, for any such code; no narrower rule would do."
    return ""


def _plan_wide(part: str) -> str:
    """For a program that runs code: all of it, or all from the scratch folder."""
    program, _, rest = part.partition(" ")
    if basename(program) not in INTERPRETERS:
        return ""
    place = next(
        (form for form in (f"${VARIABLE}/", f'"${VARIABLE}/', f"${{{VARIABLE}}}/") if rest.startswith(form)), ""
    )
    return f"Bash({program} {place}*)"


def _tell_allowed(allowing: tuple[Rule, ...], judgement: Judgement, mode: Mode) -> str:
    if not judgement.refused or any(rule.specifier is None for rule in allowing):
        return ""
    if not allowing:
        return "No rule allows commands here; those that only read may run."
    rules = tuple(rule.shown for rule in allowing)
    told = f"Allowed are commands by {_name_rules(rules)}, and those that only read."
    runs_code = any(basename(part.partition(" ")[0]) in INTERPRETERS for part in judgement.refused)
    if runs_code and mode is Mode.ACCEPT_EDITS and any(word in rule for rule in rules for word in _RUN_TESTS):
        told += " To try code out, put it into a test and run that."
    return told


def _name_rules(rules: tuple[str, ...]) -> str:
    shown = ", ".join(rules[:_MOST_RULES])
    more = len(rules) - _MOST_RULES
    return f"the rule{'s' if len(rules) > 1 else ''} {shown}{f' and {more} more' if more > 0 else ''}"
