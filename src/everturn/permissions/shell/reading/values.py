"""What a variable of a command line may hold, as far as it can be told before the line runs."""

from collections.abc import Iterable

import msgspec

from everturn.core.patterns import compile_late

_MAX_TEXTS = 24
"""More possible texts than these are as good as any text."""
_MAX_CHARACTERS = 4_096
"""Of all of them: `x=$x$x` doubles."""
_NUMBER = compile_late(r"-?[0-9]*")


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """The union of all that it names."""

    texts: frozenset[str] = frozenset()
    """One of these."""
    below: frozenset[str] = frozenset()
    """The name of a file below one of these folders, which it begins with: it is never an option."""
    names: frozenset[str] = frozenset()
    """The name of a file below one of these folders, in any spelling."""
    number: bool = False
    anything: bool = False

    @property
    def is_number(self) -> bool:
        """Arithmetic may evaluate it; empty counts as zero."""
        if self.anything or self.below or self.names:
            return False
        return all(_NUMBER.fullmatch(text) for text in self.texts)

    @property
    def folders(self) -> frozenset[str]:
        return self.below | self.names


ANYTHING = Value(anything=True)
NUMBER = Value(number=True)
UNSET = Value(texts=frozenset({""}))


def of_texts(texts: Iterable[str]) -> Value:
    found = frozenset(texts)
    is_small = len(found) <= _MAX_TEXTS and sum(map(len, found)) <= _MAX_CHARACTERS
    return Value(texts=found) if is_small else ANYTHING


def join_values(*values: Value) -> Value:
    """One of them, nobody knows which."""
    if any(value.anything for value in values):
        return ANYTHING
    texts = frozenset[str]().union(*(value.texts for value in values))
    if len(texts) > _MAX_TEXTS:
        return ANYTHING
    return Value(
        texts=texts,
        below=frozenset[str]().union(*(value.below for value in values)),
        names=frozenset[str]().union(*(value.names for value in values)),
        number=any(value.number for value in values),
    )


class VariableScope(msgspec.Struct, frozen=True):
    """The variables that a line has set so far. Never mutated: what sets one more builds the next."""

    values: tuple[tuple[str, Value], ...] = ()
    loose: bool = False
    """Something has run that may have set any of the others: `eval`, `source`, a function."""

    def find(self, name: str) -> Value | None:
        found = next((value for known, value in self.values if known == name), None)
        return ANYTHING if found is None and self.loose else found

    def set(self, name: str, value: Value) -> "VariableScope":
        return VariableScope((*(each for each in self.values if each[0] != name), (name, value)), self.loose)

    def join(self, other: "VariableScope") -> "VariableScope":
        """As after a branch that may have been taken. What only one of them has set may be unset."""
        if self == other:
            return self
        names = dict.fromkeys(name for scope in (self, other) for name, _ in scope.values)
        values = ((name, join_values(self.find(name) or UNSET, other.find(name) or UNSET)) for name in names)
        return VariableScope(tuple(values), self.loose or other.loose)


EMPTY = VariableScope()
LOOSE = VariableScope(loose=True)
