"""Groups, subshells, loops and conditions of the tree: statements around statements."""

from typing import TYPE_CHECKING

from everturn.core.patterns import compile_late
from everturn.permissions.shell.evaluating import Reader
from everturn.permissions.shell.folders import MOVERS, unite
from everturn.permissions.shell.syntax import Here
from everturn.permissions.shell.tree.conditions import Conditions
from everturn.permissions.shell.tree.notes import LINES
from everturn.permissions.shell.tree.words import WORDS, After
from everturn.permissions.shell.values import ANYTHING, NUMBER, Value, join_values

if TYPE_CHECKING:
    from tree_sitter import Node

_OF_CONDITIONS = frozenset({"if", "then", "elif", "else", "fi", ";", "\n"})
_OF_LOOPS = frozenset({"for", "while", "until", "in", ";", "\n"})
_NAME = compile_late(r"(?!npm_|.*proxy)[a-z_][A-Za-z0-9_]*")
"""Of a loop's variable: names in capitals, and some others, are the environment's."""


_FIRST = compile_late(r"[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=([^=].*)")
"""`i=0`, with which a loop that counts begins."""
_OF_CASES = frozenset({"case", "in", "esac", ";", "\n"})
_OF_ITEMS = frozenset({"(", "|", ")", ";;"})


class Compounds(Conditions):
    def subshell(self, node: "Node", here: Here) -> After:
        with self.forked():
            self.enclosed(node, here, "(", ")")
        return here, here

    def group(self, node: "Node", here: Here) -> After:
        if node.children and node.children[0].type == "((":
            return self.arithmetic(node, here)
        if self.source[node.start_byte + 1 : node.start_byte + 2] not in {" ", "\t", "\n"}:
            self.distrust("a brace that is part of a word")
        after = self.enclosed(node, here, "{", "}")
        return after, after

    def loop(self, node: "Node", here: Here) -> After:
        if any(mover in self.text(node) for mover in MOVERS):
            # It may be anywhere when it comes round.
            here = None
        with self.repeated(node):
            return self._loop(node, here)

    def _loop(self, node: "Node", here: Here) -> After:
        variable, values = "", list[Value]()
        at = node.start_byte
        for child in node.children:
            self.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            kind = child.type
            if kind == "do_group":
                if variable:
                    self.assign(variable, join_values(*values) if values else ANYTHING)
                here = unite(here, self.enclosed(child, here, "do", "done"))
            elif kind == "variable_name":
                variable = self.text(child)
                if not _NAME.fullmatch(variable):
                    self.note_form("a loop that may set a variable of the environment")
            elif kind in WORDS:
                values.append(Reader(self.scope, here, self._home).evaluate_list(self.word(child, here)))
            elif kind == "comment":
                self.check_comment(child)
            elif child.is_named:
                here = unite(here, *self.statement(child, here))
            elif kind not in _OF_LOOPS:
                self.doubt(f"{kind!r} in a loop")
        return here, here

    def counting_loop(self, node: "Node", here: Here) -> After:
        """`for ((i = 0; i < 3; i++))`."""
        body = node.children[-1]
        header, opened, _ = self.source[node.start_byte : body.start_byte].partition("((")
        inside = self.source[node.start_byte + len(header) + len(opened) : body.start_byte]
        inside, closed, behind = inside.rpartition("))")
        steps = inside.split(";")
        first = _FIRST.fullmatch(steps[0])
        if (
            body.type != "do_group"
            or first is None
            or len(steps) != len("123")
            or header.strip() != "for"
            or behind.strip(" \t\n;")
            or not closed
        ):
            self.doubt("c style for statement is not judged")
            self.find_all(node.children, None)
            return here, here
        if any(mover in self.text(node) for mover in MOVERS):
            here = None
        self.calculate_text(first[2])
        self.assign(first[1], NUMBER)
        with self.repeated(node):
            for step in steps[1:]:
                self.calculate_text(step)
            here = unite(here, self.enclosed(body, here, "do", "done"))
        return here, here

    def choice(self, node: "Node", here: Here) -> After:
        """`case x in a) ..;; esac`: any of its items may run, or none."""
        self.note_form("case statement is not judged")
        after, at = here, node.start_byte
        for child in node.children:
            self.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            if child.type == "case_item":
                with self.perhaps():
                    after = unite(after, self._item(child, here))
            elif child.type in WORDS:
                self.word(child, here)
            elif child.type == "comment":
                self.check_comment(child)
            elif child.type not in _OF_CASES:
                self.doubt(f"{child.type!r} in a case")
                self.find(child, here)
        return after, after

    def _item(self, node: "Node", here: Here) -> Here:
        children = node.children
        closing = next((at for at, child in enumerate(children) if child.type == ")"), None)
        ended = children[-1].type == ";;"
        if closing is None:
            self.doubt("a case that is not plainly read")
            self.find_all(children, None)
            return None
        at = node.start_byte
        for child in children[: closing + 1]:
            self.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            if child.type in WORDS or child.type == "extglob_pattern":
                self.word(child, here)
            elif child.type not in _OF_ITEMS:
                self.doubt(f"{child.type!r} in a case")
                self.find(child, here)
        body = children[closing + 1 : -1] if ended else children[closing + 1 :]
        return self.sequence(body, here, at, children[-1].start_byte if ended else node.end_byte)

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
                with self.perhaps():
                    here = unite(here, self._clause(child, here))
                parted = True
            else:
                if not parted:
                    self.doubt("two commands without a separator")
                with self.perhaps():
                    here = unite(here, *self.statement(child, here))
                parted = False
        return here
