"""Decodes `$'..'`, the quotes in which bash knows the escapes of C."""

import re

from everturn.core.patterns import compile_late

_PIECE = compile_late(
    r"[^'\\]+|\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|([abeEfnrtv\\'\"?]))",
    re.DOTALL,
)
_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MAX_COUNT = 0x7F


def decode_ansi(text: str, at: int) -> tuple[str | None, int]:
    """From behind the opening quote: what it says, and where it ends. None when it says what we cannot know."""
    said: list[str] = []
    known = True
    while at < len(text) and text[at] != "'":
        piece = _PIECE.match(text, at)
        if piece is None:
            # An unknown escape stays as it is.
            said.append(text[at : at + 2])
            at += 2
            continue
        octal, hexadecimal, short, long, control, letter = piece.groups()
        code = _code(octal, hexadecimal or short or long)
        if code is not None:
            # NUL ends the word; what is above ASCII depends on the locale.
            known = known and 0 < code <= _MAX_COUNT
            said.append(chr(code) if known else "")
        elif control is not None:
            known = False
        elif letter is not None:
            said.append(_LETTERS.get(letter, letter))
        else:
            said.append(piece.group())
        at = piece.end()
    if at >= len(text):
        return None, len(text)
    return ("".join(said) if known else None), at + 1


def _code(octal: str | None, hexadecimal: str | None) -> int | None:
    if octal is not None:
        return int(octal, 8)
    return int(hexadecimal, 16) if hexadecimal is not None else None
