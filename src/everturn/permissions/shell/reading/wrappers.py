"""Programs that only run another command: rules apply to that command."""

import re

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import UNKNOWN, Word

FROM_INPUT = Word(raw=UNKNOWN, value=None, template=UNKNOWN)
"""What `xargs` adds: nobody knows what."""
_DURATION = compile_late(r"[0-9]+(?:\.[0-9]+)?[smhd]?")
_LEVEL = compile_late(r"-?-?[0-9]+")
_MAX_DEPTH = 8
_MAX_WORDS = 64


class Wrapper(msgspec.Struct, frozen=True, kw_only=True):
    flags: frozenset[str] = frozenset()
    """Options without a value."""
    valued: frozenset[str] = frozenset()
    """Options whose value follows, in the next word, behind `=` or, of short ones, at once."""
    number: bool = False
    """A number may be an option: `nice -10`."""
    operand: re.Pattern[str] | None = None
    """What must stand before the command."""


WRAPPERS = {
    "timeout": Wrapper(
        flags=frozenset({"--foreground", "--preserve-status", "-v", "--verbose"}),
        valued=frozenset({"-k", "-s", "--kill-after", "--signal"}),
        operand=_DURATION,
    ),
    "time": Wrapper(flags=frozenset({"-p"})),
    "nice": Wrapper(valued=frozenset({"-n", "--adjustment"}), number=True),
    "nohup": Wrapper(),
    "stdbuf": Wrapper(valued=frozenset({"-i", "-o", "-e", "--input", "--output", "--error"})),
    "command": Wrapper(flags=frozenset({"-p"})),
    "builtin": Wrapper(),
}


def strip_wrappers(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The command that wrappers would run; the same words when there are none, or when they are not plainly read."""
    for _ in range(_MAX_DEPTH):
        name = words[0].raw
        if not words[0].plain:
            break
        if name == "xargs" and len(words) > 1 and not words[1].raw.startswith("-"):
            words = words[1:] if words[-1] is FROM_INPUT else (*words[1:], FROM_INPUT)
            continue
        wrapper = WRAPPERS.get(name)
        if wrapper is None:
            break
        texts = [word.raw if word.plain else "" for word in words[:_MAX_WORDS]]
        skipped = _skip_wrapper(wrapper, texts)
        if skipped is None:
            break
        words = words[skipped:]
    return words


def _skip_wrapper(wrapper: Wrapper, texts: list[str]) -> int | None:
    """How many words belong to the wrapper, its name included; None when that is not certain.

    Words that are not plain come as empty texts: no option and no operand of a wrapper may be a riddle.
    """
    at = 1
    while at < len(texts) and texts[at].startswith("-"):
        text = texts[at]
        name, equals, _ = text.partition("=")
        at += 1
        if text == "--":
            break
        if text in wrapper.flags or (wrapper.number and _LEVEL.fullmatch(text)):
            continue
        if text in wrapper.valued:
            at += 1
        elif not (equals and name in wrapper.valued) and text[:2] not in wrapper.valued:
            return None
    if wrapper.operand is not None:
        if at >= len(texts) or not wrapper.operand.fullmatch(texts[at]):
            return None
        at += 1
    return at if at < len(texts) and all(texts[:at]) and not texts[at].startswith("-") else None
