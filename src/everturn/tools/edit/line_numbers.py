"""Text that was copied from Read with its line numbers: finds the lines that are meant, if the numbers are unambiguous."""

import re

import msgspec

NUMBERED = re.compile(r"^ *(\d+)\t")
"""As Read shows a line."""


class Unnumbered(msgspec.Struct, frozen=True, kw_only=True):
    old: str
    new: str
    place: int
    """Where in the text `old` begins."""


def strip_numbers(old: str, new: str, text: str) -> Unnumbered | None:
    """Without the numbers, if each line stands in the text under its own; None where there is any doubt."""
    meant = _strip(old)
    if meant is None:
        return None
    first, plain = meant
    lines = text.split("\n")
    place = sum(map(len, lines[: first - 1])) + first - 1
    count = plain.removesuffix("\n").count("\n") + 1
    if lines[first - 1 : first - 1 + count] != plain.removesuffix("\n").split("\n") or not text.startswith(
        plain, place
    ):
        return None
    if not any(map(NUMBERED.match, new.split("\n"))):
        return Unnumbered(old=plain, new=new, place=place)
    stripped = [NUMBERED.sub("", line, count=1) for line in new.split("\n")]
    if any(line and not NUMBERED.match(line) for line in new.split("\n")):
        return None
    return Unnumbered(old=plain, new="\n".join(stripped), place=place)


def _strip(text: str) -> tuple[int, str] | None:
    """The number of the first line, and the text; None where a line has none, or the numbers do not follow each other."""
    lines = text.removesuffix("\n").split("\n")
    found = [NUMBERED.match(line) for line in lines]
    numbers = [int(match[1]) for match in found if match]
    if len(numbers) < len(lines) or not numbers[0] or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    plain = "\n".join(line[match.end() :] for line, match in zip(lines, found, strict=True) if match)
    return numbers[0], plain + ("\n" if text.endswith("\n") else "")
