"""Cuts a text into commands without the parser: in linear time, for texts that it cannot or must not see.

The result serves the search for denied commands alone; nothing is approved by it.
"""

import re
from itertools import islice

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.ansi import decode_ansi
from everturn.permissions.shell.reading.syntax import mark_of

_MAX_TOKENS = 6_000
_MAX_WORDS = 2_000
"""Of one command."""
_TOKEN = compile_late(
    r"""(?P<run>[^\\'"$`;|&()<>\n#{}]+)|(?P<escaped>\\.)|(?P<single>'[^']*'?)|(?P<double>")|(?P<ansi>\$')|(?P<name>\$\w+|\$\{\w+\}|\$[@*])"""
    r"""|(?P<opening>\$\(|[<>]\(|\()|(?P<closing>\))|(?P<tick>`)|(?P<heredoc><<-?[ \t]*[\w'"\\.-]+)"""
    r"""|(?P<redirect>&?[<>]+[&|]?)|(?P<cut>[;|&\n]+)|(?P<other>.)""",
    re.DOTALL,
)
_DOUBLE = compile_late(
    r"""(?P<plain>[^\\"$`]+)|(?P<escaped>\\.)|(?P<double>")|(?P<opening>\$\()|(?P<tick>`)|(?P<name>\$\w+|\$\{\w+\}|\$[@*])|(?P<other>.)""",
    re.DOTALL,
)
_SLOPPY = compile_late(r"[;|&\n()`{}<>]+|\$\(")
_QUOTES = compile_late(r"['\"\\]+")
_MAX_PIECES = 1_000


class Sketched(msgspec.Struct, frozen=True):
    commands: list[list[str]]
    targets: list[tuple[str, str]]
    """Of redirections: operator and file."""


def sketch_commands(text: str) -> Sketched:
    """Quotes and heredocs are respected; whatever stands in substitutions counts as a command of its own."""
    sketch = _Sketch(text)
    return Sketched(_distinct(sketch.draw()), sketch.targets)


def scatter_commands(text: str) -> list[list[str]]:
    """Every piece of text that could be a command if quotes meant nothing."""
    pieces = dict.fromkeys(_SLOPPY.split(_QUOTES.sub("", text)))
    return _distinct(
        [words for piece in islice(pieces, _MAX_PIECES) if (words := piece.split(None, _MAX_WORDS)[:_MAX_WORDS])]
    )


def _distinct(commands: list[list[str]]) -> list[list[str]]:
    return list({tuple(words): words for words in commands}.values())


class _Sketch:
    def __init__(self, text: str, *, in_body: bool = False) -> None:
        """`in_body`: of a heredoc; one inside another is not looked for."""
        self._text = text
        self._in_body = in_body
        self._commands: list[list[str]] = []
        self._words: list[str] = []
        self._word: list[str] | None = None
        self._skips = ""
        """The operator of a redirection whose target comes next."""
        self._quoted: list[bool] = [False]
        """Whether we are inside double quotes, for each open bracket."""
        self._delimiters: list[str] = []
        self.targets: list[tuple[str, str]] = []

    def draw(self) -> list[list[str]]:
        at, text = 0, self._text
        for _ in range(_MAX_TOKENS):
            quoted = self._quoted[-1]
            token = (_DOUBLE if quoted else _TOKEN).match(text, at)
            if token is None:
                break
            at = self._inside(token) if quoted else self._outside(token)
        self._end_command()
        return self._commands

    def _inside(self, token: re.Match[str]) -> int:
        kind = token.lastgroup
        if kind == "double":
            self._quoted[-1] = False
        elif kind == "opening":
            self._open()
        elif kind == "tick":
            self._end_command()
            self._quoted[-1] = False
        elif kind == "name":
            self._add(mark_of(token.group().strip("${}")))
        else:
            self._add(token.group()[1:] if kind == "escaped" else token.group())
        return token.end()

    def _outside(self, token: re.Match[str]) -> int:
        kind, text = token.lastgroup, token.group()
        if kind == "run":
            self._add_run(text)
        elif kind in {"cut", "tick"}:
            self._end_command()
            if self._delimiters and "\n" in text:
                return self._skip_heredocs(token.start() + text.index("\n") + 1)
        elif kind == "other":
            if text == "#" and self._word is None:
                end = self._text.find("\n", token.end())
                return len(self._text) if end < 0 else end
            self._add(text)
        elif kind == "name":
            self._add(mark_of(text.strip("${}")))
        elif kind == "escaped":
            self._add("" if text == "\\\n" else text[1:])
        elif kind == "single":
            self._add(text.strip("'"))
        elif kind == "double":
            self._add("")
            self._quoted[-1] = True
        elif kind == "ansi":
            said, end = decode_ansi(self._text, token.end())
            self._add(said or "")
            return end
        elif kind == "heredoc":
            if not self._in_body:
                self._delimiters.append(text.lstrip("<-").strip(" \t"))
        elif kind == "redirect":
            self._end_word()
            self._skips = text
        elif kind == "opening":
            self._open()
        elif kind == "closing":
            self._end_command()
            if len(self._quoted) > 1:
                self._quoted.pop()
        return token.end()

    def _open(self) -> None:
        self._end_command()
        self._quoted.append(False)

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _add_run(self, text: str) -> None:
        """Words and blanks without a sign among them."""
        if text[0].isspace():
            self._end_word()
        first, *more = text.split() or [""]
        if first:
            self._add(first)
        if more:
            self._end_word()
            self._words += more[:-1]
            self._add(more[-1])
        if text[-1].isspace():
            self._end_word()

    def _end_word(self) -> None:
        if self._word is not None:
            if self._skips:
                self.targets.append((self._skips, "".join(self._word)))
                self._skips = ""
            else:
                self._words.append("".join(self._word))
            self._word = None

    def _end_command(self) -> None:
        self._end_word()
        self._skips = ""
        if self._words:
            self._commands.append(self._words[:_MAX_WORDS])
            self._words = []

    def _skip_heredocs(self, at: int) -> int:
        """Bodies with a quoted delimiter are text; of others, what stands in substitutions runs."""
        for delimiter in self._delimiters:
            name = _QUOTES.sub("", delimiter)
            end = re.compile(rf"^\t*{re.escape(name)}$", re.MULTILINE).search(self._text, at)
            if name == delimiter:
                body = self._text[at : end.start() if end else len(self._text)].replace('"', " ")
                self._commands.extend(_Sketch(f': "{body}"', in_body=True).draw())
            at = len(self._text) if end is None else end.end()
        self._delimiters.clear()
        return at
