"""The text of the prompt and its keys: the editing is prompt_toolkit's (emacs and vi), the drawing is ours.

An application of prompt_toolkit that never runs gives its buffer and its key bindings; keys are handed to them one by one, and what
they did to the text is drawn by `prompt_area`.
"""

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input import DummyInput
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.output import DummyOutput

from everturn.frontends.terminal.inputs import Key

NAMED = {
    "backspace": "c-h",
    "delete": "delete",
    "down": "down",
    "end": "end",
    "enter": "c-m",
    "escape": "escape",
    "home": "home",
    "insert": "insert",
    "left": "left",
    "pagedown": "pagedown",
    "pageup": "pageup",
    "right": "right",
    "space": " ",
    "tab": "c-i",
    "up": "up",
}
WORD_BACK = ("escape", "c-h")


class PromptEditor:
    """Make it inside a running loop."""

    def __init__(self, *, vi: bool = False) -> None:
        self._buffer = Buffer(multiline=True)
        self._app: Application[None] = Application(
            layout=Layout(Window(BufferControl(self._buffer))), input=DummyInput(), output=DummyOutput()
        )
        # A sequence of two keys (`g g`, Escape and a letter) waits for its second as long as it takes.
        self._app.timeoutlen = None  # type: ignore[assignment]  # documented as a value, not typed as one
        self.vi = vi

    @property
    def text(self) -> str:
        return self._buffer.text

    @property
    def cursor(self) -> int:
        """Characters before the cursor."""
        return self._buffer.cursor_position

    @property
    def vi(self) -> bool:
        return self._app.editing_mode is EditingMode.VI

    @vi.setter
    def vi(self, on: bool) -> None:
        self._app.editing_mode = EditingMode.VI if on else EditingMode.EMACS

    @property
    def vi_mode(self) -> str:
        """`insert`, `normal` or `replace`; empty with the keys of emacs."""
        if not self.vi:
            return ""
        mode = self._app.vi_state.input_mode
        if mode is InputMode.NAVIGATION:
            return "normal"
        return "replace" if mode in {InputMode.REPLACE, InputMode.REPLACE_SINGLE} else "insert"

    @property
    def is_inserting(self) -> bool:
        """A letter that is typed becomes text."""
        return self.vi_mode != "normal"

    @property
    def is_on_first_row(self) -> bool:
        return self._buffer.document.on_first_line

    @property
    def is_on_last_row(self) -> bool:
        return self._buffer.document.on_last_line

    def set(self, text: str, cursor: int | None = None) -> None:
        """Another text; one step for undo."""
        self._buffer.save_to_undo_stack()
        self._buffer.set_document(Document(text, len(text) if cursor is None else cursor), bypass_readonly=True)

    def replace(self, start: int, end: int, text: str) -> None:
        """Other words in place of those between two positions; the cursor stands behind them."""
        whole = self.text
        self.set(f"{whole[:start]}{text}{whole[end:]}", start + len(text))

    def insert(self, text: str) -> None:
        self._buffer.save_to_undo_stack()
        self._buffer.insert_text(text)

    def clear(self) -> None:
        """An empty text that knows nothing of the one before; vi begins to insert again."""
        self._buffer.reset()
        self._app.vi_state.reset()
        self._app.key_processor.reset()

    def press(self, key: Key) -> None:
        """What the bindings of prompt_toolkit make of it; a key that means nothing there does nothing."""
        presses = translate(key)
        if not presses:
            return
        processor = self._app.key_processor
        with set_app(self._app):
            for press in presses:
                processor.feed(press)
            processor.process_keys()


def translate(key: Key) -> list[KeyPress]:
    """The same key in the words of prompt_toolkit."""
    if key.text:
        return [KeyPress(mark, mark) for mark in key.text]
    if key.alt:
        plain = Key(key.name, key.name if len(key.name) == 1 and not key.ctrl else "", ctrl=key.ctrl, shift=key.shift)
        inner = translate(plain)
        return [KeyPress(Keys.Escape, "\x1b"), *inner] if inner else []
    name = NAMED.get(key.name, key.name)
    if key.ctrl and key.name == "backspace":
        return [KeyPress(Keys(each), "") for each in WORD_BACK]
    prefix = f"{'c-' if key.ctrl else ''}{'s-' if key.shift and key.name != 'enter' else ''}"
    for word in (f"{prefix}{name}", f"{'c-' if key.ctrl else ''}{name}"):
        try:
            found = Keys(word)
        except ValueError:
            continue
        return [KeyPress(found, control_code(key))]
    return [KeyPress(name, name)] if len(name) == 1 and not key.ctrl else []


def control_code(key: Key) -> str:
    """The character that the key has always sent, which some bindings insert."""
    if key.name == "enter":
        return "\r"
    return chr(ord(key.name) & 0x1F) if key.ctrl and len(key.name) == 1 and key.name.isascii() else ""
