"""From the text of a rule to a `Rule`. One that could never work is refused, with the reason and the nearest right form."""

import re

from everturn.permissions.rules.names import ALIASES, SERVER, find_alike, is_open_glob
from everturn.permissions.rules.rule import Rule, Source
from everturn.ports.policy import Ruling

PATH_TOOLS = frozenset({"Read", "Edit"})
"""What stands in their brackets is a path."""
_COVERED_BY = {
    **dict.fromkeys(("Write", "NotebookEdit", "MultiEdit"), "Edit"),
    **dict.fromkeys(("Grep", "Glob", "LS", "NotebookRead"), "Read"),
}
"""Rules for the paths of these are never consulted: the rules of the other tool cover them."""
_BRACKETED = ("Bash", "PowerShell", "Read", "Edit", "WebFetch", "Agent", "Task", "Skill", *_COVERED_BY)
_RIGHT_NAMES = {name.lower(): _COVERED_BY.get(name, name) for name in _BRACKETED}
"""By a name in small letters the tool whose rules have brackets."""
TOOL_NAMES = frozenset(
    {
        *_BRACKETED,
        *("AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TaskOutput", "TaskStop", "TodoWrite", "ToolSearch"),
        "WebSearch",
    }
)
"""Our own, and those of other programs whose rules we read. Any other name may be a tool of a server."""
_PRIMARY = frozenset({"command", "file_path", "path", "notebook_path", "url"})
_FIELDS = {
    "Bash": frozenset({"timeout", "description", "run_in_background", "dangerouslyDisableSandbox"}),
    "Read": frozenset({"offset", "limit", "pages"}),
    "WebFetch": frozenset({"prompt"}),
    "Edit": frozenset({"old_string", "new_string", "replace_all"}),
}
"""Where anything else with a colon in it is a command, a path or a URL."""
_NAME = r"[A-Za-z0-9_*-]{1,256}"
_FIELD = r"(?P<field>[A-Za-z_][A-Za-z0-9_]*):(?P<value>(?s:.*))"
_DOMAIN = r"[^\s/()@:?#\[\]]+|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]?"


class RuleProblem(ValueError):
    """A rule that could never work."""

    def __init__(self, text: str, reason: str, nearest: str = "") -> None:
        shown = text if len(text) <= 120 else f"{text[:117]}…"  # noqa: PLR2004 (a line of a message)
        hint = f"; did you mean {nearest}?" if nearest and len(nearest) <= 200 else ""  # noqa: PLR2004
        super().__init__(f"{shown} {reason}{hint}")
        self.text = text
        self.reason = reason
        self.nearest = nearest

    def suggesting(self, nearest: str) -> "RuleProblem":
        return RuleProblem(self.text, self.reason, nearest)


def parse_rule(
    text: str, ruling: Ruling, *, source: Source = Source.COMMAND_LINE, folder: str = "", origin: str = ""
) -> Rule:
    """Raises `RuleProblem`. A tool that nobody knows is no problem: another machine may have it."""
    try:
        return _parse(text, ruling, source=source, folder=folder, origin=origin)
    except RuleProblem as problem:
        if (nearest := _mend_name(text.strip(), problem.nearest)) != problem.nearest:
            raise problem.suggesting(nearest) from None
        raise


def _parse(text: str, ruling: Ruling, *, source: Source, folder: str, origin: str) -> Rule:
    tool, specifier = _take_apart(text.strip(), text)
    rule = Rule(ruling=ruling, tool=tool, specifier=specifier, source=source, folder=folder, origin=origin)
    _check_name(rule)
    if specifier is not None and specifier != "*":
        _check_specifier(rule, specifier)
    return rule


def _mend_name(text: str, nearest: str) -> str:
    """What is suggested names a real tool, where the rule has a slip in its name: `Bsh(ls)` is meant as `Bash(ls)`."""
    name, bracket, rest = nearest.partition("(")
    meant = "" if name in TOOL_NAMES or name.startswith(SERVER) else find_alike(name, TOOL_NAMES)
    if not meant:
        return nearest
    if not bracket and text.endswith(")"):
        # It was narrowed in vain only because of its name.
        _, bracket, rest = text.partition("(")
    return f"{meant}{bracket}{rest}" if rest.strip(")") else meant


def field_of(rule: Rule) -> tuple[str, str] | None:
    """Name and pattern of the input field that a rule such as `Agent(model:opus)` is about."""
    if rule.specifier is None or rule.ruling is Ruling.ALLOW:
        return None
    found = re.fullmatch(_FIELD, rule.specifier)
    if found is None or rule.tool == "Skill":
        return None
    known = _FIELDS.get(rule.tool)
    return (found["field"], found["value"]) if known is None or found["field"] in known else None


def _take_apart(text: str, given: str) -> tuple[str, str | None]:
    if not text:
        raise RuleProblem(repr(given), "is empty")
    if "\0" in text:
        raise RuleProblem(repr(text), "holds a null character, which nothing to match can")
    name, bracket, rest = text.partition("(")
    if not bracket:
        if ")" in name:
            raise RuleProblem(text, "closes a bracket that was not opened", _reopened(name))
        return name, None
    if not rest.endswith(")"):
        raise RuleProblem(text, "opens a bracket that is not closed at its end", _closed(text))
    if name != name.rstrip():
        raise RuleProblem(text, "has a blank before its bracket", f"{name.rstrip()}({rest}")
    specifier = rest[:-1]
    if not specifier.strip():
        raise RuleProblem(text, "has nothing between its brackets", name)
    return name, specifier


def _reopened(name: str) -> str:
    tool, blank, rest = name.partition(" ")
    return f"{tool}({rest}" if blank else name.replace(")", "")


def _closed(text: str) -> str:
    return f"{text})" if ")" not in text else text[: text.rindex(")") + 1]


def _check_name(rule: Rule) -> None:
    if not re.fullmatch(_NAME, rule.tool):
        raise RuleProblem(rule.text, "does not begin with the name of a tool", _bracketed(rule))
    if rule.ruling is Ruling.ALLOW and is_open_glob(rule.tool):
        nearest = "mcp__<server>__*" if rule.tool.startswith(SERVER) else ""
        raise RuleProblem(
            rule.text, "allows tools by a glob without naming their server; an allow rule names its tool", nearest
        )


def _bracketed(rule: Rule) -> str:
    """`Bash: npm test` and `npm test` alike name a command."""
    if rule.specifier is not None:
        return ""
    name, colon, rest = rule.tool.partition(":")
    if colon and (right := _RIGHT_NAMES.get(name.strip().lower())) and rest.strip():
        return f"{right}({rest.strip()})"
    return f"Bash({rule.tool})" if len(rule.tool.split()) > 1 else ""


def _check_specifier(rule: Rule, specifier: str) -> None:
    """One kind of tool after the other, each with what may stand in its brackets."""
    tool = ALIASES.get(rule.tool, rule.tool)
    if rule.tool not in _BRACKETED and (right := _RIGHT_NAMES.get(rule.tool.lower())):
        raise RuleProblem(
            rule.text, f"names no tool: capitals count, and {rule.tool} is another name", f"{right}({specifier})"
        )
    found = re.fullmatch(_FIELD, specifier)
    if found and found["field"] in _PRIMARY:
        raise _primary_problem(rule, found["field"], found["value"].strip())
    if tool == "WebFetch" and field_of(rule) is None:
        _check_domain(rule, specifier)
    elif found and rule.ruling is Ruling.ALLOW and _speaks_of_field(tool, found["field"], found["value"]):
        raise RuleProblem(
            rule.text, f"allows by the field {found['field']}, which only deny and ask rules can", rule.tool
        )
    elif field_of(rule) is not None or tool in {"Bash", "PowerShell", "Monitor", "Agent", "Skill"}:
        return
    elif tool in PATH_TOOLS:
        _check_path(rule, specifier)
    elif other := _COVERED_BY.get(tool):
        raise RuleProblem(
            rule.text, f"is never consulted: the paths of {tool} are covered by {other} rules", f"{other}({specifier})"
        )
    else:
        raise RuleProblem(rule.text, f"narrows {tool}, which takes nothing between brackets", rule.tool)


def _speaks_of_field(tool: str, field: str, value: str) -> bool:
    """`Bash(timeout:*)` is the command of that name."""
    is_prefix = tool == "Bash" and value == "*"
    return tool != "Skill" and not is_prefix and field in _FIELDS.get(tool, {field})


def _primary_problem(rule: Rule, field: str, value: str) -> RuleProblem:
    tool = _COVERED_BY.get(rule.tool, rule.tool)
    nearest = f"WebFetch(domain:{_host_in(value)})" if tool == "WebFetch" else f"{tool}({value})"
    return RuleProblem(rule.text, f"names the field {field}, which is what the brackets stand for already", nearest)


def _check_domain(rule: Rule, specifier: str) -> None:
    _, given, domain = specifier.partition("domain:") if specifier.startswith("domain:") else ("", "", specifier)
    domain = domain.strip()
    if not given:
        raise RuleProblem(rule.text, "does not say what it names", f"WebFetch(domain:{_host_in(domain)})")
    if not domain or not re.fullmatch(_DOMAIN, domain):
        raise RuleProblem(
            rule.text,
            "names no host: neither scheme, port nor path belong here",
            f"WebFetch(domain:{_host_in(domain)})",
        )


def _host_in(text: str) -> str:
    bare = re.sub(r"^[a-z+]+://", "", text.strip(), flags=re.IGNORECASE).rpartition("@")[2]
    return re.split(r"[/:?#\s]", bare, maxsplit=1)[0] or "example.com"


def _check_path(rule: Rule, specifier: str) -> None:
    from everturn.permissions.rules.globs import GlobError
    from everturn.permissions.rules.patterns import parse_pattern

    if specifier.startswith("!"):
        raise RuleProblem(
            rule.text, "begins with !, but nothing is taken out of a rule again; write a rule of another kind for it"
        )
    try:
        parse_pattern(specifier, rule.ruling)
    except GlobError as error:
        raise RuleProblem(rule.text, str(error)) from None
