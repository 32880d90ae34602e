"""The variables that a line sets for itself, followed through branches, loops and subshells."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.assignments import is_own_name
from everturn.permissions.shell.reading.evaluation import Reader
from everturn.permissions.shell.reading.expansions import find_names
from everturn.permissions.shell.reading.syntax import Command, Here
from everturn.permissions.shell.reading.values import ANYTHING, LOOSE, NUMBER, UNSET, Value, VariableScope, join_values
from everturn.permissions.shell.tree.draft import ReadingDraft

if TYPE_CHECKING:
    from tree_sitter import Node

_NUMBERS = frozenset({"RANDOM", "SECONDS", "LINENO"})
"""Bash keeps numbers in them."""
_MAX_NAMES = 40
_PLAIN = compile_late(r"[A-Za-z0-9_./+:\[-]+")
_SETTERS = frozenset({
    ".", "builtin", "command", "coproc", "declare", "eval", "export", "getopts", "let", "local", "mapfile", "printf", "readarray", "readonly",
    "select", "source", "trap", "typeset", "unset", "wait",
})  # fmt: skip
"""Commands that set variables in a way that is not followed; `read` mostly is."""
_OPAQUE = frozenset({"declaration_command", "unset_command", "function_definition"})
_ARITHMETIC = frozenset({"arithmetic_expansion", "c_style_for_statement"})


class Variables:
    """What they may hold at the place that is read now."""

    def __init__(self, draft: ReadingDraft, scope: VariableScope, home: str) -> None:
        """`scope`: what they hold when the line begins; `home`: what `~` is."""
        self._draft = draft
        self.scope = scope
        self.home = home
        self.feed: tuple[Command, ...] = ()
        """What `read` would read from, where that is one pipeline of simple commands."""

    def evaluator(self, here: Here) -> Reader:
        """Tells what words become at this place of the line."""
        return Reader(self.scope, here, self.home)

    def assign(self, name: str, value: Value) -> None:
        draft = self._draft
        if not is_own_name(name):
            draft.doubt(f"it sets {name}, which may be a variable of the environment", clear=True)
        draft.own_names.add(name)
        if len(draft.own_names) > _MAX_NAMES:
            draft.doubt("it sets too many variables")
            return
        self.scope = self.scope.set(name, value)

    def loosen(self) -> None:
        """Something runs that may set any variable."""
        self.scope = LOOSE

    def calculate_text(self, text: str) -> None:
        """What stands in `(( ))`."""
        names = find_names(text)
        if names is None:
            self._draft.doubt("arithmetic that is not plain")
        else:
            self._draft.note_form("arithmetic")
            self.calculate(names)

    def calculate(self, names: tuple[str, ...]) -> None:
        """Arithmetic evaluates what its names hold, and may change it: all of them must hold numbers, and will."""
        for name in names:
            value = self.scope.find(name)
            if name in _NUMBERS:
                continue
            if value is None or not value.is_number:
                # What nobody has set holds nothing.
                is_unset = value is None and is_own_name(name)
                self._draft.doubt(f"arithmetic with {name}, which may hold code", clear=is_unset)
            else:
                self.assign(name, join_values(value, NUMBER))

    @contextmanager
    def forked(self) -> Iterator[None]:
        """In a subshell: what it sets stays there."""
        before, fed = self.scope, self.feed
        try:
            yield
        finally:
            self.scope, self.feed = before, fed

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """What may run, or not."""
        before = self.scope
        yield
        self.scope = before.join(self.scope)

    @contextmanager
    def repeated(self, node: "Node") -> Iterator[None]:
        """What may run any number of times: at its beginning, everything may hold already that it sets."""
        source = self._draft.source
        if any(map(may_set, _find_command_names(node, source))):
            self.loosen()
        for name, value in _find_set(node, source):
            if is_own_name(name) and len(self.scope.values) <= _MAX_NAMES:
                self.scope = self.scope.set(name, join_values(self.scope.find(name) or UNSET, value))
        with self.perhaps():
            yield


def may_set(name: str) -> bool:
    """A command of this name may set variables that are not followed. What is no plain name may be any of them."""
    return name in _SETTERS or not _PLAIN.fullmatch(name)


def _find_command_names(node: "Node", source: str) -> Iterator[str]:
    """Of the commands below the node; with `eval` for what is none, and sets variables all the same."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type == "command_name":
            yield source[current.start_byte : current.end_byte]
        elif current.type in _OPAQUE:
            yield "eval"
        waiting.extend(current.children)


def _find_set(node: "Node", source: str) -> Iterator[tuple[str, Value]]:
    """Every name that something below the node may set, and to what."""
    waiting = [(node, False)]
    while waiting:
        current, calculates = waiting.pop()
        kind = current.type
        text = source[current.start_byte : current.end_byte]
        if kind == "variable_assignment":
            yield text.partition("=")[0].rstrip("+"), _sort_of(current)
        elif kind == "for_statement":
            yield from ((source[child.start_byte : child.end_byte], ANYTHING) for child in current.children[1:2])
        elif kind == "command" and "read" in text:
            yield from ((word, ANYTHING) for word in text.split())
        elif calculates and kind in {"variable_name", "word"}:
            yield text, NUMBER
        opens = kind in _ARITHMETIC or (kind == "compound_statement" and text.startswith("(("))
        calculates = (calculates or opens) and kind not in {"do_group", "command_substitution"}
        waiting.extend((child, calculates) for child in current.children)


def _sort_of(assignment: "Node") -> Value:
    value = assignment.children[-1].type
    return NUMBER if value in {"arithmetic_expansion", "number"} and assignment.child_count == len("x=1") else ANYTHING
