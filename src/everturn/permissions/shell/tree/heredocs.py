"""Heredocs of the tree: where bash would end them, and what of their text it would run."""

import re
from abc import abstractmethod
from typing import TYPE_CHECKING

from everturn.permissions.shell.expansions import is_tame
from everturn.permissions.shell.heredocs import find_end
from everturn.permissions.shell.syntax import Here, Word
from everturn.permissions.shell.tree.notes import BLANKS
from everturn.permissions.shell.tree.words import Words, find_holes, find_spans
from everturn.permissions.shell.words import read_body, read_word

if TYPE_CHECKING:
    from tree_sitter import Node

_OPERATORS = frozenset({"<<", "<<-", "&&", "||"})
_STATEMENTS = frozenset({"command", "list", "pipeline"})
_PARTS = frozenset({"heredoc_start", "heredoc_body", "heredoc_end"})
_LIVE_TICK = re.compile(r"(?<!\\)(?:\\\\)*`")


class Heredocs(Words):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._first_lines: set[int] = set()
        """Where the texts of heredocs begin that were read."""

    @abstractmethod
    def file_redirect(self, node: "Node", here: Here) -> list[Word]:
        """One that stands on the same line; the words behind its target."""

    def heredoc(self, node: "Node", here: Here) -> None:
        parts: dict[str, Node] = {}
        at = node.start_byte
        for child in node.children:
            kind = child.type
            if "heredoc_body" not in parts and kind not in {"heredoc_body", "heredoc_end"}:
                self.check_gap(at, child.start_byte, BLANKS)
                at = child.end_byte
            if kind in _PARTS:
                parts[kind] = child
            elif kind == "file_redirect":
                if self.file_redirect(child, here):
                    self.doubt("words behind the redirection of a heredoc")
            elif kind in _STATEMENTS:
                self._statement_behind(child, here)
            elif kind not in _OPERATORS:
                self.doubt("a heredoc with more on its line")
                self.find(child, here)
        start, body, end = parts.get("heredoc_start"), parts.get("heredoc_body"), parts.get("heredoc_end")
        if start is not None and end is not None:
            line_end = self.source.find("\n", start.end_byte)
            self.check_gap(at, max(at, line_end), BLANKS)
            self._body(node, start, body, end, here)
            return
        self.distrust("a heredoc that is not plainly read")
        if body is not None:
            self.find(body, here)

    def _statement_behind(self, node: "Node", here: Here) -> None:
        """`cat <<E && ls`: a statement of its own, which the parser counts among the redirections."""
        moved = self.moves
        self.statement(node, here)
        if self.moves and not moved:
            self.doubt("a change of the folder behind a heredoc")

    def _body(self, node: "Node", start: "Node", body: "Node | None", end: "Node", here: Here) -> None:
        delimiter = read_word(self.text(start))
        first = self.source.find("\n", start.end_byte) + 1
        if delimiter.fixed is None or delimiter.unsure or first in self._first_lines:
            self.distrust("a heredoc that is not plainly read")
        if "\\\n" in self.source[node.start_byte : first]:
            self.distrust("an escaped line end in front of a heredoc")
        self._first_lines.add(first)
        strips = self.text(node.children[0]) == "<<-"
        if find_end(self.source, first, delimiter.value, strips=strips) != end.end_byte:
            self.distrust("a heredoc whose end is not certain")
        text = self.source[first : end.start_byte]
        self.fed.append(text)
        if body is None or delimiter.value != delimiter.raw:
            self.bodies.append((first, end.start_byte))
            return
        read = read_body(text, find_spans(body, first))
        if read.unsure or read.form or "`" in text:
            self.doubt("a heredoc that may run code", clear=is_tame(text))
        if _LIVE_TICK.search(text):
            # The parser may pass over what they hold.
            self.distrust("backticks in a heredoc")
        for hole in find_holes(body):
            self.substitution(hole, here)
