"""Tests and arithmetic of the tree: `[ ]` is a command like any other, `[[ ]]` and `(( ))` are not, and evaluate."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from everturn.permissions.shell.evaluating import Reader, made
from everturn.permissions.shell.expansions import find_names
from everturn.permissions.shell.syntax import LOOKS, Command, Here, Word
from everturn.permissions.shell.tree.commands import Commands
from everturn.permissions.shell.tree.notes import BLANKS
from everturn.permissions.shell.tree.words import WORDS, After

if TYPE_CHECKING:
    from tree_sitter import Node

_COMPARES = frozenset({"=", "==", "!=", "<", ">", "=~", "-nt", "-ot", "-ef"})
_CALCULATES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_BETWEEN = frozenset({"&&", "||"})
_OPERATORS = frozenset({*_BETWEEN, "<", ">"})
"""Of `[[ ]]`, where they are no operators of the shell."""


class Conditions(Commands):
    def test(self, node: "Node", here: Here) -> After:
        words: list[Word] = []
        at = node.start_byte
        for leaf in _leaves(node):
            self.check_gap(at, leaf.start_byte, BLANKS, touching=not words)
            at = leaf.end_byte
            words.append(made(leaf.type) if leaf.type in _OPERATORS else self.word(leaf, here))
        if (words[0].raw, words[-1].raw) != ("[", "]") and not _only_looks(words):
            if (words[0].raw, words[-1].raw) == ("[[", "]]") and self._evaluates_nothing(words[1:-1], here):
                self.note_form("a test that evaluates is not judged")
            else:
                self.doubt(
                    "a test that evaluates is not judged", clear=_CALCULATES.isdisjoint(each.raw for each in words)
                )
        self.commands.append(Command(words=tuple(words), here=here, scope=self.scope))
        return here, here

    def _evaluates_nothing(self, words: list[Word], here: Here) -> bool:
        """Terms with `&&` and `||` between them; what is compared as a number must be one, since bash evaluates it."""
        terms: list[list[Word]] = [[]]
        for word in words:
            if word.raw in _BETWEEN:
                terms.append([])
            elif word.raw != "!" or terms[-1]:
                terms[-1].append(word)
        return all(self._is_plain_term(term, Reader(self.scope, here, self._home)) for term in terms)

    def _is_plain_term(self, term: list[Word], reader: Reader) -> bool:
        match [word.raw for word in term]:
            case [text]:
                return not text.startswith("-") and text not in {"(", ")"}
            case [operator, _]:
                return operator in LOOKS
            case [_, operator, _] if operator in _CALCULATES:
                return all(reader.evaluate(each).is_number for each in (term[0], term[2]))
            case [_, operator, _]:
                return operator in _COMPARES
            case _:
                return False

    def arithmetic(self, node: "Node", here: Here) -> After:
        """`(( x + 1 ))`."""
        self.calculate_text(self.text(node)[len("((") : -len("))")])
        return here, here

    def calculate_text(self, text: str) -> None:
        names = find_names(text)
        if names is None:
            self.doubt("arithmetic that is not plain")
        else:
            self.note_form("arithmetic")
            self.calculate(names)


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
