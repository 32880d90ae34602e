"""Reads the rules of the command line, and warns about rules that probably do not do what was meant. Pure."""

from collections.abc import Collection, Iterable

from everturn.core.errors import OptionError
from everturn.permissions.rules.names import ALIASES, SERVER, covers_name
from everturn.permissions.rules.rule import Rule
from everturn.permissions.rules.rule_parser import PATH_TOOLS, RuleProblem, parse_rule
from everturn.ports.policy import Ruling

_ROOTS = frozenset(
    {"bin", "dev", "etc", "home", "lib", "mnt", "opt", "private", "proc", "root", "srv", "tmp", "usr", "var", "Users"}
)


def parse_given(field: str, texts: Iterable[str], ruling: Ruling, folder: str) -> tuple[Rule, ...]:
    """Rules of the command line, or of a program's options. Raises `OptionError`: who wrote them is there to mend them."""
    if isinstance(texts, str):
        raise OptionError(field, f"must be a list of rules, not the text {texts!r:.60}")
    rules: list[Rule] = []
    for text in texts:
        if not isinstance(text, str):
            raise OptionError(field, f"must hold rules, which are texts, not {text!r:.60}")
        try:
            rules.append(parse_rule(text, ruling, folder=folder))
        except RuleProblem as problem:
            raise OptionError(field, f"holds a rule that cannot work: {problem}") from None
    return tuple(rules)


def advise_rule(rule: Rule) -> str | None:
    """Of a rule that works, but hardly as it was meant."""
    path = rule.specifier or ""
    first = path[1:].partition("/")[0]
    if rule.tool in PATH_TOOLS and path.startswith("/") and first in _ROOTS:
        return f"{rule.shown} starts from the folder of its settings; an absolute path has two slashes: {rule.tool}(/{path})."
    return None


def find_strangers(rules: Iterable[Rule], known: Collection[str]) -> list[Rule]:
    """Rules for tools that are not there; one of a server may come later."""
    rules = tuple(rules)
    strange = {
        tool
        for tool in {rule.tool for rule in rules}.difference(known)
        if tool not in ALIASES and not tool.startswith(SERVER) and not any(covers_name(tool, name) for name in known)
    }
    return [rule for rule in rules if rule.tool in strange]
