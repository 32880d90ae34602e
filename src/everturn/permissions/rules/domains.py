"""Rules of the form `WebFetch(domain:example.com)`: which hosts they cover. Pure."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from everturn.core.errors import ToolFault
from everturn.permissions.rules.globs import parse_stars
from everturn.permissions.rules.rule import Rule
from everturn.ports.policy import Ruling
from everturn.ports.web import parse_web_url

PREFIX = "domain:"


def host_of(input_: dict[str, Any]) -> str | None:
    """The host that the call would reach, read as the tool reads it; None where the tool will refuse the URL."""
    url = input_.get("url")
    try:
        return parse_web_url(url).host if isinstance(url, str) else None
    except ToolFault:
        return None


def judge_domain(pattern: str, host: str) -> bool:
    """`*.` in front covers any depth below the domain, but not itself; any other `*` stays within one label."""
    if pattern == "*":
        return True
    wanted, labels = pattern.removeprefix("*.").split("."), host.split(".")
    is_below = pattern.startswith("*.")
    fits = len(labels) > len(wanted) if is_below else len(labels) == len(wanted)
    return fits and all(
        parse_stars(want).matches(label) for want, label in zip(wanted, labels[-len(wanted) :], strict=True)
    )


class DomainRules:
    """Many patterns at once: plain names and `*.` before one cost nothing for each other's sake."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._exact: dict[str, Rule] = {}
        self._below: dict[str, Rule] = {}
        self._others: list[tuple[str, Rule]] = []
        self.stern: Rule | None = None
        """What speaks where the host cannot be read, for it may be any: the first that denies or asks."""
        for rule in rules:
            if rule.ruling is not Ruling.ALLOW:
                self.stern = self.stern or rule
            pattern = plan_pattern(rule.specifier or "")
            if "*" not in pattern:
                self._exact.setdefault(pattern, rule)
            elif pattern.startswith("*.") and "*" not in pattern[2:]:
                self._below.setdefault(pattern[2:], rule)
            else:
                self._others.append((pattern, rule))

    def find(self, host: str) -> Rule | None:
        if (rule := self._exact.get(host)) is not None:
            return rule
        above = host
        while above:
            above = above.partition(".")[2]
            if (rule := self._below.get(above)) is not None:
                return rule
        return next((rule for pattern, rule in self._others if judge_domain(pattern, host)), None)


def plan_pattern(specifier: str) -> str:
    """As `parse_web_url` writes hosts: small, ASCII, without a dot at the end, an address without brackets."""
    pattern = specifier.removeprefix(PREFIX).strip().lower().removesuffix(".").strip("[]")
    with suppress(UnicodeError):
        return ".".join(label if label.isascii() else label.encode("idna").decode() for label in pattern.split("."))
    return pattern
