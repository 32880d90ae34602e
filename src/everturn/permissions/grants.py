"""What a longer yes to a call may add: the narrowest rules that make sense, and what they cover in words. Pure."""

import re
from collections.abc import Callable

import msgspec

from everturn.core.modes import PermissionMode
from everturn.permissions.rules.domains import host_of
from everturn.ports.policy import Call, Scope

_EDITORS = frozenset({"Edit", "Write", "NotebookEdit"})
_GLOB_MARKS = re.compile(r"[\\*?\[\]!# ]")


EDITS_MEANING = (
    "changes of files in the working folders run unasked, and so do mkdir, touch, rm, rmdir, mv, cp, tee and sed there"
)


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """A possible grant. Whether it lets the call run is tried on the policy."""

    scope: Scope
    rules: tuple[str, ...] = ()
    mode: str | None = None


def plan_grants(call: Call) -> tuple[Grant, ...]:
    """Grants for this session, then for always. Calls that change files are never granted for always."""
    if call.traits.needs_person:
        return ()
    if call.name in _EDITORS:
        return (Grant(scope=Scope.SESSION, mode=PermissionMode.ACCEPT_EDITS),)
    rules = plan_rules(call)
    if not rules:
        return _plan_repetition(call)
    session = Grant(scope=Scope.SESSION, rules=rules)
    return (session,) if call.name in {"Read", "Glob", "Grep"} else (session, Grant(scope=Scope.ALWAYS, rules=rules))


def find_needed(rules: tuple[str, ...], helps: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...]:
    """The rules without those that are not needed, because another rule already allows their part.

    `helps`: whether the call would run with these.
    """
    for rule in rules:
        others = tuple(each for each in rules if each != rule)
        if others and helps(others):
            rules = others
    return rules


def _plan_repetition(call: Call) -> tuple[Grant, ...]:
    """A command for which no rule is narrow (`FOO=1 make`, `python x.py`) may run again in this session, word for word."""
    command = call.input.get("command")
    if call.name != "Bash" or not isinstance(command, str):
        return ()
    from everturn.permissions.shell.approval.narrow_rules import plan_exact_rules

    rules = plan_exact_rules(command)
    return (Grant(scope=Scope.SESSION, rules=rules),) if rules else ()


def plan_rules(call: Call) -> tuple[str, ...]:
    match call.name:
        case "Bash":
            from everturn.permissions.shell.approval.narrow_rules import plan_narrow_rules

            command = call.input.get("command")
            return plan_narrow_rules(command) if isinstance(command, str) else ()
        case "WebFetch":
            host = host_of(call.input)
            return (f"WebFetch(domain:{host})",) if host else ()
        case "Read" | "Glob" | "Grep":
            return _plan_reading(call)
        case "Agent" | "Task":
            kind = call.input.get("subagent_type")
            return (f"Agent({kind})",) if isinstance(kind, str) and kind else ()
        case "Skill":
            name = call.input.get("skill")
            return (f"Skill({name})",) if isinstance(name, str) and name else ()
        case name:
            return (name,)


def _plan_reading(call: Call) -> tuple[str, ...]:
    """One file, or the folder that is searched; only where it is named from the root, so that no folder can change it."""
    given = call.input.get("file_path" if call.name == "Read" else "path")
    if not isinstance(given, str) or not given.startswith("/") or "/../" in f"{given}/" or _GLOB_MARKS.search(given):
        return ()
    return (f"Read(/{given})",) if call.name == "Read" else (f"Read(/{given.rstrip('/')}/**)",)


def describe_rule(text: str) -> str:
    """What an allow rule lets run, in words."""
    tool, bracket, rest = text.partition("(")
    inside = rest.removesuffix(")")
    if not bracket:
        return f"every call of {tool}"
    match tool:
        case "Bash":
            return _describe_command(inside)
        case "WebFetch":
            return f"any page of {inside.removeprefix('domain:')}"
        case "Read" if inside.endswith("/**"):
            return f"reading whatever is below {_root(inside.removesuffix('/**'))}"
        case "Read":
            return f"reading {_root(inside)}"
        case "Edit":
            return f"changing {_root(inside)}"
        case _:
            return f"{tool} with {inside}"


def _root(path: str) -> str:
    return path[1:] if path.startswith("//") else path


def _describe_command(pattern: str) -> str:
    for ending in (" *", ":*"):
        prefix = pattern.removesuffix(ending)
        if prefix != pattern and "*" not in prefix:
            return f"`{prefix}` alone, or with anything after it"
    if "*" not in pattern:
        return f"exactly `{pattern}`"
    return f"`{pattern}`, where each * matches any text"
