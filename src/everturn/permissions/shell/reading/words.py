"""Reads one word as bash would: quotes, escapes and expansions, without ever running one.

The parser says where a word begins and ends; this reader checks that it is one word and nothing more, so that a mistake
of the parser's becomes a doubt and not a hole.
"""

import re
from collections.abc import Iterable

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.ansi import decode_ansi
from everturn.permissions.shell.reading.expansions import match_operator, match_sum
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, Expansion, Word, mark_of

Hole = tuple[int, int]
"""Where a substitution stands that is read elsewhere: begin and end within the word."""

_RUN = compile_late(r"[^\\'\"$`*?\[{~;&|()<> \t\n\r\f\v]+")
_SIMPLE = compile_late(r"[A-Za-z0-9_./,:%^@+=\x80-\xff-]+")
"""Most words: they mean what they say."""
_IN_DOUBLE = compile_late(r"[^\\\"$`]+")
_IN_HEREDOC = compile_late(r"[^\\$`]+")
_NAME = compile_late(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\}|([0-9@*#?$!-])|\{([0-9@*#?$!-])\})")
_COUNTS = frozenset("#?$")
"""Parameters that are always numbers."""
_SUM = compile_late(r"\$\(\([0-9 +*/%()-]*\)\)")
"""Arithmetic of numbers alone: names can hold code."""
_STATUS = compile_late(r"\$\{PIPESTATUS\[[0-9]+\]\}")
"""How a stage of the last pipe ended: a number, whatever the line did."""
_OPENING = frozenset("([{")
_OPENING_WORD = frozenset('([{"')
"""A dollar before anything else is one. Inside of double quotes, the closing one is nothing else."""
_TILDE = compile_late(r"~[A-Za-z0-9_.+-]*(?=/|$)")
_BRACES = compile_late(r"\{[^ \t\n]*?(?:,|\.\.)")


def read_word(text: str, holes: Iterable[Hole] = ()) -> Word:
    if _SIMPLE.fullmatch(text):
        plain = _decoded(text)
        return Word(plain, plain, plain)
    return _Reader(text, holes).read()


def read_body(text: str, holes: Iterable[Hole] = ()) -> Word:
    """The body of a heredoc whose delimiter is not quoted."""
    reader = _Reader(text, holes)
    reader.read_quoted(0, _IN_HEREDOC, end="")
    return reader.word()


class _Reader:
    def __init__(self, text: str, holes: Iterable[Hole]) -> None:
        self._text = text
        self._holes = dict(holes)
        self._value: list[str] = []
        self._template: list[str] = []
        self._parts: list[str | Expansion] = []
        self._fixed = True
        self._glob = self._brace = self._tilde = False
        self._unsure = self._form = ""

    def read(self) -> Word:
        text, at, end = self._text, 0, len(self._text)
        if text.startswith("#"):
            self._doubt("a comment in place of a word")
        if text.startswith("~"):
            at = self._home()
        while at < end:
            if run := _RUN.match(text, at):
                self._take(run.group())
                at = run.end()
                continue
            char = text[at]
            if char == "'":
                at = self._single(at)
            elif char == '"':
                at = self.read_quoted(at + 1, _IN_DOUBLE, end='"')
            elif char == "\\":
                at = self._escape(at)
            elif char in "$`" or at in self._holes:
                at = self._expansion(at, quoted=False)
            else:
                at = self._special(at)
        return self.word()

    def word(self) -> Word:
        raw, value = _decoded(self._text), _decoded("".join(self._value))
        return Word(
            raw=raw,
            value=value if self._fixed else None,
            template=_decoded("".join(self._template)),
            glob=self._glob,
            brace=self._brace,
            tilde=self._tilde,
            unsure=self._unsure,
            form=self._form,
            parts=self._list_parts() if self._tilde or not self._fixed else (),
        )

    def read_quoted(self, at: int, run: re.Pattern[str], *, end: str) -> int:
        """Double quotes, or with an empty `end` the body of a heredoc."""
        text, length = self._text, len(self._text)
        while at < length:
            if found := run.match(text, at):
                self._take(found.group())
                at = found.end()
                continue
            char = text[at]
            if char == end:
                return at + 1
            if char == "\\":
                following = text[at + 1 : at + 2]
                if following == "\n":
                    self._doubt("an escaped line end inside quotes")
                elif following and following in f"$`\\{end}":
                    self._take(following)
                else:
                    self._take("\\" + following)
                at += 2
            else:
                at = self._expansion(at, quoted=True)
        if end:
            self._doubt("a quote that is never closed")
        return at

    def _list_parts(self) -> tuple[str | Expansion, ...]:
        return tuple(_decoded(part) if isinstance(part, str) else part for part in self._parts)

    def _take(self, text: str) -> None:
        self._value.append(text)
        self._template.append(text)
        self._parts.append(text)

    def _doubt(self, why: str) -> None:
        self._unsure = self._unsure or why

    def _unknown(self, expansion: Expansion, mark: str = UNKNOWN) -> None:
        self._fixed = False
        self._template.append(mark)
        self._parts.append(expansion)

    def _single(self, at: int) -> int:
        close = self._text.find("'", at + 1)
        if close < 0:
            self._doubt("a quote that is never closed")
            return len(self._text)
        self._take(self._text[at + 1 : close])
        return close + 1

    def _escape(self, at: int) -> int:
        following = self._text[at + 1 : at + 2]
        if following == "\n":
            self._doubt("an escaped line end inside a word")
        elif not following:
            self._doubt("an escape of nothing")
        else:
            self._take(following)
        return at + 2

    def _expansion(self, at: int, *, quoted: bool) -> int:
        text = self._text
        if at in self._holes:
            if text[at] == "`":
                self._form = self._form or "backticks"
            self._unknown(Expansion(quoted=quoted, is_substitution=True, is_pipe=text[at] in "<>"))
            return self._holes[at]
        if text.startswith("$'", at) and not quoted:
            return self._ansi(at)
        if name := _NAME.match(text, at):
            variable = name.group(1) or name.group(2) or ""
            self._unknown(
                Expansion(name=variable, quoted=quoted, number=(name.group(3) or name.group(4)) in _COUNTS),
                mark_of(variable),
            )
            return name.end()
        if status := _STATUS.match(text, at):
            self._unknown(Expansion(quoted=quoted, number=True))
            return status.end()
        if total := _SUM.match(text, at):
            self._unknown(Expansion(quoted=quoted, number=True))
            return total.end()
        if found := match_operator(text, at, quoted=quoted) or match_sum(text, at, quoted=quoted):
            self._form = self._form or "an expansion with an operator"
            self._unknown(found[0])
            return found[1]
        if text[at] == "$" and text[at + 1 : at + 2] not in (_OPENING if quoted else _OPENING_WORD):
            self._take("$")
            return at + 1
        self._doubt(f"an expansion that may run code ({text[at : at + 12]!r})")
        self._unknown(Expansion(quoted=quoted))
        return at + 1

    def _ansi(self, at: int) -> int:
        decoded, close = decode_ansi(self._text, at + 2)
        if decoded is None:
            self._doubt("a $'..' that cannot be read")
            self._unknown(Expansion(quoted=True))
        else:
            self._take(decoded)
        return close

    def _home(self) -> int:
        """`~name` is taken for the person's own: it may be, and it is somebody's."""
        tilde = _TILDE.match(self._text)
        if tilde is None:
            self._take("~")
            return 1
        self._tilde = True
        self._value.append(tilde.group())
        self._parts.append(Expansion(name={"~": "HOME", "~+": "PWD"}.get(tilde.group(), ""), quoted=True))
        self._template.append({"~+": FOLDER, "~-": UNKNOWN}.get(tilde.group(), HOME))
        return tilde.end()

    def _special(self, at: int) -> int:
        char = self._text[at]
        if char in "*?" or (char == "[" and "]" in self._text[at:]):
            self._glob = True
        elif char == "{":
            self._brace = self._brace or bool(_BRACES.match(self._text, at))
        elif char not in "[~":
            self._doubt("more than one word")
        self._take(char)
        return at + 1


def _decoded(text: str) -> str:
    """The source is read byte by byte (Latin-1), since the parser counts bytes."""
    return text if text.isascii() else text.encode("latin-1", "replace").decode("utf-8", "replace")
