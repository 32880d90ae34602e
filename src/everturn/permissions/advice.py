"""What the model may do in place of a call that was denied: the rule or mode that would help, and the nearest thing that is allowed."""

from collections.abc import Callable, Iterable
from posixpath import basename

from everturn.core.modes import PermissionMode
from everturn.permissions.call_judge import JudgedCall
from everturn.permissions.grants import find_needed, plan_grants
from everturn.permissions.judgement import Judgement
from everturn.permissions.rules.rule import Rule
from everturn.permissions.shell.readonly.versions import find_environment, say_environment
from everturn.permissions.shell.running.runners import INTERPRETERS
from everturn.ports.policy import Call
from everturn.ports.scratch import VARIABLE
from everturn.ports.tool import Access
from everturn.workspace.paths import is_inside

_MAX_RULES = 6
"""Rules that are named."""
_MAX_RULE = 120
"""Characters of a rule that is named: one that repeats a whole program helps nobody."""
_CHANGE_FILES = frozenset({"cp", "install", "mv", "perl", "sed", "touch", "truncate"})
"""What they do in the scratch folder can be done there without approval by other means."""
THERE = "In the temporary folder, Write, Edit, redirections and plain cp, tee and mkdir need no approval."
_RUN_TESTS = ("pytest", "test", "jest", "vitest", "unittest", "tox", "nox")

Tries = Callable[[tuple[str, ...], str | None], bool]
"""Whether the call would run with these rules besides, or in this mode."""


def advise(
    call: Call,
    finding: JudgedCall,
    *,
    mode: PermissionMode,
    folders: tuple[str, ...],
    folder: str,
    allowing: Iterable[Rule],
    helps: Tries,
) -> list[str]:
    """Sentences. `folder`: where a command would start. `allowing`: the rules that allow some calls of the tool."""
    if mode is PermissionMode.PLAN:
        return ["Plan mode allows what only reads in the working folders; what should change belongs in the plan."]
    told = [_tell_way(call, finding.judgement, helps)]
    if call.name == "Bash" and call.traits.access is Access.EXECUTE:
        told.append(_tell_allowed(tuple(allowing), finding.judgement, mode))
        if mode is not PermissionMode.ACCEPT_EDITS and any(map(_changes_scratch, finding.judgement.refused)):
            told.append(THERE)
        places = dict.fromkeys(find_environment(part, folder) for part in finding.judgement.refused)
        told += [f"{say_environment(place)}: to read and list these needs no approval." for place in places if place]
    elif finding.trace is not None and not any(is_inside(each, finding.trace.target) for each in folders):
        told.append(f"The working folder is {', '.join(folders)}.")
    return [each for each in told if each]


def wants_place(call: Call, finding: JudgedCall, folders: tuple[str, ...]) -> bool:
    """What it would write could as well lie in the scratch folder."""
    if finding.trace is None:
        return finding.judgement.movable
    inside = not finding.trace.target or any(is_inside(each, finding.trace.target) for each in folders)
    return call.traits.access is Access.EDIT and not inside


def _tell_way(call: Call, judgement: Judgement, helps: Tries) -> str:
    """A rule or a mode that was tried. Nobody but the user can set it."""
    for grant in plan_grants(call):
        if all(len(rule) <= _MAX_RULE for rule in grant.rules) and helps(grant.rules, grant.mode):
            way = (
                f"the mode {grant.mode}"
                if grant.mode
                else _name_rules(find_needed(grant.rules, lambda rules: helps(rules, None)))
            )
            return f"The user can allow it with {way}."
    wide = tuple(dict.fromkeys(filter(None, map(_plan_wide, judgement.refused))))
    if wide and helps(wide, None):
        return f"The user can allow it with {_name_rules(wide)}, which allows any such code; there is no narrower one."
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


def _tell_allowed(allowing: tuple[Rule, ...], judgement: Judgement, mode: PermissionMode) -> str:
    if not judgement.refused or any(rule.specifier is None for rule in allowing):
        return ""
    if not allowing:
        return "No rule allows commands here; those that only read may run."
    rules = tuple(rule.shown for rule in allowing)
    told = f"Allowed are commands by {_name_rules(rules)}, and those that only read."
    runs_code = any(map(_runs_own_code, judgement.refused))
    if runs_code and mode is PermissionMode.ACCEPT_EDITS and any(word in rule for rule in rules for word in _RUN_TESTS):
        told += " To try code out, put it into a test and run that."
    return told


def _changes_scratch(part: str) -> bool:
    program = basename(part.partition(" ")[0])
    return program in _CHANGE_FILES and (f"${VARIABLE}/" in part or f"${{{VARIABLE}}}/" in part)


def _runs_own_code(part: str) -> bool:
    """Not an installation (`python3 -m pip`)."""
    program, _, rest = part.partition(" ")
    return basename(program) in INTERPRETERS and not rest.startswith("-m pip")


def _name_rules(rules: tuple[str, ...]) -> str:
    shown = ", ".join(rules[:_MAX_RULES])
    more = len(rules) - _MAX_RULES
    return f"the rule{'s' if len(rules) > 1 else ''} {shown}{f' and {more} more' if more > 0 else ''}"
