"""Redirections of the tree: files with their operators, here-strings and heredocs."""

import re
from typing import TYPE_CHECKING

from everturn.permissions.shell.syntax import Here, Redirect, Word, write_marks
from everturn.permissions.shell.tree.heredocs import Heredocs
from everturn.permissions.shell.tree.notes import BLANKS, SHOWN
from everturn.permissions.shell.tree.words import WORDS

if TYPE_CHECKING:
    from tree_sitter import Node

REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_OPERATORS = frozenset({">", ">>", ">|", "&>", "&>>", "<", "<>", ">&", "<&", ">&-", "<&-"})
_CLOSING = frozenset({">&-", "<&-"})
_DESCRIPTOR = re.compile(r"[0-9]+|.*\}")


class Redirects(Heredocs):
    def redirect(self, node: "Node", here: Here) -> list[Word]:
        """The words behind the target: the parser counts them in, but they belong to the command."""
        if node.type == "file_redirect":
            return self.file_redirect(node, here)
        if node.type == "heredoc_redirect":
            self.heredoc(node, here)
            return []
        for child in node.children:
            if child.type in WORDS:
                self.fed.append(write_marks(self.word(child, here).template))
            elif child.type != "<<<":
                self.doubt("a here-string that is not plainly read")
                self.find(child, here)
        return []

    def check_beside(self, at: int, redirect: "Node") -> None:
        """`x{fd}>` and `2>` name a descriptor where the parser may see a word."""
        if at == redirect.start_byte:
            word = re.split(r"[ \t\n]", self.source[max(0, at - 80) : at])[-1]
            if _DESCRIPTOR.fullmatch(word):
                self.doubt("a descriptor in front of a redirection")

    def file_redirect(self, node: "Node", here: Here) -> list[Word]:
        operator = ""
        words: list[Word] = []
        at = node.start_byte
        for child in node.children:
            self.check_gap(at, child.start_byte, BLANKS, touching=not words)
            at = child.end_byte
            if child.type == "file_descriptor":
                if not self.text(child).isdecimal():
                    self.doubt("a descriptor that is not a number")
            elif child.type in _OPERATORS and not operator:
                operator = child.type
            elif child.type in WORDS:
                words.append(self.word(child, here))
            else:
                self.doubt(f"{self.text(child)[:SHOWN]!r} in a redirection")
                self.find(child, here)
        if operator in _CLOSING:
            return words
        if not operator or not words:
            self.doubt("a redirection without a target")
            return words
        if words[0].raw.startswith("<("):
            self.note_form("input from a substitution")
        self.redirects.append(Redirect(operator=operator, target=words[0], here=here, scope=self.scope))
        return words[1:]
