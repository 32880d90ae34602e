"""Commands that the person runs outside the sandbox: only single commands, so that nothing else runs with them."""

from collections.abc import Iterable

_SEVERAL = frozenset(";|&<>()`$\n\r{}\\!#")
"""More than one command, or one that is not what it seems."""


def find_exclusion(command: str, patterns: Iterable[str]) -> str | None:
    """The pattern that takes the command out. Written as in rules: exact, or with `*` (`docker *`, `docker:*`)."""
    text = command.strip()
    if not text or _SEVERAL.intersection(text):
        return None
    return next((pattern for pattern in patterns if matches(pattern, text)), None)


def matches(pattern: str, command: str) -> bool:
    pattern = f"{pattern[:-2]} *" if pattern.endswith(":*") else pattern
    if pattern.endswith(" *") and command == pattern[:-2]:
        return True
    first, *rest = pattern.split("*")
    if not rest:
        return command == first
    if not command.startswith(first) or not command.endswith(rest[-1]):
        return False
    # From left to right, each piece as early as it can be: no going back.
    at, end = len(first), len(command) - len(rest[-1])
    for piece in rest[:-1]:
        found = command.find(piece, at, max(end, at))
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end
