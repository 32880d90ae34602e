"""Redirections of the tree: files with their operators, here-strings, and heredocs with what bash would run of their text."""

import re
from typing import TYPE_CHECKING

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.expansions import is_tame
from everturn.permissions.shell.reading.heredocs import find_end
from everturn.permissions.shell.reading.syntax import Here, Redirect, Word, write_marks
from everturn.permissions.shell.reading.words import read_body, read_word
from everturn.permissions.shell.tree.draft import BLANKS, SHOWN, ReadingDraft
from everturn.permissions.shell.tree.variables import Variables
from everturn.permissions.shell.tree.words import WORDS, Statements, WordReader, find_holes, find_spans

if TYPE_CHECKING:
    from tree_sitter import Node

REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_OPERATORS = frozenset({">", ">>", ">|", "&>", "&>>", "<", "<>", ">&", "<&", ">&-", "<&-"})
_CLOSING = frozenset({">&-", "<&-"})
_DESCRIPTOR = compile_late(r"[0-9]+|.*\}")
_BEHIND_HEREDOC = frozenset({"<<", "<<-", "&&", "||"})
_STATEMENTS = frozenset({"command", "list", "pipeline"})
_PARTS = frozenset({"heredoc_start", "heredoc_body", "heredoc_end"})
_LIVE_TICK = compile_late(r"(?<!\\)(?:\\\\)*`")


class RedirectionReader:
    def __init__(self, draft: ReadingDraft, variables: Variables, words: WordReader, statements: Statements) -> None:
        self._draft, self._variables, self._words, self._statements = draft, variables, words, statements
        self._first_lines: set[int] = set()
        """Where the texts of heredocs begin that were read."""

    def read(self, node: "Node", here: Here) -> list[Word]:
        """The words behind the target: the parser counts them in, but they belong to the command."""
        if node.type == "file_redirect":
            return self._read_file(node, here)
        if node.type == "heredoc_redirect":
            self._read_heredoc(node, here)
            return []
        for child in node.children:
            if child.type in WORDS:
                self._draft.fed.append(write_marks(self._words.read(child, here).template))
            elif child.type != "<<<":
                self._draft.doubt("a here-string that is not plainly read")
                self._statements.find(child, here)
        return []

    def check_beside(self, at: int, redirect: "Node") -> None:
        """`x{fd}>` and `2>` name a descriptor where the parser may see a word."""
        if at == redirect.start_byte:
            word = re.split(r"[ \t\n]", self._draft.source[max(0, at - 80) : at])[-1]
            if _DESCRIPTOR.fullmatch(word):
                self._draft.doubt("a descriptor in front of a redirection")

    def _read_file(self, node: "Node", here: Here) -> list[Word]:
        draft = self._draft
        operator = ""
        words: list[Word] = []
        at = node.start_byte
        for child in node.children:
            draft.check_gap(at, child.start_byte, BLANKS, touching=not words)
            at = child.end_byte
            if child.type == "file_descriptor":
                if not draft.text(child).isdecimal():
                    draft.doubt("a descriptor that is not a number")
            elif child.type in _OPERATORS and not operator:
                operator = child.type
            elif child.type in WORDS:
                words.append(self._words.read(child, here))
            else:
                draft.doubt(f"{draft.text(child)[:SHOWN]!r} in a redirection")
                self._statements.find(child, here)
        if operator in _CLOSING:
            return words
        if not operator or not words:
            draft.doubt("a redirection without a target")
            return words
        if words[0].raw.startswith("<("):
            draft.note_form("input from a substitution")
        draft.redirects.append(Redirect(operator=operator, target=words[0], here=here, scope=self._variables.scope))
        return words[1:]

    def _read_heredoc(self, node: "Node", here: Here) -> None:
        draft = self._draft
        parts: dict[str, Node] = {}
        at = node.start_byte
        for child in node.children:
            kind = child.type
            if "heredoc_body" not in parts and kind not in {"heredoc_body", "heredoc_end"}:
                draft.check_gap(at, child.start_byte, BLANKS)
                at = child.end_byte
            if kind in _PARTS:
                parts[kind] = child
            elif kind == "file_redirect":
                if self._read_file(child, here):
                    draft.doubt("words behind the redirection of a heredoc")
            elif kind in _STATEMENTS:
                self._read_statement_behind(child, here)
            elif kind not in _BEHIND_HEREDOC:
                draft.doubt("a heredoc with more on its line")
                self._statements.find(child, here)
        start, body, end = parts.get("heredoc_start"), parts.get("heredoc_body"), parts.get("heredoc_end")
        if start is not None and end is not None:
            line_end = draft.source.find("\n", start.end_byte)
            draft.check_gap(at, max(at, line_end), BLANKS)
            self._read_body(node, start, body, end, here)
            return
        draft.distrust("a heredoc that is not plainly read")
        if body is not None:
            self._statements.find(body, here)

    def _read_statement_behind(self, node: "Node", here: Here) -> None:
        """`cat <<E && ls`: a statement of its own, which the parser counts among the redirections."""
        moved = self._draft.moves
        self._statements.statement(node, here)
        if self._draft.moves and not moved:
            self._draft.doubt("a change of the folder behind a heredoc")

    def _read_body(self, node: "Node", start: "Node", body: "Node | None", end: "Node", here: Here) -> None:
        """Where bash would end it, and what of its text it would run."""
        draft = self._draft
        delimiter = read_word(draft.text(start))
        first = draft.source.find("\n", start.end_byte) + 1
        if delimiter.fixed is None or delimiter.unsure or first in self._first_lines:
            draft.distrust("a heredoc that is not plainly read")
        if "\\\n" in draft.source[node.start_byte : first]:
            draft.distrust("an escaped line end in front of a heredoc")
        self._first_lines.add(first)
        strips = draft.text(node.children[0]) == "<<-"
        if find_end(draft.source, first, delimiter.value, strips=strips) != end.end_byte:
            draft.distrust("a heredoc whose end is not certain")
        text = draft.source[first : end.start_byte]
        draft.fed.append(text)
        if body is None or delimiter.value != delimiter.raw:
            draft.bodies.append((first, end.start_byte))
            return
        read = read_body(text, find_spans(body, first))
        if read.unsure or read.form or "`" in text:
            draft.doubt("a heredoc that may run code", clear=is_tame(text))
        if _LIVE_TICK.search(text):
            # The parser may pass over what they hold.
            draft.distrust("backticks in a heredoc")
        for hole in find_holes(body):
            self._words.read_substitution(hole, here)
