"""Where `$TMPDIR` in a line is one fixed word: while nothing in the line can give the variable another value."""

from msgspec.structs import replace

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.assignments import find_names_read
from everturn.permissions.shell.reading.syntax import Command, Reading, Word
from everturn.permissions.shell.reading.wrappers import strip_wrappers
from everturn.ports.scratch import VARIABLE

_PLAIN_USE = compile_late(rf"\$(?:{VARIABLE}(?![A-Za-z0-9_])|\{{{VARIABLE}\}})")
_PLAIN_PATH = compile_late(r"/[A-Za-z0-9_./,:%@+=-]+")
"""Bash neither splits nor expands it."""
_SETTERS = frozenset({
    "source", ".", "eval", "export", "declare", "typeset", "local", "readonly", "unset", "let", "mapfile", "readarray", "getopts",
    "wait", "trap", "alias", "unalias", "enable", "exec", "coproc", "shopt", "bind", "complete", "compgen", "compopt", "fc", "history",
    "builtin", "command",
})  # fmt: skip
"""Commands of the shell that can set a variable by a name which the line does not spell, or change what other names mean."""


def keeps_temporary(line: str, reading: Reading) -> bool:
    """`reading`: of the line, with the variable's value unknown."""
    if reading.unsure and not reading.holdable:
        return False
    if VARIABLE in _PLAIN_USE.sub("", line) or "IFS" in line:
        return False
    return all(map(_leaves_variables, reading.commands))


def _leaves_variables(command: Command) -> bool:
    words = strip_wrappers(command.words)
    name = words[0].value
    if name is None or words[0].glob or words[0].brace or name in _SETTERS:
        # A name that starts with the variable is a program in that folder: no command of the shell.
        return words[0].value is None and _PLAIN_USE.match(words[0].raw.lstrip('"')) is not None
    if name == "read":
        return find_names_read(command) is not None
    if name == "printf":
        return len(words) == 1 or (words[1].fixed is not None and not words[1].fixed.startswith("-"))
    if name in {"test", "[", "[["}:
        return not any(word.raw.startswith(("-v", "-R")) for word in words)
    return True


def put_in(word: Word, temporary: str) -> Word:
    """The word as one fixed text, where this variable is all that expands in it."""
    if not word.parts or word.tilde or not _PLAIN_PATH.fullmatch(temporary):
        return word
    if not all(isinstance(part, str) or (part.name == VARIABLE and not part.operator) for part in word.parts):
        return word
    text = "".join(part if isinstance(part, str) else temporary for part in word.parts)
    return replace(word, value=text, template=text, parts=())
