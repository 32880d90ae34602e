"""Groups, subshells, loops and conditions of the tree: statements around statements."""

import re
from typing import TYPE_CHECKING

from everturn.permissions.shell.folders import MOVERS, unite
from everturn.permissions.shell.syntax import Here
from everturn.permissions.shell.tree.commands import Commands
from everturn.permissions.shell.tree.notes import LINES
from everturn.permissions.shell.tree.words import WORDS, After

if TYPE_CHECKING:
    from tree_sitter import Node

_OF_CONDITIONS = frozenset({"if", "then", "elif", "else", "fi", ";", "\n"})
_OF_LOOPS = frozenset({"for", "while", "until", "in", ";", "\n"})
_NAME = re.compile(r"(?!npm_|.*proxy)[a-z_][A-Za-z0-9_]*")
"""Of a loop's variable: names in capitals, and some others, are the environment's."""


class Compounds(Commands):
    def subshell(self, node: "Node", here: Here) -> After:
        self.enclosed(node, here, "(", ")")
        return here, here

    def group(self, node: "Node", here: Here) -> After:
        if self.source[node.start_byte + 1 : node.start_byte + 2] not in {" ", "\t", "\n"}:
            self.distrust("a brace that is part of a word")
        after = self.enclosed(node, here, "{", "}")
        return after, after

    def loop(self, node: "Node", here: Here) -> After:
        if any(mover in self.text(node) for mover in MOVERS):
            # It may be anywhere when it comes round.
            here = None
        at = node.start_byte
        for child in node.children:
            self.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            kind = child.type
            if kind == "do_group":
                here = unite(here, self.enclosed(child, here, "do", "done"))
            elif kind == "variable_name":
                if not _NAME.fullmatch(self.text(child)):
                    self.doubt("a loop that may set a variable of the environment")
            elif kind in WORDS:
                self.word(child, here)
            elif kind == "comment":
                self.check_comment(child)
            elif child.is_named:
                here = unite(here, *self.statement(child, here))
            elif kind not in _OF_LOOPS:
                self.doubt(f"{kind!r} in a loop")
        return here, here

    def branches(self, node: "Node", here: Here) -> After:
        after = self._clause(node, here)
        return after, after

    def _clause(self, node: "Node", here: Here) -> Here:
        """Of `if`: conditions and branches in a row; any of them may have run."""
        at, parted = node.start_byte, True
        for child in node.children:
            parted = "\n" in self.check_gap(at, child.start_byte, LINES) or parted
            at = child.end_byte
            kind = child.type
            if kind == "comment":
                self.check_comment(child)
            elif not child.is_named:
                if kind not in _OF_CONDITIONS:
                    self.doubt(f"{kind!r} in a condition")
                parted = True
            elif kind in {"elif_clause", "else_clause"}:
                here = unite(here, self._clause(child, here))
                parted = True
            else:
                if not parted:
                    self.doubt("two commands without a separator")
                here = unite(here, *self.statement(child, here))
                parted = False
        return here
