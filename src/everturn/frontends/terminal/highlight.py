"""Code becomes coloured pieces, line by line: for fences in an answer, results, and a command in a question. Pure.

The text must be harmless already. The pieces hold all of it, unchanged; only its colours are found here.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from everturn.core.patterns import compile_late
from everturn.frontends.markdown import Piece
from everturn.frontends.terminal.languages import ALIASES, GRAMMARS, CodeRule, Grammar
from everturn.frontends.terminal.palette import SIXTEEN, CodeKind

MAX_LINE = 10_000
"""Characters; what follows in the same line is plain."""
MAX_BEFORE_COMMAND = 60
"""Characters that are looked at to see whether a command begins."""
_HEREDOC = compile_late(r"<<-?[ \t]*+(['\"]?+)(\w{1,100}+)\1(?!<)")
_ASSIGNMENT = compile_late(r"\w++=\S*+")
_PIPES = frozenset("|;&(!{`")
_BEFORE_COMMANDS = frozenset({"then", "do", "else", "elif", "if", "while", "until", "time", "exec", "eval", "!"})


class CodeState(NamedTuple):
    """What a line begins in."""

    mode: str = ""
    span: str = ""
    heredoc: str = ""
    """The word that ends it."""


PLAIN = CodeState()


class _Mode(NamedTuple):
    match: Callable[..., re.Match[str] | None]
    rules: tuple[CodeRule, ...]


class _Language(NamedTuple):
    grammar: Grammar
    modes: dict[str, _Mode]
    spans: dict[str, Callable[..., re.Match[str] | None]]


class Highlighter:
    """One text in one language, its lines in their order."""

    def __init__(self, language: str, colours: Mapping[CodeKind, str] = SIXTEEN.code) -> None:
        """`language`: as it stands behind a fence. One that is not known is plain."""
        self._language = find_language(language)
        self._colours = colours
        self._state = PLAIN

    @property
    def is_plain(self) -> bool:
        return not self._language

    def line(self, text: str) -> list[Piece]:
        """`text`: without its end."""
        if not self._language:
            return [Piece(text, wraps=False)] if text else []
        parts, self._state = split_code(text, self._language, self._state)
        return [Piece(part, self._colours.get(kind, "") if kind else "", wraps=False) for part, kind in parts]


def highlight(text: str, language: str, colours: Mapping[CodeKind, str] = SIXTEEN.code) -> list[list[Piece]]:
    """The lines of a whole text, such as a command."""
    highlighter = Highlighter(language, colours)
    return [highlighter.line(line) for line in text.split("\n")]


def find_language(name: str) -> str:
    """By a word behind a fence (`python`, `ts {1,3}`), or by the name of a file. Empty where it is not known."""
    words = name.strip().lower().split()
    first = words[0].strip("{}.,").partition(",")[0] if words else ""
    if first in GRAMMARS:
        return first
    return _names().get(first.rpartition("/")[2].rpartition(".")[2], "")


@cache
def _names() -> dict[str, str]:
    return {name: language for language, names in ALIASES.items() for name in (language, *names.split())}


def split_code(
    text: str, language: str, state: CodeState = PLAIN
) -> tuple[list[tuple[str, CodeKind | None]], CodeState]:
    """Parts of a line with what they are, and what the next line begins in. The language is one of the table."""
    if state.heredoc:
        return [(text, CodeKind.STRING)] if text else [], PLAIN if text.strip() == state.heredoc else state
    beyond = text[MAX_LINE:]
    lexed = _Line(_load(language), text[:MAX_LINE] if beyond else text, state)
    lexed.read()
    parts = lexed.parts
    return [*parts, (beyond, None)] if beyond else parts, lexed.find_end()


class _Line:
    def __init__(self, language: _Language, text: str, state: CodeState) -> None:
        self._language = language
        self._text = text
        self._mode, self._span = state.mode, state.span
        self._plain_from = 0
        self.parts: list[tuple[str, CodeKind | None]] = []

    def read(self) -> None:
        text, count = self._text, len(self._text)
        grammar = self._language.grammar
        at = self._read_span(0, 0) if self._span else 0
        is_name = False
        match, rules = self._language.modes[self._mode]
        while at < count:
            found = match(text, at)
            if found is None:
                break
            number = found.lastindex
            if number is None:
                at = found.end()
                continue
            kind, then = rules[number - 1].kind, rules[number - 1].then
            start, at = found.span(number)
            if kind is CodeKind.WORD:
                word = found[number]
                kind = grammar.words.get(word.lower() if grammar.ignores_case else word)
                if kind is None:
                    if is_name or (grammar.has_heredocs and self._is_command(start)):
                        kind = CodeKind.NAME
                    else:
                        continue
                is_name = word in grammar.defining
            if then:
                if then.startswith("mode"):
                    self._add(start, at, kind)
                    self._mode = then[5:]
                    match, rules = self._language.modes[self._mode]
                else:
                    self._span = then
                    at = self._read_span(start, at)
            elif at > start:
                self._add(start, at, kind)
            else:
                at += 1
        self._add(count, count, None)

    def find_end(self) -> CodeState:
        if self._language.grammar.has_heredocs and not self._span and "<<" in self._text:
            begun = _HEREDOC.search(self._text)
            if begun is not None:
                return CodeState(heredoc=begun[2])
        span = self._span
        if span and not self._language.grammar.spans[span].lines and not self._text.endswith("\\"):
            span = ""
        return CodeState(self._mode, span)

    def _read_span(self, start: int, at: int) -> int:
        """Up to its end, or to that of the line."""
        found = self._language.spans[self._span](self._text, at)
        end = found.end() if found else len(self._text)
        self._add(start, end, self._language.grammar.spans[self._span].kind)
        if found and found[1] is not None:
            self._span = ""
        return end

    def _is_command(self, start: int) -> bool:
        """The first word of a command in a shell's line."""
        text = self._text[max(start - MAX_BEFORE_COMMAND, 0) : start]
        before = text.rstrip()
        if before == text and before[-1:] not in _PIPES:
            return not start
        while before and _ASSIGNMENT.fullmatch(before.rpartition(" ")[2]):
            before = before.rpartition(" ")[0].rstrip()
        if not before:
            return start <= MAX_BEFORE_COMMAND
        return before[-1] in _PIPES or before.rpartition(" ")[2] in _BEFORE_COMMANDS

    def _add(self, start: int, end: int, kind: CodeKind | None) -> None:
        if start > self._plain_from:
            self.parts.append((self._text[self._plain_from : start], None))
        if end > start:
            self.parts.append((self._text[start:end], kind))
        self._plain_from = end


@cache
def _load(name: str) -> _Language:
    grammar = GRAMMARS[name]
    modes = {"": (grammar.starts, grammar.rules), **grammar.modes}
    return _Language(
        grammar=grammar,
        modes={mode: _Mode(_compile_mode(*table), table[1]) for mode, table in modes.items()},
        spans={
            name: re.compile(
                rf"(?:[^{span.stops}]++|{span.escape}|(?!{span.close})[{span.stops}])*+({span.close})?", re.DOTALL
            ).match
            for name, span in grammar.spans.items()
        },
    )


def _compile_mode(starts: str, rules: tuple[CodeRule, ...]) -> Callable[..., re.Match[str] | None]:
    """What can begin nothing is passed over; a character that could and does not is passed over alone."""
    passed = rf"[^{starts}]*+" if not starts.startswith(r"\S") else r"\s*+"
    choices = "|".join(f"({rule.pattern})" for rule in rules)
    return re.compile(rf"{passed}(?:{choices}|[{starts}]|\Z)", re.DOTALL).match
