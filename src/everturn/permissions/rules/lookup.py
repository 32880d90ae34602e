"""Which rule covers a call, by the name of its tool and its fields. Paths and commands have judges of their own. Pure."""

from collections.abc import Iterable
from typing import Any

from everturn.permissions.rules.names import ALIASES
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.rules.rule_parser import PATH_TOOLS, field_of
from everturn.ports.policy import Ruling

_JUDGED_ELSEWHERE = PATH_TOOLS | {"Bash"}


class Lookup:
    """Sorts a tool's rules when it is asked about first."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._sorted: dict[tuple[str, Ruling], _ToolRules] = {}

    def find(self, tool: str, ruling: Ruling, input_: dict[str, Any]) -> Rule | None:
        """The first rule of this kind that covers the call."""
        rules = self._of(tool, ruling)
        return rules.whole or rules.find(ALIASES.get(tool, tool), input_)

    def find_whole(self, tool: str, ruling: Ruling) -> Rule | None:
        """The first rule that covers every call of the tool."""
        return self._of(tool, ruling).whole

    def _of(self, tool: str, ruling: Ruling) -> "_ToolRules":
        key = tool, ruling
        if (found := self._sorted.get(key)) is None:
            found = self._sorted[key] = _ToolRules(self._rules.covering(tool, ruling))
        return found


def covers_whole(rule: Rule) -> bool:
    """`Bash` and `Bash(*)` alike; the `*` of a path is a path."""
    return rule.specifier is None or (rule.specifier == "*" and rule.tool not in PATH_TOOLS)


class _ToolRules:
    def __init__(self, rules: Iterable[Rule]) -> None:
        self.whole: Rule | None = None
        self._fields: dict[str, _Texts] = {}
        self._texts = _Texts()
        domains: list[Rule] = []
        for rule in rules:
            if covers_whole(rule):
                self.whole = self.whole or rule
            elif (about := field_of(rule)) is not None:
                self._fields.setdefault(about[0], _Texts()).add(about[1], rule)
            elif rule.tool == "WebFetch":
                domains.append(rule)
            elif rule.tool not in _JUDGED_ELSEWHERE:
                self._texts.add(rule.specifier or "", rule)
        self._domains = None
        if domains:
            from everturn.permissions.rules.domains import DomainRules

            self._domains = DomainRules(domains)

    def find(self, tool: str, input_: dict[str, Any]) -> Rule | None:
        for field, texts in self._fields.items():
            value = _scalar(input_.get(field))
            if value is not None and (rule := texts.find(value)) is not None:
                return rule
        if self._domains is not None:
            from everturn.permissions.rules.domains import host_of

            host = host_of(input_)
            return self._domains.find(host) if host is not None else self._domains.stern
        if tool == "Agent":
            kind = input_.get("subagent_type")
            return self._texts.find(kind) if isinstance(kind, str) else None
        return self._find_skill(input_) if tool == "Skill" else None

    def _find_skill(self, input_: dict[str, Any]) -> Rule | None:
        name, arguments = input_.get("skill"), input_.get("args")
        if not isinstance(name, str):
            return None
        whole = f"{name} {arguments}" if isinstance(arguments, str) and arguments.strip() else name
        found = self._texts.find(whole)
        if found is None and whole != name:
            found = self._texts.find(name)
            # `Skill(deploy)` allows it bare; it denies it with any arguments.
            found = None if found is not None and found.ruling is Ruling.ALLOW else found
        return found


class _Texts:
    """Plain texts and those with a `*`, each with its rule. ` *` at the end matches the bare text, too."""

    def __init__(self) -> None:
        self._plain: dict[str, Rule] = {}
        self._globs: list[tuple[Any, Rule]] = []

    def add(self, text: str, rule: Rule) -> None:
        if "*" not in text:
            self._plain.setdefault(text, rule)
            return
        from everturn.permissions.rules.globs import parse_stars

        self._globs.append((parse_stars(text), rule))
        if text.endswith(" *"):
            self._globs.append((parse_stars(text[:-2]), rule))

    def find(self, text: str) -> Rule | None:
        plain = self._plain.get(text)
        return plain or next((rule for glob, rule in self._globs if glob.matches(text)), None)


def _scalar(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None
