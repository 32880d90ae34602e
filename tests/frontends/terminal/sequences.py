"""What a program writes to a terminal, cut into text and control sequences, and which of these a terminal program may send."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKENS = re.compile(
    r"(?P<osc>\x1b\](?P<words>[^\x07\x1b]*)(?:\x07|\x1b\\))"
    r"|(?P<string>\x1b[PX^_][^\x1b]*\x1b\\)"
    r"|(?P<csi>\x1b\[(?P<private>[<=>?]?)(?P<parameters>[0-9;:]*)(?P<between>[ -/]*)(?P<final>[@-~]))"
    r"|(?P<escape>\x1b[ -/]*[0-Z\\`-~])"
    r"|(?P<broken>\x1b|[\udc80-\udcff]+)"
    r"|(?P<control>[\x00-\x1f\x7f\x80-\x9f])"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f\udc80-\udcff]+)",
    re.DOTALL,
)
CONTROLS = frozenset("\x07\x08\t\n\r")
ESCAPES = frozenset(("\x1b7", "\x1b8", "\x1bD", "\x1bM", "\x1b=", "\x1b>", "\x1b(B"))
OSC = frozenset(("0", "2", "7", "8", "9", "10", "11", "52", "133", "777"))
"""Title, folder, link, notification and progress, colours, clipboard, marks of prompts, notification."""
MODES = frozenset(("1", "7", "12", "25", "1004", "1049", "2004", "2026", "2027", "2031"))
"""Cursor keys, wrap, blinking and visible cursor, focus, another screen, paste, frames, clusters, colour scheme."""
CSI = frozenset(
    (
        *("A", "B", "C", "D", "E", "F", "G", "H", "d", "f"),
        *("J", "K", "L", "M", "P", "X", "@", "S", "T"),
        *("m", "n", "c", "r", "s", "u", "t"),
        *(">c", ">q", ">u", "<u", "=u", "?u", ">m", "?n", " q", "?$p", "!p"),
    )
)
"""Each by its private mark, what stands between, and its final letter. Modes (`h` and `l`) are in `MODES`."""
_STYLES = frozenset((*range(10), *range(21, 30), *range(30, 50), 53, 55, 58, 59, *range(90, 98), *range(100, 108)))
_COLOUR_WORDS = {2: 4, 5: 2}
"""How many numbers a colour takes after 38, 48 or 58, by the first of them."""


class Sequence(NamedTuple):
    """One control sequence, or a stretch of text."""

    kind: str
    """text, csi, osc, string, escape, control, broken (an ESC that begins nothing, bytes that are no UTF-8)."""
    raw: str
    name: str = ""
    """Of a CSI: private mark, what stands between, final letter. Of an OSC: its number."""
    rest: str = ""
    """Of a CSI its parameters, of an OSC what follows the number."""


def parse_sequences(raw: bytes) -> Iterator[Sequence]:
    for found in _TOKENS.finditer(raw.decode("utf-8", "surrogateescape")):
        match found.lastgroup:
            case "csi":
                name = f"{found['private']}{found['between']}{found['final']}"
                yield Sequence("csi", found[0], name, found["parameters"])
            case "osc":
                number, _, rest = found["words"].partition(";")
                yield Sequence("osc", found[0], number, rest)
            case kind:
                yield Sequence(str(kind), found[0])


def find_unknown(sequences: Iterator[Sequence]) -> list[str]:
    """Whatever a terminal program has no business to send, as it was sent, each once and in order."""
    return list(dict.fromkeys(sequence.raw for sequence in sequences if not _is_known(sequence)))


def find_clears(sequences: Iterator[Sequence]) -> list[str]:
    """What wipes the screen, the scrollback or the terminal."""
    return [
        one.raw
        for one in sequences
        if (one.kind == "csi" and one.name in {"J", "?J"} and one.rest in {"2", "3"})
        or (one.kind == "csi" and one.name == "!p")
        or one.raw == "\x1bc"
    ]


def _is_known(sequence: Sequence) -> bool:
    match sequence.kind:
        case "text":
            return True
        case "control":
            return sequence.raw in CONTROLS
        case "escape":
            return sequence.raw in ESCAPES
        case "osc":
            return sequence.name in OSC
        case "csi" if sequence.name in {"?h", "?l", "?$p"}:
            return all(mode in MODES for mode in sequence.rest.split(";"))
        case "csi" if sequence.name == "m":
            return _is_style(sequence.rest)
        case "csi":
            return sequence.name in CSI
        case _:
            return False


def _is_style(parameters: str) -> bool:
    numbers = [int(word.partition(":")[0] or 0) for word in parameters.split(";")]
    while numbers:
        number = numbers.pop(0)
        if number not in _STYLES:
            return False
        if number in {38, 48, 58} and ":" not in parameters:
            if not numbers or numbers[0] not in _COLOUR_WORDS:
                return False
            del numbers[: _COLOUR_WORDS[numbers[0]]]
    return True
