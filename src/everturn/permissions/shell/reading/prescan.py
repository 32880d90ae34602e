"""Checks the text before the parser gets it: only short and shallow text without deceptive characters is parsed and can be approved."""

import re
import unicodedata

from everturn.core.patterns import compile_late

MAX_CHARACTERS = 10_000
MAX_ARGUMENT_LENGTH = 131_072
"""Bytes. The kernel starts no shell with a longer command."""
_MAX_SIGNS = 800
"""The parser's time may grow with the square of these; so many take it some ten milliseconds."""
_MAX_WORDS = 1_000
"""So many take a few milliseconds, all in all."""
_MAX_OPEN = 40
_SIGNS = compile_late(r"[;|&()<>{}\[\]$`=!~\"*@?+#\n]")
_DOUBLE = compile_late(r'"[^"]*"')
_CONTROLS = compile_late(r"[\x00-\x08\x0b-\x1f\x7f]")
_BRACKETS = compile_late(r"\$?[(\[{]|[)\]}]")
_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
_JOINERS = compile_late(r"(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
"""Inside of an emoji, or of a word of some scripts, they are part of the spelling."""
_BODY = compile_late(r"<<-?[ \t]*(['\"])(\w+)\1[^\n]*\n(.*?)^\t*\2$", re.DOTALL | re.MULTILINE)


def find_obstacle(command: str) -> str:
    """Why the parser does not get to see it; empty when it may."""
    if len(command) > MAX_CHARACTERS:
        return f"it is longer than {MAX_CHARACTERS:,} characters"
    if _CONTROLS.search(command):
        return "it holds control characters"
    if command.count(" ") > _MAX_WORDS or len(_SIGNS.findall(command)) > _MAX_SIGNS:
        rest = _leave_out_quoted(command)
        if len(_SIGNS.findall(rest)) > _MAX_SIGNS:
            return "it has too many operators"
        if len(_DOUBLE.sub("x", rest).split()) > _MAX_WORDS:
            return "it has too many words"
    if _depth(command) > _MAX_OPEN:
        return "it is nested too deeply"
    return ""


def count_signs(text: str) -> int:
    """What makes a text hard to parse."""
    return len(_SIGNS.findall(text))


def find_hidden(command: str) -> str:
    """Characters that a person does not see, or takes for others; empty when there are none."""
    if command.isascii():
        return ""
    for char in dict.fromkeys(_JOINERS.sub("", command)):
        if char.isascii():
            continue
        kind = unicodedata.category(char)
        if kind in _INVISIBLE:
            return f"it holds an invisible character (U+{ord(char):04X})"
        if kind == "Zs" and "'" not in command and '"' not in command:
            return f"it holds a blank that is none to the shell (U+{ord(char):04X})"
    return ""


def _leave_out_quoted(command: str) -> str:
    """What stands in single quotes, or in a heredoc that does not expand, costs the parser nothing."""
    return re.sub(r"'[^']*'", "x", _BODY.sub("", command)) if command.count("<<") < _MAX_OPEN else command


def _depth(command: str) -> int:
    deepest = depth = 0
    for sign in _BRACKETS.findall(command):
        depth += 1 if sign[-1] in "([{" else -1
        deepest = max(deepest, depth)
    return deepest
