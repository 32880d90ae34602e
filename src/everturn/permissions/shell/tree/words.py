"""Words of the tree, each read strictly, and the statements inside their substitutions."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.expansions import is_tame
from everturn.permissions.shell.reading.syntax import Command, Expansion, Here, Word
from everturn.permissions.shell.reading.tmpdir import put_in
from everturn.permissions.shell.reading.words import Hole, read_word
from everturn.permissions.shell.tree.draft import ReadingDraft
from everturn.permissions.shell.tree.variables import Variables

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
_SPECIAL_IN_TICKS = compile_late(r"[\\`\"]")
"""An escape or a quote means something else inside of backticks."""


class Statements(Protocol):
    """The reader of statements, as the parts that it is composed of see it: words and redirections hold statements."""

    def enclosed(self, node: "Node", here: Here, opening: str, closing: str) -> Here:
        """Statements between brackets."""

    def statement(self, node: "Node", here: Here) -> After:
        """Strictly: one command, or commands in a form that is known."""

    def find(self, node: "Node", here: Here) -> None:
        """Loosely: every command inside."""

    def find_all(self, nodes: Sequence["Node"], here: Here) -> None:
        """The same in each of them."""


class WordReader:
    def __init__(self, draft: ReadingDraft, variables: Variables, statements: Statements, temporary: str = "") -> None:
        """`temporary`: what `TMPDIR` holds all through the line; empty where that is not known."""
        self._draft, self._variables, self._statements = draft, variables, statements
        self._temporary = temporary

    def read(self, node: "Node", here: Here) -> Word:
        word = self._read(node, here)
        return put_in(word, self._temporary) if self._temporary else word

    def _read(self, node: "Node", here: Here) -> Word:
        draft = self._draft
        text = draft.text(node)
        if not node.child_count:
            word = read_word(text)
            if word.unsure:
                draft.doubt(word.unsure)
                self._variables.loosen()
            return word
        word = read_word(text, find_spans(node, node.start_byte))
        holes = list(find_holes(node))
        sources = [self.read_substitution(hole, here) for hole in holes]
        if word.unsure:
            draft.doubt(word.unsure, clear=is_tame(text))
            self._variables.loosen()
            if not holes:
                self._statements.find_all(node.children, here)
        if word.form:
            draft.note_form(word.form)
        for part in word.parts:
            if isinstance(part, Expansion):
                self._variables.calculate(part.names)
        return attach_sources(word, sources) if any(sources) else word

    def read_substitution(self, node: "Node", here: Here) -> tuple[Command, ...]:
        """The commands of its one pipeline; none where it is anything else."""
        draft, children = self._draft, node.children
        # Within a string the parser counts blanks before it as a part of it.
        opening = draft.text(children[0]).lstrip() if children else ""
        first = len(draft.commands)
        with self._variables.forked():
            if opening in {"$(", "<("} and not (len(children) > 1 and children[1].type == "file_redirect"):
                self._statements.enclosed(node, here, opening, ")")
            elif opening == "`" and not _SPECIAL_IN_TICKS.search(draft.text(node)[1:-1]):
                self._statements.enclosed(node, here, "`", "`")
            else:
                draft.doubt("backticks" if opening == "`" else f"{opening} is not judged")
                self._statements.find_all(children, here)
        inside = draft.text(node)[len(opening) : -1]
        statements = [child for child in children if child.is_named]
        is_plain = (
            len(statements) == 1 and statements[0].type in _STAGED and not any(sign in inside for sign in OTHER_INPUT)
        )
        return tuple(draft.commands[first:]) if is_plain else ()


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
