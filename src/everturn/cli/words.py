"""From the words behind a command of the program to names and flags; a flag may be given several times. Pure."""

from collections.abc import Mapping

import msgspec

from everturn.cli.usage import UsageError
from everturn.settings.checks import nearest


class Words(msgspec.Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    flags: dict[str, tuple[str, ...]]
    """With all their values; empty texts for one that takes none."""

    def __contains__(self, flag: str) -> bool:
        return flag in self.flags

    def all(self, flag: str) -> tuple[str, ...]:
        return self.flags.get(flag, ())

    def last(self, flag: str) -> str:
        """Empty where it was not given."""
        return self.flags[flag][-1] if flag in self.flags else ""


def parse_words(command: str, words: list[str], known: Mapping[str, str], *, see: str, hint: str = "") -> Words:
    """`known` are the flags, each with what its value is called, or nothing. Raises `UsageError`.

    `hint`: said of an unknown flag behind a name, which it may be meant for.
    """
    names: list[str] = []
    flags: dict[str, tuple[str, ...]] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            names += left
            break
        flag, equals, value = word.partition("=")
        # A flag holds no blank before its value: what does is a text in quotes.
        if not word.startswith("-") or word == "-" or " " in flag:
            names.append(word)
            continue
        if flag not in known:
            told = f"{command} knows no {flag!r}{nearest(flag, known)}"
            raise UsageError(f"{told}; {hint}" if hint and names else told, see=see)
        if known[flag] and not equals:
            if not left:
                raise UsageError(f"{flag} needs a value: {flag} {known[flag]}", see=see)
            value = left.pop(0)
        if equals and not known[flag]:
            raise UsageError(f"{flag} takes no value", see=see)
        flags[flag] = (*flags.get(flag, ()), value)
    return Words(names=tuple(names), flags=flags)
