"""Foreign text made fit for a terminal: words of the model and of tools can neither move the cursor nor hide a line."""

import re

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # cursor, colours, modes
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links, clipboard: only with their end
    r"|\x1b[ -/]*[0-Z\\^-~]"
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u202a-\u202e\u2066-\u2069"  # they reorder what stands beside them: a command would look like another
    "\ud800-\udfff]"
)
_UNSAFE = re.compile(f"\r|{_CONTROLS.pattern}")


def make_harmless(text: str) -> str:
    """Without control characters other than newline and tab; whole escape sequences go, not just their first byte."""
    if _UNSAFE.search(text) is None:
        return text
    text = _SEQUENCES.sub("", text)
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def make_line(text: str) -> str:
    """The same, on one line."""
    return " ".join(make_harmless(text).split())
