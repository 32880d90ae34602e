"""One whole escape sequence of a terminal becomes an input, or nothing where it means none to us. Pure."""

from typing import NamedTuple

from everturn.core.patterns import compile_late
from everturn.frontends.terminal.inputs import AnswerKind, Focus, Input, Key, TerminalAnswer

PASTE_BEGINS = 200
_LETTERS = {
    "A": "up", "B": "down", "C": "right", "D": "left", "F": "end", "H": "home", "P": "f1", "Q": "f2", "R": "f3", "S": "f4",
}  # fmt: skip
_NUMBERS = {
    1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end",
    11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9", 21: "f10", 23: "f11", 24: "f12",
}  # fmt: skip
"""Before a `~`, and in rxvt before `^`, `$` and `@`."""
_CODES = {9: "tab", 13: "enter", 27: "escape", 32: "space", 127: "backspace"}
"""Characters that are keys with a name."""
_KEYPAD = {57417: "left", 57418: "right", 57419: "up", 57420: "down", 57421: "pageup", 57422: "pagedown", 57423: "home",
    57424: "end", 57425: "insert", 57426: "delete", 57414: "enter"}  # fmt: skip
_KEYPAD_TEXT = dict(zip(range(57399, 57417), "0123456789./*-+\0=,", strict=True))
_APPLICATION_TEXT = dict(zip("jklmnopqrstuvwxyX", "*+,-./0123456789=", strict=True))
"""Of the keypad in application mode."""
_CONSOLE = dict(zip("ABCDE", ("f1", "f2", "f3", "f4", "f5"), strict=True))
_RXVT_ARROWS = {"a": "up", "b": "down", "c": "right", "d": "left"}
_PRIVATE_USE = range(0xE000, 0xF900)
"""Where the kitty protocol places keys without a character."""
_SHIFT, _ALT, _CTRL, _SUPER, _HYPER, _META = 1, 2, 4, 8, 16, 32
_RELEASED = 3
_MODIFY_OTHER_KEYS = 27
_MAX_NUMBER = 0x10FFFF
_COLOUR = compile_late(r"11;rgba?:([0-9A-Fa-f]{1,4})/([0-9A-Fa-f]{1,4})/([0-9A-Fa-f]{1,4})(?:/[0-9A-Fa-f]{1,4})?")


class Sequence(NamedTuple):
    """`CSI`: its private mark (`?`, `>`, `<`, `=`), its parameters as text, its intermediate characters, its last one."""

    mark: str
    parameters: str
    between: str
    last: str


def type_character(mark: str, *, alt: bool = False) -> Key:
    """A character that came as itself."""
    if mark == " ":
        return Key("space", "" if alt else " ", alt=alt)
    name = mark.lower()
    shift = name != mark and len(name) == 1
    return Key(name if shift else mark, "" if alt else mark, alt=alt, shift=shift)


def type_control(code: int, *, alt: bool = False) -> Key:
    """A control character that came as itself, 0 to 31, or 127. Ctrl-H stands for itself: some keyboards mean Backspace by it."""
    if code in _CODES:
        return Key(_CODES[code], alt=alt)
    return Key("space" if code == 0 else chr(code + 0x40).lower(), ctrl=True, alt=alt)


def is_rxvt_shift(parameters: str) -> bool:
    """`CSI 3 $` is Shift-Delete of rxvt, and elsewhere the beginning of something longer."""
    return parameters.isdecimal() and int(parameters[:4]) in _NUMBERS


def parse_sequence(found: Sequence) -> Input | None:
    numbers = _read_numbers(found.parameters)
    if numbers is None:
        return None
    if found.mark:
        return _parse_answer(found, numbers)
    first = numbers[0][0]
    match found.last:
        case "~" if not found.between:
            return _parse_tilde(numbers)
        case "u" if not found.between:
            return _parse_kitty(numbers)
        case "R" if len(numbers) > 1 and not found.between:
            # Also Ctrl-F3 in old terminals; an answer that was asked for is worth more.
            return TerminalAnswer(AnswerKind.CURSOR, (first, numbers[1][0]))
        case "I" | "O" if not found.parameters and not found.between:
            return Focus(found.last == "I")
        case "Z" if not found.between:
            return _press("tab", numbers, more=_SHIFT)
        case "^" | "@" if not found.between:
            more = _CTRL if found.last == "^" else _CTRL | _SHIFT
            return _press(_NUMBERS.get(first, ""), [], more=more)
        case "$":
            return _press(_NUMBERS.get(first, ""), [], more=_SHIFT)
        case "a" | "b" | "c" | "d" if not found.parameters and not found.between:
            return Key(_RXVT_ARROWS[found.last], shift=True)
        case letter if not found.between:
            return _press(_LETTERS.get(letter, ""), numbers)
        case _:
            return None


def parse_application_key(modifier: str, letter: str) -> Key | None:
    """`SS3`: arrows in application mode, F1 to F4, the keypad. Some old terminals write a modifier before the letter."""
    if letter in _LETTERS:
        return _press(_LETTERS[letter], [[1], [int(modifier or 1)]])
    if letter in _APPLICATION_TEXT:
        return type_character(_APPLICATION_TEXT[letter])
    if letter in _RXVT_ARROWS:
        return Key(_RXVT_ARROWS[letter], ctrl=True)
    return {"M": Key("enter"), "I": Key("tab"), " ": type_character(" ")}.get(letter)


def parse_console_key(letter: str) -> Key | None:
    """F1 to F5 of the Linux console."""
    return Key(_CONSOLE[letter]) if letter in _CONSOLE else None


def parse_system_command(text: str) -> TerminalAnswer | None:
    """`OSC`, without its beginning and end."""
    found = _COLOUR.fullmatch(text)
    if found is None:
        return None
    return TerminalAnswer(
        AnswerKind.BACKGROUND, tuple(round(int(part, 16) * 255 / (16 ** len(part) - 1)) for part in found.groups())
    )


def _read_numbers(parameters: str) -> list[list[int]] | None:
    """Parameters, each with its parts; what is left out is 0. None where one is no number, or too large to mean anything."""
    numbers = []
    for parameter in parameters.split(";"):
        parts = parameter.split(":")
        if not all(part.isdecimal() and len(part) <= len(str(_MAX_NUMBER)) for part in parts if part):
            return None
        numbers.append([int(part or 0) for part in parts])
    return numbers


def _parse_answer(found: Sequence, numbers: list[list[int]]) -> TerminalAnswer | None:
    flat = tuple(parts[0] for parts in numbers)
    match found.mark, found.between, found.last:
        case "?", "", "c":
            return TerminalAnswer(AnswerKind.ATTRIBUTES, flat)
        case "?", "", "u" if found.parameters:
            return TerminalAnswer(AnswerKind.KEYBOARD, flat[:1])
        case "?", "$", "y" if len(flat) > 1:
            return TerminalAnswer(AnswerKind.MODE, flat[:2])
        case "?", "", "R" if len(flat) > 1:
            return TerminalAnswer(AnswerKind.CURSOR, flat[:2])
        case _:
            return None


def _parse_tilde(numbers: list[list[int]]) -> Key | None:
    first = numbers[0][0]
    if first == _MODIFY_OTHER_KEYS and len(numbers) > 2:  # noqa: PLR2004 (27, modifiers, code)
        return _press_code([numbers[2][0]], numbers[1], [])
    return _press(_NUMBERS.get(first, ""), numbers)


def _parse_kitty(numbers: list[list[int]]) -> Key | None:
    """`code:shifted:base ; modifiers:event ; text`."""
    modifiers = numbers[1] if len(numbers) > 1 else [1]
    text = numbers[2] if len(numbers) > 2 else []  # noqa: PLR2004 (the third)
    return _press_code(numbers[0], modifiers, text)


def _press_code(codes: list[int], modifiers: list[int], text: list[int]) -> Key | None:
    code, shifted, base = (*codes, 0, 0)[:3]
    if code in _KEYPAD or code in _CODES:
        name = _KEYPAD.get(code) or _CODES[code]
        key = _press(name, [[1], modifiers])
        is_space = key is not None and name == "space" and not (key.ctrl or key.alt)
        return Key("space", " ", shift=key.shift) if key is not None and is_space else key
    mark = _KEYPAD_TEXT.get(code) or _character(code)
    bits = _bits(modifiers)
    if not mark or bits is None:
        return None
    written = "".join(map(_character, text)) or (bits & _SHIFT and _character(shifted)) or mark
    if bits & (_CTRL | _ALT):
        # What Ctrl means on a Cyrillic keyboard is what stands on that key in the base layout.
        if base and not mark.isascii():
            mark = _character(base) or mark
        elif bits & _SHIFT and _character(shifted):
            mark, bits = chr(shifted), bits & ~_SHIFT
        return _with(type_character(mark, alt=True), bits)
    key = type_character(written)
    if bits & _SHIFT and written == mark:
        upper = mark.upper()
        key = type_character(upper) if len(upper) == 1 and upper != mark else Key(key.name, key.text, shift=True)
    return key


def _press(name: str, numbers: list[list[int]], *, more: int = 0) -> Key | None:
    """A key with a name. None for one that we do not know, that is released, or that is pressed with Super or Hyper."""
    bits = _bits(numbers[1] if len(numbers) > 1 else [1])
    return _with(Key(name), bits | more) if name and bits is not None else None


def _with(key: Key, bits: int) -> Key:
    return Key(
        key.name, ctrl=bool(bits & _CTRL), alt=bool(bits & (_ALT | _META)), shift=key.shift or bool(bits & _SHIFT)
    )


def _bits(modifiers: list[int]) -> int | None:
    pressed, event = (*modifiers, 1)[:2]
    bits = max(pressed - 1, 0)
    return None if event == _RELEASED or bits & (_SUPER | _HYPER) else bits


def _character(code: int) -> str:
    """Empty where the code is no character that could be typed."""
    if code in _PRIVATE_USE or not 0x20 < code <= _MAX_NUMBER or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:  # noqa: PLR2004 (control characters, surrogates)
        return ""
    return chr(code)
