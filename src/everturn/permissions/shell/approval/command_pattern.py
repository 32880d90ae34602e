"""Does a rule's text cover a command's text? `*` stands for any characters; everything else for itself.

No regular expressions: a pattern is its literal pieces, found one after the other, so that time grows with the length of
the text and never with the number of ways to match it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.ports.policy import Ruling

TOOL = "Bash"
_PRIMARY = "command"


class CommandPattern(msgspec.Struct, frozen=True):
    pieces: tuple[str, ...]
    """What stands between the stars."""
    open_ended: bool = False
    """Ended with ` *` or `:*`: the bare prefix is covered, too, and a longer word is not."""

    @property
    def is_exact(self) -> bool:
        return len(self.pieces) == 1 and not self.open_ended

    @property
    def is_everything(self) -> bool:
        return len(self.pieces) > 1 and not any(self.pieces)

    @property
    def head(self) -> str:
        """What every text that it covers begins with."""
        return self.pieces[0]

    @property
    def tail(self) -> str:
        """What every text that it covers ends with."""
        return "" if self.open_ended else self.pieces[-1]

    def covers(self, text: str) -> bool:
        if not self.open_ended:
            return _covers(self.pieces, text)
        return _covers(self.pieces, text) or _covers((*self.pieces[:-1], f"{self.pieces[-1]} ", ""), text)


def parse_pattern(specifier: str | None) -> CommandPattern:
    """None is every command."""
    if specifier is None:
        return CommandPattern(("", ""))
    for ending in (":*", " *"):
        if specifier.endswith(ending):
            return CommandPattern(tuple(specifier.removesuffix(ending).strip(" ").split("*")), open_ended=True)
    return CommandPattern(tuple(specifier.strip(" ").split("*")))


def _covers(pieces: tuple[str, ...], text: str) -> bool:
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in pieces[1:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


class Patterns:
    """The rules of one ruling, sorted by their heads and tails: ten thousand of them cost little more than ten."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_head: dict[str, list[tuple[CommandPattern, Rule]]] = {}
        self._by_tail: dict[str, list[tuple[CommandPattern, Rule]]] = {}
        self._parameters: list[tuple[str, CommandPattern, Rule]] = []
        self._count = 0
        for rule in rules:
            name, colon, value = (rule.specifier or "").partition(":")
            if colon and name == _PRIMARY:
                continue
            if colon and value != "*" and name.isidentifier():
                self._parameters.append((name, parse_pattern(value), rule))
            pattern = parse_pattern(rule.specifier)
            if pattern.head or not pattern.tail:
                self._by_head.setdefault(pattern.head, []).append((pattern, rule))
            else:
                self._by_tail.setdefault(pattern.tail, []).append((pattern, rule))
            self._count += 1
        self._heads = sorted(self._by_head)
        self._head_lengths = sorted({len(head) for head in self._by_head})
        self._tail_lengths = sorted({len(tail) for tail in self._by_tail})

    def __bool__(self) -> bool:
        return self._count > 0

    def find(self, text: str) -> Rule | None:
        return next((rule for _, rule in self.covering(text)), None)

    def covering(self, text: str) -> Iterator[tuple[CommandPattern, Rule]]:
        for length in self._head_lengths:
            if length > len(text):
                break
            yield from _covering(self._by_head.get(text[:length], ()), text)
        for length in self._tail_lengths:
            if length > len(text):
                break
            yield from _covering(self._by_tail.get(text[-length:], ()), text)

    def find_possible(self, beginning: str) -> Rule | None:
        """A rule that covers some text with this beginning, though perhaps not the one that will run."""
        at = bisect_left(self._heads, beginning)
        if at < len(self._heads) and self._heads[at].startswith(beginning):
            return self._by_head[self._heads[at]][0][1]
        for length in self._head_lengths:
            for pattern, rule in self._by_head.get(beginning[:length], ()) if length <= len(beginning) else ():
                if not pattern.is_exact:
                    return rule
        return next((found[0][1] for found in self._by_tail.values()), None)

    def list_programs(self) -> Iterator[str]:
        """Names that the texts begin with which rules cover."""
        return (name for head in self._heads if (name := head.partition(" ")[0]))

    def find_parameter(self, given: dict[str, Any]) -> Rule | None:
        """`Bash(run_in_background:true)`: a rule about what is sent beside the command."""
        for name, pattern, rule in self._parameters:
            value = given.get(name)
            if isinstance(value, str | int | float) and pattern.covers(_render(value)):
                return rule
        return None


def _covering(candidates: Iterable[tuple[CommandPattern, Rule]], text: str) -> Iterator[tuple[CommandPattern, Rule]]:
    for pattern, rule in candidates:
        if pattern.covers(text):
            yield pattern, rule


def _render(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_sorted: WeakKeyDictionary[RuleSet, dict[Ruling, Patterns]] = WeakKeyDictionary()


def patterns_of(rules: RuleSet, ruling: Ruling) -> Patterns:
    """Sorted at the first call and kept as long as the rules are."""
    kept = _sorted.setdefault(rules, {})
    if ruling not in kept:
        kept[ruling] = Patterns(rules.covering(TOOL, ruling))
    return kept[ruling]
