"""Commands that name a program by a relative path: in another folder, the same path is another program."""

import os
from posixpath import basename

from everturn.permissions.shell.approval.command_pattern import CommandPattern
from everturn.permissions.shell.reading.syntax import HOME, Here, Word, join_words

_TAKE_SCRIPTS = frozenset({
    "python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "tclsh", "bash", "sh", "dash", "zsh", "ksh", "fish",
    "source", ".",
})  # fmt: skip
_NO_SCRIPT = frozenset({"-c", "-m", "-e", "-E", "-r", "-p", "--eval", "--print"})
"""Code, or the name of a module, follows: none of them is a path."""


class RelativeProgram:
    """What of a command stands for a place, where the command runs in another folder than the rules are written for."""

    def __init__(self, words: tuple[Word, ...], here: Here, home: str) -> None:
        """`here`: folders that the command may run in; `home`: the working folder."""
        is_home = bool(here) and all(place == home or os.path.realpath(place) == home for place in here or ())
        self._at = None if is_home else _find_place(words)

    def is_named_by(self, pattern: CommandPattern, shift: int = 0) -> bool:
        """The rule spells the path, or a part of it: then it is about the working folder. `shift`: what stands before the words."""
        if self._at is None or pattern.is_everything:
            return False
        return self._at == 0 or len(pattern.head) > self._at + shift


def _find_place(words: tuple[Word, ...]) -> int | None:
    """Where in the text the word stands that names a program or script by a relative path; None where there is none."""
    if "/" in words[0].template:
        return 0 if _is_relative(words[0]) else None
    if basename(words[0].raw) not in _TAKE_SCRIPTS:
        return None
    for at, word in enumerate(words[1:], 1):
        if word.raw in _NO_SCRIPT:
            return None
        if not word.raw.startswith("-"):
            return len(join_words(words[:at])) + 1 if _is_relative(word) else None
    return None


def _is_relative(word: Word) -> bool:
    return not word.tilde and not word.template.startswith(("/", HOME))
