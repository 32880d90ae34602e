"""The first judge: Ghostty's own emulator, in this process. It answers queries, keeps a scrollback, reflows, and encodes keys."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pyghostty import Terminal, UnknownSequence, ffi, lib
from pyghostty._ffi import check

SHIFT, CTRL, ALT = 1, 2, 4
_MODIFIERS = {"shift": SHIFT, "ctrl": CTRL, "alt": ALT}
_NAMED = {
    "enter": ("ENTER", "\r"),
    "escape": ("ESCAPE", ""),
    "tab": ("TAB", "\t"),
    "space": ("SPACE", " "),
    "backspace": ("BACKSPACE", ""),
    "delete": ("DELETE", ""),
    "insert": ("INSERT", ""),
    "home": ("HOME", ""),
    "end": ("END", ""),
    "page-up": ("PAGE_UP", ""),
    "page-down": ("PAGE_DOWN", ""),
    "up": ("ARROW_UP", ""),
    "down": ("ARROW_DOWN", ""),
    "left": ("ARROW_LEFT", ""),
    "right": ("ARROW_RIGHT", ""),
    **{f"f{number}": (f"F{number}", "") for number in range(1, 13)},
}
_MARKS = {"/": "SLASH", "\\": "BACKSLASH", "-": "MINUS", "[": "BRACKET_LEFT", "]": "BRACKET_RIGHT", ".": "PERIOD"}
_MAX_SEQUENCE = 128


class Cell(NamedTuple):
    column: int
    text: str


class Ghostty:
    """Feed it what the program writes; `on_reply` gets what a terminal would answer."""

    def __init__(self, columns: int, rows: int, on_reply: Callable[[bytes], None]) -> None:
        self.unknown: list[UnknownSequence] = []
        """Sequences that this terminal does not implement. It tells those of OSC and APC only."""
        self._terminal = Terminal(columns, rows, fg=(229, 229, 229), bg=(30, 30, 46))
        self._terminal.on_unknown_sequence(self.unknown.append)
        self._terminal.on_reply(on_reply)
        self._encoder = ffi.new("GhosttyKeyEncoder*")
        check(lib.ghostty_key_encoder_new(ffi.NULL, self._encoder), "key_encoder_new")

    def feed(self, data: bytes) -> None:
        self._terminal.feed(data)

    def resize(self, columns: int, rows: int) -> None:
        self._terminal.resize(columns, rows)

    @property
    def in_frame(self) -> bool:
        """A synchronized frame is open: nobody sees the screen as it is now."""
        return self._terminal.mode(2026)

    def mode(self, number: int) -> bool:
        return self._terminal.mode(number)

    @property
    def kitty_flags(self) -> int:
        return int(self._terminal.get("kitty_keyboard_flags", "uint8_t"))

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row."""
        return self._terminal.cursor

    @property
    def is_cursor_shown(self) -> bool:
        return bool(self._terminal.get("cursor_visible", "bool"))

    @property
    def is_other_screen(self) -> bool:
        return bool(self._terminal.get("active_screen", "int"))

    @property
    def title(self) -> str:
        told = self._terminal.get("title", "GhosttyString")
        return bytes(ffi.buffer(told.ptr, told.len)).decode() if told.len else ""

    @property
    def screen(self) -> list[str]:
        """The rows that are seen, without blanks at their ends."""
        _, rows = self._terminal.size
        return self._rows("active", rows)

    @property
    def scrollback(self) -> list[str]:
        """The rows that have left the screen upwards, oldest first."""
        count = int(self._terminal.get("scrollback_rows", "size_t"))
        return self._rows("history", count) if count else []

    def copy(self) -> str:
        """Everything, as somebody gets it who selects and copies it: lines that the terminal wrapped are whole."""
        return str(self._terminal.contents())

    def cells(self, row: int) -> Iterator[Cell]:
        """What stands in a row of the screen, with the column of each."""
        columns, _ = self._terminal.size
        cell, wide, point = ffi.new("GhosttyCell*"), ffi.new("GhosttyCellWide*"), ffi.new("uint32_t*")
        for column in range(columns):
            ref = self._terminal.ref(column, row)
            check(lib.ghostty_grid_ref_cell(ref, cell), "grid_ref_cell")
            check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_WIDE, wide), "cell_get")
            if wide[0] in {lib.GHOSTTY_CELL_WIDE_SPACER_TAIL, lib.GHOSTTY_CELL_WIDE_SPACER_HEAD}:
                continue
            check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_CODEPOINT, point), "cell_get")
            yield Cell(column, chr(point[0]) if point[0] else " ")

    def find(self, text: str) -> tuple[int, int]:
        """Column and row of the first place on the screen where the text stands. Raises LookupError."""
        _, rows = self._terminal.size
        for row in range(rows):
            cells = list(self.cells(row))
            at = "".join(cell.text for cell in cells).find(text)
            if at >= 0:
                return cells[at].column, row
        raise LookupError(f"{text!r} is not on the screen")

    def style(self, column: int, row: int) -> dict:
        """bold, italic, faint, inverse, strikethrough, underline, fg, bg and more of a cell."""
        return self._terminal.style(column, row)

    def link(self, column: int, row: int) -> str:
        """The address behind a cell (OSC 8), empty where there is none."""
        size = ffi.new("size_t*")
        ref = self._terminal.ref(column, row)
        lib.ghostty_grid_ref_hyperlink_uri(ref, ffi.NULL, 0, size)
        if not size[0]:
            return ""
        buffer = ffi.new("uint8_t[]", size[0])
        check(lib.ghostty_grid_ref_hyperlink_uri(ref, buffer, size[0], size), "hyperlink_uri")
        return bytes(ffi.buffer(buffer, size[0])).decode()

    def encode_key(self, name: str) -> bytes:
        """`escape`, `ctrl-c`, `shift-tab`, `alt-enter`, `x`: what the terminal sends in the modes that the program has set."""
        *modifiers, key = name.split("-") if len(name) > 1 and name not in _NAMED else [name]
        while "-".join((*modifiers[-1:], key)) in _NAMED and modifiers:
            key = f"{modifiers.pop()}-{key}"
        mods = sum(_MODIFIERS[modifier] for modifier in modifiers)
        symbol, text = _NAMED.get(key) or (_symbol_of(key), key)
        event = ffi.new("GhosttyKeyEvent*")
        check(lib.ghostty_key_event_new(ffi.NULL, event), "key_event_new")
        try:
            lib.ghostty_key_event_set_action(event[0], lib.GHOSTTY_KEY_ACTION_PRESS)
            lib.ghostty_key_event_set_key(event[0], getattr(lib, f"GHOSTTY_KEY_{symbol}"))
            lib.ghostty_key_event_set_mods(event[0], mods)
            if len(text) == 1 and text.isprintable():
                lib.ghostty_key_event_set_unshifted_codepoint(event[0], ord(text.lower()))
                # The event keeps the pointer only: the text lives as long as this call.
                data = ffi.new("char[]", (text.upper() if mods & SHIFT else text).encode())
                lib.ghostty_key_event_set_utf8(event[0], data, len(data) - 1)
            return self._encode(event[0])
        finally:
            lib.ghostty_key_event_free(event[0])

    def encode_paste(self, text: str) -> bytes:
        data = text.encode()
        return b"\x1b[200~" + data + b"\x1b[201~" if self.mode(2004) else data.replace(b"\n", b"\r")

    def close(self) -> None:
        lib.ghostty_key_encoder_free(self._encoder[0])
        self._terminal.close()

    def _encode(self, event: object) -> bytes:
        lib.ghostty_key_encoder_setopt_from_terminal(self._encoder[0], self._terminal._t[0])
        buffer, size = ffi.new(f"char[{_MAX_SEQUENCE}]"), ffi.new("size_t*")
        check(lib.ghostty_key_encoder_encode(self._encoder[0], event, buffer, _MAX_SEQUENCE, size), "key_encode")
        return bytes(ffi.buffer(buffer, size[0]))

    def _rows(self, tag: str, count: int) -> list[str]:
        return [self._row(tag, row) for row in range(count)]

    def _row(self, tag: str, row: int) -> str:
        columns, _ = self._terminal.size
        selection = ffi.new("GhosttySelection*")
        selection.size = ffi.sizeof("GhosttySelection")
        selection.start = self._terminal.ref(0, row, tag)[0]
        selection.end = self._terminal.ref(columns - 1, row, tag)[0]
        return str(self._terminal._format_sel(selection)).rstrip()


def _symbol_of(key: str) -> str:
    if len(key) != 1:
        raise ValueError(f"there is no key {key!r}")
    if key.isascii() and key.isalpha():
        return key.upper()
    return f"DIGIT_{key}" if key.isascii() and key.isdigit() else _MARKS.get(key, "UNIDENTIFIED")
