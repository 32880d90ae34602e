"""Simple commands of the tree, and where they move the shell."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from everturn.permissions.shell.folders import MOVERS, follow_cd, unite
from everturn.permissions.shell.syntax import LOOKS, Assignment, Command, Here, Word
from everturn.permissions.shell.tree.notes import BLANKS, SHOWN
from everturn.permissions.shell.tree.redirects import REDIRECTS, Redirects
from everturn.permissions.shell.tree.words import WORDS, After, find_spans
from everturn.permissions.shell.words import read_word
from everturn.permissions.shell.wrappers import strip_wrappers

if TYPE_CHECKING:
    from tree_sitter import Node

_RESERVED = frozenset({
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select", "function",
    "coproc", "{", "}", "!", "[[", "]]", "((", "))",
})  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Commands(Redirects):
    def __init__(self, source: str, home: str) -> None:
        super().__init__(source)
        self._home = home

    def command(self, node: "Node", here: Here, extra: Sequence[Word] = ()) -> After:
        """`extra`: words that the parser has counted among the redirections."""
        words: list[Word] = []
        assignments: list[Assignment] = []
        at = node.start_byte
        for child in node.children:
            kind = child.type
            self.check_gap(at, child.start_byte, BLANKS, touching=at == node.start_byte or kind in REDIRECTS)
            at = child.end_byte
            if kind == "command_name":
                words.append(self._command_name(child, here))
            elif kind in WORDS:
                words.append(self.word(child, here))
            elif kind == "variable_assignment" and not words:
                assignments.append(self._assignment(child, here))
            elif kind in REDIRECTS:
                words.extend(self.redirect(child, here))
            else:
                self.doubt(f"{self.text(child)[:SHOWN]!r} in a command")
                if kind == "variable_assignment":
                    words.append(read_word(self.text(child)))
                self.find(child, here)
        words.extend(extra)
        if not words:
            self.doubt("no command's name")
            return here, here
        command = Command(words=tuple(words), assignments=tuple(assignments), here=here)
        self.commands.append(command)
        return self._moved(command, here)

    def test(self, node: "Node", here: Here) -> After:
        """`[ -f x ]` is a command like any other; `[[ ]]` is not, and evaluates."""
        words: list[Word] = []
        at = node.start_byte
        for leaf in _leaves(node):
            self.check_gap(at, leaf.start_byte, BLANKS, touching=not words)
            at = leaf.end_byte
            words.append(self.word(leaf, here))
        if (words[0].raw, words[-1].raw) != ("[", "]") and not _only_looks(words):
            self.doubt("a test that evaluates is not judged")
        self.commands.append(Command(words=tuple(words), here=here))
        return here, here

    def _moved(self, command: Command, here: Here) -> After:
        words = strip_wrappers(command.words)
        if words[0].template not in MOVERS:
            return here, here
        self.moves = True
        arrived = follow_cd(here, words, self._home)
        self.leaves = self.leaves or arrived is None or arrived != here
        return (arrived, here) if words is command.words else (unite(arrived, here), here)

    def _command_name(self, node: "Node", here: Here) -> Word:
        children = node.children
        if len(children) != 1 or children[0].type not in WORDS:
            self.doubt("a command's name that is not one word")
            self.find_all(children, here)
            return read_word(self.text(node))
        word = self.word(children[0], here)
        if word.raw in _RESERVED:
            self.doubt(f"{word.raw!r} where a command's name should stand")
        return word

    def _assignment(self, node: "Node", here: Here) -> Assignment:
        text = self.text(node)
        name = _NAME.match(text)
        if name is None or text[name.end() : name.end() + 1] != "=":
            self.doubt("an assignment that is not plain")
            self.find_all(node.children, here)
            return Assignment(text.partition("=")[0], read_word(text), read_word(""))
        whole = self.word(node, here)
        start = node.start_byte + name.end() + 1
        value = read_word(self.source[start : node.end_byte], find_spans(node, start))
        return Assignment(name.group(), whole, value)


def _only_looks(words: list[Word]) -> bool:
    """As in `[[ -f x ]]`."""
    if len(words) != len(("[[", "-f", "x", "]]")):
        return False
    opening, operator, _, closing = [word.raw for word in words]
    return (opening, closing) == ("[[", "]]") and operator in LOOKS


def _leaves(node: "Node") -> Iterator["Node"]:
    """Of a test: its words and operators, in order."""
    waiting = list(reversed(node.children))
    while waiting:
        current = waiting.pop()
        if current.type in WORDS or not current.child_count:
            yield current
        else:
            waiting.extend(reversed(current.children))
