"""Simple commands of the tree, and where they move the shell."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from everturn.permissions.shell.assignments import find_names_read
from everturn.permissions.shell.evaluating import Reader, of_line, settle
from everturn.permissions.shell.folders import MOVERS, follow_cd, unite
from everturn.permissions.shell.syntax import Assignment, Command, Expansion, Here, Word
from everturn.permissions.shell.tree.notes import BLANKS, SHOWN
from everturn.permissions.shell.tree.redirects import REDIRECTS, Redirects
from everturn.permissions.shell.tree.scopes import may_set
from everturn.permissions.shell.tree.words import WORDS, After, attach_sources, find_spans
from everturn.permissions.shell.values import ANYTHING, Value
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
        self.functions: set[str] = set()
        """Those that the line defines."""

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
        command = Command(words=tuple(words), assignments=tuple(assignments), here=here, scope=self.scope)
        self.commands.append(command)
        self._note_read(command)
        return self._moved(command, here)

    def assign_all(self, node: "Node", here: Here) -> After:
        """`x=1`, or several of these: they stay."""
        children = [node] if node.type == "variable_assignment" else node.children
        at = node.start_byte
        for child in children:
            self.check_gap(at, child.start_byte, BLANKS, touching=child is children[0])
            at = child.end_byte
            self.note_form("variable assignment is not judged")
            adds = self.text(child).partition("=")[0].endswith("+")
            name, value = self._set(child, here, adds=adds)
            self.assign(name, ANYTHING if adds else value)
        return here, here

    def _set(self, node: "Node", here: Here, *, adds: bool) -> tuple[str, Value]:
        assignment = self._assignment(node, here, adds=adds)
        return assignment.name, Reader(self.scope, here, self._home).evaluate(assignment.value)

    def _note_read(self, command: Command) -> None:
        """`read x`: what the line has before it, or anything."""
        names = find_names_read(command)
        if names is None:
            self._note_setting(command)
            return
        value = of_line(self.feed, self._home) if self.feed and len(names) == 1 else ANYTHING
        for name in names:
            self.assign(name, value)

    def _note_setting(self, command: Command) -> None:
        """One that sets variables, in the shell itself, in a way that is not followed."""
        words = strip_wrappers(settle(command, self._home).words)
        name = words[0].fixed
        prints = name == "printf" and len(words) > 1 and words[1].fixed is not None and words[1].raw[:1] != "-"
        if name is None or name == "read" or name in self.functions or (may_set(name) and not prints):
            self.loosen()

    def _moved(self, command: Command, here: Here) -> After:
        words = strip_wrappers(settle(command, self._home).words)
        if words[0].template not in MOVERS:
            return here, here
        self.moves = True
        arrived = follow_cd(here, words, self._home)
        self.leaves = self.leaves or arrived is None or arrived != here
        return (arrived, here) if words[0] is command.words[0] else (unite(arrived, here), here)

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

    def _assignment(self, node: "Node", here: Here, *, adds: bool = False) -> Assignment:
        text = self.text(node)
        name = _NAME.match(text)
        equals = "+=" if adds else "="
        if name is None or not text.startswith(equals, name.end()):
            self.doubt("an assignment that is not plain")
            self.loosen()
            self.find_all(node.children, here)
            return Assignment(text.partition("=")[0], read_word(text), read_word(""))
        whole = self.word(node, here)
        start = node.start_byte + name.end() + len(equals)
        value = read_word(self.source[start : node.end_byte], find_spans(node, start))
        sources = [part.source for part in whole.parts if isinstance(part, Expansion) and part.is_substitution]
        return Assignment(name.group(), whole, attach_sources(value, sources))
