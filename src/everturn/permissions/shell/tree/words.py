"""Words of the tree, each read strictly, and the statements inside their substitutions."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from everturn.permissions.shell.syntax import Here, Word
from everturn.permissions.shell.tree.notes import Notes
from everturn.permissions.shell.words import Hole, read_word

if TYPE_CHECKING:
    from tree_sitter import Node

After = tuple[Here, Here]
"""The folders after success, and after failure."""

WORDS = frozenset({
    "word", "string", "raw_string", "ansi_c_string", "number", "concatenation", "simple_expansion", "expansion",
    "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression",
})  # fmt: skip
_HOLES = frozenset({"command_substitution", "process_substitution"})


class Words(Notes, ABC):
    """What substitutions hold is read by the top of the walk: three ways lead there."""

    @abstractmethod
    def enclosed(self, node: "Node", here: Here, opening: str, closing: str) -> Here:
        """Statements between brackets."""

    @abstractmethod
    def statement(self, node: "Node", here: Here) -> After:
        """Strictly: one command, or commands in a form that is known."""

    @abstractmethod
    def find(self, node: "Node", here: Here) -> None:
        """Loosely: every command inside."""

    def find_all(self, nodes: Sequence["Node"], here: Here) -> None:
        for node in nodes:
            self.find(node, here)

    def word(self, node: "Node", here: Here) -> Word:
        if not node.child_count:
            word = read_word(self.text(node))
            if word.unsure:
                self.doubt(word.unsure)
            return word
        word = read_word(self.text(node), find_spans(node, node.start_byte))
        holes = list(find_holes(node))
        for hole in holes:
            self.substitution(hole, here)
        if word.unsure:
            self.doubt(word.unsure)
            if not holes:
                self.find_all(node.children, here)
        return word

    def substitution(self, node: "Node", here: Here) -> None:
        children = node.children
        opening = self.text(children[0]) if children else ""
        if opening in {"$(", "<("} and not (len(children) > 1 and children[1].type == "file_redirect"):
            self.enclosed(node, here, opening, ")")
        else:
            self.doubt("backticks" if opening == "`" else f"{opening} is not judged")
            self.find_all(children, here)


def find_holes(node: "Node") -> Iterator["Node"]:
    """Substitutions, in order; what is inside of them is read on its own."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in _HOLES:
            yield current
        elif current.child_count:
            waiting.extend(reversed(current.children))


def find_spans(node: "Node", start: int) -> list[Hole]:
    """Where its substitutions stand, counted from `start`."""
    return [(hole.start_byte - start, hole.end_byte - start) for hole in find_holes(node)]
