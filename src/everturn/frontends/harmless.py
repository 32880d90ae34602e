"""Makes foreign text safe for a terminal: it cannot move the cursor, hide a line or show a key."""

import re

from everturn.core.masking import mask_keys
from everturn.core.patterns import compile_late

MAX_HELD = 4_096
"""Characters of a sequence that does not end: beyond them it is text."""
_INTRODUCERS = "\x90\x98\x9d-\x9f"
"""The eight-bit forms of the beginnings of titles, links and device strings."""
_SEQUENCES = compile_late(
    # Cursor, colours, modes; where the text was cut in the midst of one, without its end.
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|\Z)"
    # Titles, links, clipboard: only with their end. No beginning stands inside, so that each is looked at once.
    rf"|(?:\x1b[\]PX^_]|[{_INTRODUCERS}])[^\x07\x1b\x9c{_INTRODUCERS}]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-Z\\^-~]"
)
_CONTROL = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # they reorder what stands beside them: a command would look like another
    # Unseen: two names would look alike, and the model would read what the person does not.
    "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\u2028\u2029\ud800-\udfff]"
)
_CONTROLS = compile_late(_CONTROL)
_UNSAFE = compile_late(f"\r|{_CONTROL}")
_BEGUN = compile_late(
    r"(?:\r|\x1b[ -/]*|(?:\x1b\[|\x9b)[0-?]*[ -/]*"
    rf"|(?:\x1b[\]PX^_]|[{_INTRODUCERS}])[^\x07\x1b\x9c{_INTRODUCERS}]*\x1b?)\Z"
)
"""A sequence at the end of a text of which more may come."""
_OWN_COLOURS = compile_late(r"\x1b\[[0-9;]*m")


def make_harmless(text: str) -> str:
    """Without control characters other than newline and tab; whole escape sequences go, not just their first byte."""
    if _UNSAFE.search(text) is None:
        return text
    text = _SEQUENCES.sub("", text)
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


class HarmlessText:
    """`make_harmless` for a text that comes in pieces: a sequence that is cut between two of them leaves nothing behind."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        text = self._held + text
        begun = _BEGUN.search(text, max(len(text) - MAX_HELD, 0))
        self._held = begun[0] if begun else ""
        return make_harmless(text[: begun.start()] if begun else text)

    def finish(self) -> str:
        """What was held back; afterwards a new text can begin."""
        held, self._held = self._held, ""
        return make_harmless(held)


def make_line(text: str) -> str:
    """The same, on one line, and without keys."""
    return mask_keys(" ".join(make_harmless(text).split()))


def escape_unsafe(text: str) -> str:
    """What a terminal would obey, written out as JSON writes it, so that JSON stays the same JSON. Colours stay."""
    if _UNSAFE.search(text) is None:
        return text
    parts: list[str] = []
    done = 0
    for colour in _OWN_COLOURS.finditer(text):
        parts += (_UNSAFE.sub(_write_out, text[done : colour.start()]), colour[0])
        done = colour.end()
    return "".join((*parts, _UNSAFE.sub(_write_out, text[done:])))


def _write_out(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
