"""Scripts of `sed` that print, delete, replace and branch. All others may write files (`w`), read them (`r`) or run commands (`e`).

Read as GNU sed reads them; where other versions cut a script differently, it is none of ours.
"""

import re

from everturn.core.patterns import compile_late

_SPACE = compile_late(r"[ \t]*")
_BETWEEN = compile_late(r"[\s;]*")
_FIRST = compile_late(r"[0-9]+(?:~[0-9]+)?|\$")
_SECOND = compile_late(r"[0-9]+|\$|[+~][0-9]+")
_CASES = compile_late(r"[IM]*")
_FLAGS = compile_late(r"[gpiImM0-9]*")
_LOOSE_FLAGS = compile_late(r"[gpiImMe0-9]*(?:w[^\n]*)?")
_LOOSE_TEXT = compile_late(r"(?:[^\n\\]|\\.)*+", re.DOTALL)
_LABEL = compile_late(r"[ \t]*[A-Za-z0-9_]*")
_NUMBER = compile_late(r"[ \t]*[0-9]*")
_COMMENT = compile_late(r"[^\n]*")
_TEXT = compile_late(r"\\?[ \t]*[^\s\\][^\n\\]*(?=\n|\Z)")
"""On one line: where the text of several lines ends is told by escapes."""
_END = compile_late(r"[ \t]*(?=[;\n}#]|\Z)")
_BRACKET = compile_late(r"\^?\]?(?:\[:[a-z]+:\]|\[(?![:.=])|[^\[\]])*+\]")
"""What follows `[`, up to the end of the bracket expression."""
_ALONE = frozenset("pd=nNPDgGhHxFz")
_WITH_NUMBER = frozenset("lqQ")
_BRANCHES = frozenset("btT")
_TEXTS = frozenset("aic")
_TO_LINE_END = frozenset("erRwW")
_MAX_DEPTH = 20


class _NotPlainError(Exception):
    """The script may do more than print, or we may misread it."""


def is_plain_script(script: str) -> bool:
    try:
        _Script(script).read()
    except _NotPlainError:
        return False
    return True


def list_run(script: str) -> list[str] | None:
    """What it has a shell run, for deny rules: a text for each `e`, empty where that is what sed has read. None where we may misread it."""
    read = _LooseScript(script)
    try:
        read.read()
    except _NotPlainError:
        return None
    return read.run


class _Script:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._labelled = False
        """For some versions of sed, a label goes on to the end of its line."""

    def read(self) -> None:
        if not self._text.strip():
            raise _NotPlainError
        while self._take(_BETWEEN) and self._at < len(self._text):
            self._command()
        if self._depth:
            raise _NotPlainError

    def _take(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        if found is None:
            return False
        self._at = found.end()
        return True

    def _next(self) -> str:
        """The next character, which is taken."""
        if self._at >= len(self._text):
            raise _NotPlainError
        self._at += 1
        return self._text[self._at - 1]

    def _sees(self, char: str) -> bool:
        return self._text.startswith(char, self._at)

    def _command(self) -> None:
        if self._address(_FIRST):
            self._take(_SPACE)
            if self._sees(","):
                self._at += 1
                self._take(_SPACE)
                if not self._address(_SECOND):
                    raise _NotPlainError
        self._take(_SPACE)
        if self._sees("!"):
            self._at += 1
            self._take(_SPACE)
        self._verb(self._next())

    def _address(self, number: re.Pattern[str]) -> bool:
        if self._take(number):
            return True
        if not self._sees("/") and not self._sees("\\"):
            return False
        self._pattern("/" if self._next() == "/" else self._delimiter())
        self._take(_CASES)
        return True

    def _verb(self, verb: str) -> None:
        if verb == "{":
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise _NotPlainError
            return
        if verb in _TEXTS:
            self._must(_TEXT)
            return
        if verb == "#":
            self._must(_COMMENT)
            return
        if verb == "}":
            self._depth -= 1
            if self._depth < 0:
                raise _NotPlainError
        elif verb == "s":
            delimiter = self._delimiter()
            self._pattern(delimiter)
            self._until(delimiter)
            self._must(_FLAGS)
        elif verb == "y":
            delimiter = self._delimiter()
            self._until(delimiter)
            self._until(delimiter)
        elif verb in _BRANCHES or verb == ":":
            self._must(_LABEL)
            self._labelled = True
        elif verb in _WITH_NUMBER:
            self._must(_NUMBER)
        elif verb not in _ALONE:
            raise _NotPlainError
        self._must(_END)

    def _must(self, pattern: re.Pattern[str]) -> None:
        if not self._take(pattern):
            raise _NotPlainError

    def _delimiter(self) -> str:
        char = self._next()
        if not char.isascii() or not char.isprintable() or char.isalnum() or char in "\\ ":
            raise _NotPlainError
        return char

    def _until(self, delimiter: str) -> str:
        """The text before the delimiter. An escape takes the next character along; a line ends only behind one."""
        start = self._at
        while (char := self._next()) != delimiter:
            if char == "\n":
                raise _NotPlainError
            if char == "\\" and self._next() == "\n" and self._labelled:
                raise _NotPlainError
        return self._text[start : self._at - 1]

    def _pattern(self, delimiter: str) -> None:
        """A bracket that is open at the end holds the delimiter for some versions of sed, and not for others."""
        if _has_open_bracket(self._until(delimiter)):
            raise _NotPlainError


class _LooseScript(_Script):
    """Also with the commands that read and write files, or run something."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.run: list[str] = []

    def _verb(self, verb: str) -> None:
        if verb in _TO_LINE_END:
            start = self._at
            self._must(_COMMENT)
            if verb == "e":
                self.run.append(self._text[start : self._at].strip())
        elif verb in _TEXTS:
            self._must(_LOOSE_TEXT)
        elif verb == "s":
            delimiter = self._delimiter()
            self._until(delimiter)
            self._until(delimiter)
            start = self._at
            self._must(_LOOSE_FLAGS)
            if "e" in self._text[start : self._at].partition("w")[0]:
                self.run.append("")
        else:
            super()._verb(verb)


def _has_open_bracket(pattern: str) -> bool:
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 2 if char == "\\" else 1
        if char == "[":
            found = _BRACKET.match(pattern, at)
            if found is None:
                return True
            at = found.end()
    return False
