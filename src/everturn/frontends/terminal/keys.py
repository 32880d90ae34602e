"""Bytes of the terminal become keys, pastes, changes of focus and answers, as they come. Pure: time is told by who calls.

A byte that could still mean two things waits for the next one. Only `flush`, called after a pause, says that none will come: then an
Escape was the key and not the beginning of a sequence.
"""

import re

from everturn.frontends.terminal.inputs import AnswerKind, Focus, Input, Key, Paste, TerminalAnswer
from everturn.frontends.terminal.key_sequences import (
    PASTE_BEGINS,
    Sequence,
    is_rxvt_shift,
    parse_application_key,
    parse_console_key,
    parse_sequence,
    parse_system_command,
    type_character,
    type_control,
)

__all__ = ["AnswerKind", "Focus", "Input", "Key", "KeyDecoder", "Paste", "TerminalAnswer"]

MAX_SEQUENCE = 256
"""Bytes of a `CSI` sequence."""
MAX_STRING = 4_096
"""Bytes of a string that the terminal sends (`OSC`, `DCS`, …). What follows a longer one is input again."""
MAX_PASTE = 1 << 20
"""Bytes; a longer paste comes in several."""
FLUSH_S = 0.05
"""How long a lone Escape waits for what may follow it."""
PASTE_PATIENCE_S = 2.0
"""After so long a silence in a paste its end will not come: then `end_paste`."""

_ESC, _BEL, _DEL = 0x1B, 0x07, 0x7F
_PASTE_END = b"\x1b[201~"
_CSI = re.compile(rb"\x1b\[([<=>?]?)([0-?]*)([ -/]*)")
_STRING = re.compile(rb"\x1b([\]PX^_])([^\x00-\x06\x08-\x1a\x1b\x1c-\x1f]*)")
"""A control character inside ends it: then it was no string, or will never be whole."""
_APPLICATION = re.compile(rb"\x1bO([0-9]?)")
_PLAIN = re.compile(rb"[ -~]+")
_AMBIGUOUS = frozenset(
    {b"\x1b", b"\x1b\x1b", *(escapes + bytes([mark]) for escapes in (b"\x1b", b"\x1b\x1b") for mark in b"[O")}
    | {b"\x1b" + bytes([mark]) for mark in b"]PX^_"}
)
"""At the end of what came: keys, if nothing follows."""
_ASCII = {code: type_character(chr(code)) for code in range(0x20, 0x7F)}

Taken = tuple[Input | None, int] | None
"""An input, or nothing that means any, and how many bytes it took; None while more bytes could tell."""


class KeyDecoder:
    """Any cut of the same bytes into pieces gives the same inputs."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._is_pasting = False
        self._searched = 0

    @property
    def is_undecided(self) -> bool:
        """What waits is a key press if nothing follows: call `flush` after `FLUSH_S`."""
        return not self._is_pasting and bytes(self._held[:4]) in _AMBIGUOUS

    @property
    def is_pasting(self) -> bool:
        """A paste has begun and its end has not come: call `end_paste` after `PASTE_PATIENCE_S` of silence."""
        return self._is_pasting

    def feed(self, data: bytes) -> list[Input]:
        self._held += data
        inputs: list[Input] = []
        at = 0
        while at < len(self._held) or self._is_pasting:
            if self._is_pasting:
                del self._held[:at]
                at = 0
                if not self._take_paste(inputs):
                    return inputs
                continue
            if (plain := _PLAIN.match(self._held, at)) is not None:
                inputs += [_ASCII[code] for code in plain[0]]
                at = plain.end()
                continue
            taken = self._take(at, inputs)
            if taken is None:
                break
            found, length = taken
            if found is not None:
                inputs.append(found)
            at += length
        del self._held[:at]
        return inputs

    def flush(self) -> list[Input]:
        """After a pause: what an ambiguous Escape was. Half a sequence that can be no key still waits for its end."""
        if not self.is_undecided:
            return []
        held = bytes(self._held)
        self._held.clear()
        last = held[-1]
        if last == _ESC:
            return [Key("escape")] * len(held)
        return [*([Key("escape")] * (len(held) - 2)), type_character(chr(last), alt=True)]

    def end_paste(self) -> list[Input]:
        """What came of a paste whose end is missing. What follows is typed."""
        if not self._is_pasting:
            return []
        text = _clean_paste(bytes(self._held))
        self._held.clear()
        self._is_pasting, self._searched = False, 0
        return [Paste(text, is_whole=False)]

    def _take(self, at: int, inputs: list[Input]) -> Taken:
        held = self._held
        first = held[at]
        if first != _ESC:
            return (type_control(first), 1) if first < 0x20 or first == _DEL else _take_character(held, at)  # noqa: PLR2004 (a blank)
        if at + 1 == len(held):
            return None
        second = held[at + 1]
        if second == _ESC:
            if at + 2 == len(held):
                return None
            if held[at + 2] not in b"[O":
                return Key("escape"), 1
            return _with_alt(self._take_sequence(at + 1), inputs)
        return self._take_sequence(at)

    def _take_sequence(self, at: int) -> Taken:
        """`held[at]` is an Escape, and what follows it is none."""
        held = self._held
        match held[at + 1 : at + 2]:
            case b"[":
                return self._take_csi(at)
            case b"O":
                return _take_application(held, at)
            case b"]" | b"P" | b"X" | b"^" | b"_":
                return _take_string(held, at)
            case b"":
                return None
            case mark if mark[0] < 0x20 or mark[0] == _DEL:  # noqa: PLR2004 (a blank)
                return type_control(mark[0], alt=True), 2
            case _:
                taken = _take_character(held, at + 1)
                if taken is None:
                    return None
                key, length = taken
                return (type_character(key.text, alt=True) if isinstance(key, Key) else None), length + 1

    def _take_csi(self, at: int) -> Taken:
        held = self._held
        found = _CSI.match(held, at, at + MAX_SEQUENCE)
        assert found is not None  # noqa: S101 (the caller has seen how it begins)
        end = found.end()
        mark, parameters, between = (part.decode("ascii") for part in found.groups())
        if between.startswith("$") and not mark and is_rxvt_shift(parameters):
            return parse_sequence(Sequence("", parameters, "", "$")), found.start(3) + 1 - at
        if end - at >= MAX_SEQUENCE:
            return None, MAX_SEQUENCE
        if end == len(held):
            return None
        last = held[end]
        if not 0x40 <= last < _DEL:  # noqa: PLR2004 (where last characters begin)
            # No sequence after all: what ended it is input of its own. Two bytes alone were a key.
            is_key = end - at == 2  # noqa: PLR2004 (ESC and the bracket)
            return (type_character("[", alt=True) if is_key else None), end - at
        if last == 0x5B and not found[1] + found[2] + found[3]:  # noqa: PLR2004 (a second bracket)
            if end + 1 == len(held):
                return None
            console = parse_console_key(chr(held[end + 1]))
            return (console, 4) if console else (type_character("[", alt=True), 2)
        sequence = Sequence(mark, parameters, between, chr(last))
        if sequence == ("", str(PASTE_BEGINS), "", "~"):
            self._is_pasting, self._searched = True, 0
            return None, end + 1 - at
        return parse_sequence(sequence), end + 1 - at

    def _take_paste(self, inputs: list[Input]) -> bool:
        """False while neither its end has come nor so much that it is given in parts."""
        held = self._held
        end = held.find(_PASTE_END, max(self._searched - len(_PASTE_END), 0), MAX_PASTE + len(_PASTE_END))
        if end >= 0:
            inputs.append(Paste(_clean_paste(bytes(held[:end]))))
            del held[: end + len(_PASTE_END)]
            self._is_pasting = False
        elif len(held) >= MAX_PASTE + len(_PASTE_END):
            cut = _find_cut(held)
            inputs.append(Paste(_clean_paste(bytes(held[:cut])), is_whole=False))
            del held[:cut]
        else:
            self._searched = len(held)
            return False
        self._searched = 0
        return True


def _with_alt(taken: Taken, inputs: list[Input]) -> Taken:
    """Of a sequence behind a second Escape. Before what is no key, that was the key itself."""
    if taken is None:
        return None
    found, length = taken
    if isinstance(found, Key):
        return Key(found.name, ctrl=found.ctrl, alt=True, shift=found.shift), length + 1
    inputs.append(Key("escape"))
    return found, length + 1


def _take_application(held: bytearray, at: int) -> Taken:
    found = _APPLICATION.match(held, at)
    end = found.end() if found else at
    if found is None or end == len(held):
        return None
    if not 0x20 <= held[end] < _DEL:  # noqa: PLR2004 (a blank)
        return type_character("O", alt=True), 2
    return parse_application_key(found[1].decode("ascii"), chr(held[end])), end + 1 - at


def _take_string(held: bytearray, at: int) -> Taken:
    found = _STRING.match(held, at, at + MAX_STRING)
    assert found is not None  # noqa: S101 (the caller has seen how it begins)
    is_command = found[1] == b"]"
    bell = found[2].find(_BEL) if is_command else -1
    if bell >= 0:
        return _parse_string(found[2][:bell]), 2 + bell + 1
    end = found.end()
    if end - at >= MAX_STRING:
        return None, MAX_STRING
    if end == len(held):
        return None
    is_key = end - at == 2  # noqa: PLR2004 (ESC and one character: a key with Alt)
    broken = (type_character(chr(held[at + 1]), alt=True) if is_key else None), end - at
    if held[end] != _ESC:
        return broken
    if end + 1 == len(held):
        return None
    if held[end + 1] != 0x5C:  # noqa: PLR2004 (a backslash)
        return broken
    return (_parse_string(found[2]) if is_command else None), end + 2 - at


def _parse_string(text: bytes) -> TerminalAnswer | None:
    return parse_system_command(text.decode("ascii", "replace"))


def _take_character(held: bytearray, at: int) -> Taken:
    """One character of UTF-8; each byte that is none becomes U+FFFD."""
    first = held[at]
    if first < 0x80:  # noqa: PLR2004 (ASCII)
        return _ASCII[first], 1
    count = 2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF5 else 1  # noqa: PLR2004 (lead bytes)
    piece = bytes(held[at : at + count])
    try:
        mark = piece.decode()
    except UnicodeDecodeError as error:
        if len(piece) < count and error.reason == "unexpected end of data":
            return None
        return type_character("\ufffd"), 1
    # Eight-bit forms of control characters are no text.
    return (None if mark < "\xa0" else type_character(mark)), count


def _find_cut(held: bytearray) -> int:
    """Where a part of a paste ends: between characters, and not within a line's end."""
    cuts = range(MAX_PASTE, MAX_PASTE - 4, -1)
    cut = next((cut for cut in cuts if not 0x80 <= held[cut] < 0xC0), MAX_PASTE)  # noqa: PLR2004 (bytes within a character)
    return cut - (held[cut - 1 : cut] == b"\r")


def _clean_paste(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
