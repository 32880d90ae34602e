"""Words of the tree, each read strictly, and the statements inside their substitutions."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from everturn.permissions.shell.expansions import is_tame
from everturn.permissions.shell.syntax import Command, Expansion, Here, Word
from everturn.permissions.shell.temporary import put_in
from everturn.permissions.shell.tree.scopes import Scopes
from everturn.permissions.shell.values import of_texts
from everturn.permissions.shell.words import Hole, read_word
from everturn.ports.scratch import VARIABLE

if TYPE_CHECKING:
    from tree_sitter import Node

After = tuple[Here, Here]
"""The folders after success, and after failure."""

WORDS = frozenset({
    "word", "string", "raw_string", "ansi_c_string", "number", "concatenation", "simple_expansion", "expansion",
    "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression",
})  # fmt: skip
_HOLES = frozenset({"command_substitution", "process_substitution"})
_STAGED = frozenset({"command", "redirected_statement", "pipeline"})
OTHER_INPUT = ("<", "|&", "(", "`", "{")
"""What may feed a stage of a pipe besides the one before it, or put more commands into a stage."""


_SPECIAL_IN_TICKS = re.compile(r"[\\`\"]")
"""An escape or a quote means something else inside of backticks."""


class Words(Scopes, ABC):
    """What substitutions hold is read by the top of the walk: four ways lead there."""

    _temporary = ""

    @abstractmethod
    def enclosed(self, node: "Node", here: Here, opening: str, closing: str) -> Here:
        """Statements between brackets."""

    @abstractmethod
    def sequence(self, children: Sequence["Node"], here: Here, start: int, end: int) -> Here:
        """Statements one after the other."""

    @abstractmethod
    def statement(self, node: "Node", here: Here) -> After:
        """Strictly: one command, or commands in a form that is known."""

    @abstractmethod
    def find(self, node: "Node", here: Here) -> None:
        """Loosely: every command inside."""

    def find_all(self, nodes: Sequence["Node"], here: Here) -> None:
        for node in nodes:
            self.find(node, here)

    def know_temporary(self, temporary: str) -> None:
        """What `TMPDIR` holds all through the line; empty where that is not known."""
        self._temporary = temporary
        if temporary:
            self.scope = self.scope.set(VARIABLE, of_texts([temporary]))

    def word(self, node: "Node", here: Here) -> Word:
        word = self._word(node, here)
        return put_in(word, self._temporary) if self._temporary else word

    def _word(self, node: "Node", here: Here) -> Word:
        if not node.child_count:
            word = read_word(self.text(node))
            if word.unsure:
                self.doubt(word.unsure)
                self.loosen()
            return word
        word = read_word(self.text(node), find_spans(node, node.start_byte))
        holes = list(find_holes(node))
        sources = [self.substitution(hole, here) for hole in holes]
        if word.unsure:
            self.doubt(word.unsure, clear=is_tame(self.text(node)))
            self.loosen()
            if not holes:
                self.find_all(node.children, here)
        if word.form:
            self.note_form(word.form)
        for part in word.parts:
            if isinstance(part, Expansion):
                self.calculate(part.names)
        return attach_sources(word, sources) if any(sources) else word

    def substitution(self, node: "Node", here: Here) -> tuple[Command, ...]:
        """The commands of its one pipeline; none where it is anything else."""
        children = node.children
        # Within a string the parser counts blanks before it as a part of it.
        opening = self.text(children[0]).lstrip() if children else ""
        first = len(self.commands)
        with self.forked():
            if opening in {"$(", "<("} and not (len(children) > 1 and children[1].type == "file_redirect"):
                self.enclosed(node, here, opening, ")")
            elif opening == "`" and not _SPECIAL_IN_TICKS.search(self.text(node)[1:-1]):
                self.enclosed(node, here, "`", "`")
            else:
                self.doubt("backticks" if opening == "`" else f"{opening} is not judged")
                self.find_all(children, here)
        inside = self.text(node)[len(opening) : -1]
        statements = [child for child in children if child.is_named]
        is_plain = (
            len(statements) == 1 and statements[0].type in _STAGED and not any(sign in inside for sign in OTHER_INPUT)
        )
        return tuple(self.commands[first:]) if is_plain else ()


def find_holes(node: "Node") -> Iterator["Node"]:
    """Substitutions, in order; what is inside of them is read on its own."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in _HOLES:
            yield current
        elif current.child_count:
            waiting.extend(reversed(current.children))


def attach_sources(word: Word, sources: Sequence[tuple[Command, ...]]) -> Word:
    """`sources`: of its substitutions, in order."""
    waiting = list(sources)
    parts = tuple(
        msgspec.structs.replace(part, source=waiting.pop(0))
        if waiting and isinstance(part, Expansion) and part.is_substitution
        else part
        for part in word.parts
    )
    return msgspec.structs.replace(word, parts=parts)


def find_spans(node: "Node", start: int) -> list[Hole]:
    """Where its substitutions stand, counted from `start`: from the bracket on, not from blanks before it."""
    return [(_find_opening(hole) - start, hole.end_byte - start) for hole in find_holes(node)]


def _find_opening(hole: "Node") -> int:
    return hole.children[0].end_byte - len(hole.children[0].type) if hole.child_count else hole.start_byte
