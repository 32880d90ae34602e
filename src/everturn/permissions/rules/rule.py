"""One rule as a value, and the set of all rules in force. What a rule covers is judged elsewhere."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from everturn.permissions.rules.names import ALIASES, SERVER, covers_name
from everturn.ports.policy import Ruling

ORDER = (Ruling.DENY, Ruling.ASK, Ruling.ALLOW)
"""The first kind that matches decides; how special a rule is does not matter."""

_VERBS = {Ruling.DENY: "denies", Ruling.ASK: "wants a person to be asked about", Ruling.ALLOW: "allows"}


class Source(StrEnum):
    """Where a rule stands, highest first."""

    MANAGED = "managed"
    COMMAND_LINE = "command line"
    SESSION = "session"
    LOCAL = "local"
    PROJECT = "project"
    USER = "user"


_PLACES = {Source.COMMAND_LINE: "command line", Source.SESSION: "this session"}


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
    origin: str = ""
    """For people: `file:line`, where it is known."""

    @property
    def text(self) -> str:
        """As the user wrote it."""
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return _PLACES.get(self.source, f"{self.source} settings")

    @property
    def sentence(self) -> str:
        """`the rule Read(./.env) (project settings) denies it`."""
        return f"the rule {self.shown} ({self.place}) {_VERBS[self.ruling]} it"

    @property
    def shown(self) -> str:
        """The text, where it fits into a sentence."""
        text = self.text
        return text if len(text) <= 200 else f"{text[:197]}…"  # noqa: PLR2004 (a line of a message)


class RuleSet:
    """The rules in force, sorted once: what is asked per call costs what the tool's own rules cost."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = tuple(rules)
        self.only_allows = all(rule.ruling is Ruling.ALLOW for rule in self.rules)
        """None of them denies anything, nor wants a person to be asked."""
        by: dict[tuple[str, Ruling], list[Rule]] = {}
        self._globs: dict[Ruling, list[Rule]] = {}
        for rule in self.rules:
            if "*" in rule.tool or rule.tool.startswith(SERVER) or rule.tool in ALIASES:
                self._globs.setdefault(rule.ruling, []).append(rule)
            by.setdefault((rule.tool, rule.ruling), []).append(rule)
        self._by = {key: tuple(named) for key, named in by.items()}
        self._covering: dict[tuple[str, Ruling], tuple[Rule, ...]] = {}

    def of(self, tool: str, ruling: Ruling) -> tuple[Rule, ...]:
        """The rules that name exactly this tool."""
        return self._by.get((tool, ruling), ())

    def covering(self, tool: str, ruling: Ruling) -> tuple[Rule, ...]:
        """The rules whose name, glob or server covers this tool; what is between their brackets is not looked at."""
        key = tool, ruling
        if (found := self._covering.get(key)) is None:
            exact = self.of(tool, ruling)
            wide = (rule for rule in self._globs.get(ruling, ()) if rule.tool != tool and covers_name(rule.tool, tool))
            found = self._covering[key] = (*exact, *wide)
        return found

    def without(self, ruling: Ruling) -> "RuleSet":
        return RuleSet(rule for rule in self.rules if rule.ruling is not ruling)
