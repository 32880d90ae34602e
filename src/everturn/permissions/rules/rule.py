"""One rule as a value, and the set of all that are in force. What they cover is judged by the rooms of their tools."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from everturn.ports.policy import Ruling

ORDER = (Ruling.DENY, Ruling.ASK, Ruling.ALLOW)
"""The first kind that matches decides; how special a rule is does not matter."""


class Source(StrEnum):
    """Where a rule stands, highest first."""

    MANAGED = "managed"
    COMMAND_LINE = "command line"
    SESSION = "session"
    LOCAL = "local"
    PROJECT = "project"
    USER = "user"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    ruling: Ruling
    """What it says of the calls that it covers."""
    tool: str
    """A name, or a glob of names."""
    specifier: str | None = None
    """Between the brackets, as written; None covers every call of the tool."""
    source: Source = Source.COMMAND_LINE
    folder: str = ""
    """What `/path` starts from: the folder of the rule's source."""

    @property
    def text(self) -> str:
        """As the user wrote it."""
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"


class RuleSet:
    """The rules in force, sorted once: what is asked per call costs what the tool's own rules cost."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = tuple(rules)
        by: dict[tuple[str, Ruling], list[Rule]] = {}
        for rule in self.rules:
            by.setdefault((rule.tool, rule.ruling), []).append(rule)
        self._by = {key: tuple(named) for key, named in by.items()}

    def of(self, tool: str, ruling: Ruling) -> tuple[Rule, ...]:
        """The rules that name exactly this tool."""
        return self._by.get((tool, ruling), ())
