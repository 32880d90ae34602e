"""Simple commands of the tree: their words, what they set, where they move the shell; and tests, which are commands like any other."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.assignments import find_names_read
from everturn.permissions.shell.reading.evaluation import Reader, made, of_line, settle
from everturn.permissions.shell.reading.folders import MOVERS, follow_cd, unite
from everturn.permissions.shell.reading.syntax import LOOKS, Assignment, Command, Expansion, Here, Word
from everturn.permissions.shell.reading.values import ANYTHING
from everturn.permissions.shell.reading.words import read_word
from everturn.permissions.shell.reading.wrappers import strip_wrappers
from everturn.permissions.shell.tree.draft import BLANKS, SHOWN, ReadingDraft
from everturn.permissions.shell.tree.redirections import REDIRECTS, RedirectionReader
from everturn.permissions.shell.tree.variables import Variables, may_set
from everturn.permissions.shell.tree.words import WORDS, After, Statements, WordReader, attach_sources, find_spans

if TYPE_CHECKING:
    from tree_sitter import Node

_RESERVED = frozenset({
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select", "function",
    "coproc", "{", "}", "!", "[[", "]]", "((", "))",
})  # fmt: skip
_NAME = compile_late(r"[A-Za-z_][A-Za-z0-9_]*")
_COMPARES = frozenset({"=", "==", "!=", "<", ">", "=~", "-nt", "-ot", "-ef"})
_CALCULATES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_BETWEEN = frozenset({"&&", "||"})
_OPERATORS_OF_TESTS = frozenset({*_BETWEEN, "<", ">"})
"""Of `[[ ]]`, where they are no operators of the shell."""


class CommandReader:
    def __init__(
        self,
        draft: ReadingDraft,
        variables: Variables,
        words: WordReader,
        redirections: RedirectionReader,
        statements: Statements,
    ) -> None:
        self._draft, self._variables, self._words = draft, variables, words
        self._redirections, self._statements = redirections, statements
        self.functions: set[str] = set()
        """Those that the line defines."""

    def read(self, node: "Node", here: Here, extra: Sequence[Word] = ()) -> After:
        """`extra`: words that the parser has counted among the redirections."""
        draft = self._draft
        words: list[Word] = []
        assignments: list[Assignment] = []
        at = node.start_byte
        for child in node.children:
            kind = child.type
            draft.check_gap(at, child.start_byte, BLANKS, touching=at == node.start_byte or kind in REDIRECTS)
            at = child.end_byte
            if kind == "command_name":
                words.append(self._read_name(child, here))
            elif kind in WORDS:
                words.append(self._words.read(child, here))
            elif kind == "variable_assignment" and not words:
                assignments.append(self._read_assignment(child, here))
            elif kind in REDIRECTS:
                words.extend(self._redirections.read(child, here))
            else:
                draft.doubt(f"{draft.text(child)[:SHOWN]!r} in a command")
                if kind == "variable_assignment":
                    words.append(read_word(draft.text(child)))
                self._statements.find(child, here)
        words.extend(extra)
        if not words:
            draft.doubt("no command's name")
            return here, here
        command = Command(words=tuple(words), assignments=tuple(assignments), here=here, scope=self._variables.scope)
        draft.commands.append(command)
        self._note_read(command)
        return self._move(command, here)

    def read_assignments(self, node: "Node", here: Here) -> After:
        """`x=1`, or several of these: they stay."""
        draft = self._draft
        children = [node] if node.type == "variable_assignment" else node.children
        at = node.start_byte
        for child in children:
            draft.check_gap(at, child.start_byte, BLANKS, touching=child is children[0])
            at = child.end_byte
            draft.note_form("variable assignment is not judged")
            adds = draft.text(child).partition("=")[0].endswith("+")
            assignment = self._read_assignment(child, here, adds=adds)
            value = self._variables.evaluator(here).evaluate(assignment.value)
            self._variables.assign(assignment.name, ANYTHING if adds else value)
        return here, here

    def read_test(self, node: "Node", here: Here) -> After:
        """`[ ]` is a command like any other; `[[ ]]` is not, and evaluates."""
        draft = self._draft
        words: list[Word] = []
        at = node.start_byte
        for leaf in _list_leaves(node):
            draft.check_gap(at, leaf.start_byte, BLANKS, touching=not words)
            at = leaf.end_byte
            words.append(made(leaf.type) if leaf.type in _OPERATORS_OF_TESTS else self._words.read(leaf, here))
        if (words[0].raw, words[-1].raw) != ("[", "]") and not _only_looks(words):
            if (words[0].raw, words[-1].raw) == ("[[", "]]") and self._evaluates_nothing(words[1:-1], here):
                draft.note_form("a test that evaluates is not judged")
            else:
                draft.doubt(
                    "a test that evaluates is not judged", clear=_CALCULATES.isdisjoint(each.raw for each in words)
                )
        draft.commands.append(Command(words=tuple(words), here=here, scope=self._variables.scope))
        return here, here

    def _evaluates_nothing(self, words: list[Word], here: Here) -> bool:
        """Terms with `&&` and `||` between them; what is compared as a number must be one, since bash evaluates it."""
        terms: list[list[Word]] = [[]]
        for word in words:
            if word.raw in _BETWEEN:
                terms.append([])
            elif word.raw != "!" or terms[-1]:
                terms[-1].append(word)
        return all(_is_plain_term(term, self._variables.evaluator(here)) for term in terms)

    def _note_read(self, command: Command) -> None:
        """`read x`: what the line has before it, or anything."""
        names = find_names_read(command)
        if names is None:
            self._note_setting(command)
            return
        feed = self._variables.feed
        value = of_line(feed, self._variables.home) if feed and len(names) == 1 else ANYTHING
        for name in names:
            self._variables.assign(name, value)

    def _note_setting(self, command: Command) -> None:
        """One that sets variables, in the shell itself, in a way that is not followed."""
        words = strip_wrappers(settle(command, self._variables.home).words)
        name = words[0].fixed
        prints = name == "printf" and len(words) > 1 and words[1].fixed is not None and words[1].raw[:1] != "-"
        if name is None or name == "read" or name in self.functions or (may_set(name) and not prints):
            self._variables.loosen()

    def _move(self, command: Command, here: Here) -> After:
        words = strip_wrappers(settle(command, self._variables.home).words)
        if words[0].template not in MOVERS:
            return here, here
        draft = self._draft
        draft.moves = True
        arrived = follow_cd(here, words, self._variables.home)
        draft.leaves = draft.leaves or arrived is None or arrived != here
        return (arrived, here) if words[0] is command.words[0] else (unite(arrived, here), here)

    def _read_name(self, node: "Node", here: Here) -> Word:
        children = node.children
        if len(children) != 1 or children[0].type not in WORDS:
            self._draft.doubt("a command's name that is not one word")
            self._statements.find_all(children, here)
            return read_word(self._draft.text(node))
        word = self._words.read(children[0], here)
        if word.raw in _RESERVED:
            self._draft.doubt(f"{word.raw!r} where a command's name should stand")
        return word

    def _read_assignment(self, node: "Node", here: Here, *, adds: bool = False) -> Assignment:
        draft = self._draft
        text = draft.text(node)
        name = _NAME.match(text)
        equals = "+=" if adds else "="
        if name is None or not text.startswith(equals, name.end()):
            draft.doubt("an assignment that is not plain")
            self._variables.loosen()
            self._statements.find_all(node.children, here)
            return Assignment(text.partition("=")[0], read_word(text), read_word(""))
        whole = self._words.read(node, here)
        start = node.start_byte + name.end() + len(equals)
        value = read_word(draft.source[start : node.end_byte], find_spans(node, start))
        sources = [part.source for part in whole.parts if isinstance(part, Expansion) and part.is_substitution]
        return Assignment(name.group(), whole, attach_sources(value, sources))


def _is_plain_term(term: list[Word], reader: Reader) -> bool:
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


def _only_looks(words: list[Word]) -> bool:
    """As in `[[ -f x ]]`."""
    if len(words) != len(("[[", "-f", "x", "]]")):
        return False
    opening, operator, _, closing = [word.raw for word in words]
    return (opening, closing) == ("[[", "]]") and operator in LOOKS


def _list_leaves(node: "Node") -> Iterator["Node"]:
    """Of a test: its words and operators, in order."""
    waiting = list(reversed(node.children))
    while waiting:
        current = waiting.pop()
        if current.type in WORDS or not current.child_count:
            yield current
        else:
            waiting.extend(reversed(current.children))
