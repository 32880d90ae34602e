"""The leaves of the walk: words, simple commands, redirections and heredocs, each read strictly."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from everturn.permissions.shell.folders import MOVERS, follow_cd, unite
from everturn.permissions.shell.notes import BLANKS, Notes
from everturn.permissions.shell.syntax import LOOKS, Assignment, Command, Here, Redirect, Word, write_marks
from everturn.permissions.shell.unwrapping import strip_wrappers
from everturn.permissions.shell.words import read_body, read_word

if TYPE_CHECKING:
    from tree_sitter import Node

After = tuple[Here, Here]
"""The folders after success, and after failure."""

WORDS = frozenset({
    "word", "string", "raw_string", "ansi_c_string", "number", "concatenation", "simple_expansion", "expansion",
    "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression",
})  # fmt: skip
REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_HOLES = frozenset({"command_substitution", "process_substitution"})
_RESERVED = frozenset({
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select", "function",
    "coproc", "{", "}", "!", "[[", "]]", "((", "))",
})  # fmt: skip
_OPERATORS = frozenset({">", ">>", ">|", "&>", "&>>", "<", "<>", ">&", "<&", ">&-", "<&-"})
_CLOSING = frozenset({">&-", "<&-"})
_DESCRIPTOR = re.compile(r"[0-9]+|.*\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_HEREDOCS = frozenset({"<<", "<<-", "&&", "||"})
_BEHIND_HEREDOC = frozenset({"command", "list", "pipeline"})
_LIVE_TICK = re.compile(r"(?<!\\)(?:\\\\)*`")
_SHOWN = 12


class Parts(Notes, ABC):
    def __init__(self, source: str, home: str) -> None:
        super().__init__(source)
        self._home = home
        self._heredoc_lines: set[int] = set()

    @abstractmethod
    def enclosed(self, node: "Node", here: Here, opening: str, closing: str) -> Here:
        """Statements between brackets."""

    @abstractmethod
    def statement(self, node: "Node", here: Here) -> After: ...

    @abstractmethod
    def find(self, node: "Node", here: Here) -> None:
        """Loosely: every command inside."""

    def find_all(self, nodes: Sequence["Node"], here: Here) -> None:
        for node in nodes:
            self.find(node, here)

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
                self.doubt(f"{self.text(child)[:_SHOWN]!r} in a command")
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
        value = read_word(self.source[start : node.end_byte], self._spans(node, start))
        return Assignment(name.group(), whole, value)

    def word(self, node: "Node", here: Here) -> Word:
        if not node.child_count:
            word = read_word(self.text(node))
            if word.unsure:
                self.doubt(word.unsure)
            return word
        word = read_word(self.text(node), self._spans(node, node.start_byte))
        holes = list(_holes(node))
        for hole in holes:
            self._substitution(hole, here)
        if word.unsure:
            self.doubt(word.unsure)
            if not holes:
                self.find_all(node.children, here)
        return word

    def _spans(self, node: "Node", start: int) -> list[tuple[int, int]]:
        return [(hole.start_byte - start, hole.end_byte - start) for hole in _holes(node)]

    def _substitution(self, node: "Node", here: Here) -> None:
        children = node.children
        opening = self.text(children[0]) if children else ""
        if opening in {"$(", "<("} and not (len(children) > 1 and children[1].type == "file_redirect"):
            self.enclosed(node, here, opening, ")")
        else:
            self.doubt("backticks" if opening == "`" else f"{opening} is not judged")
            self.find_all(children, here)

    def redirect(self, node: "Node", here: Here) -> list[Word]:
        """The words behind the target: the parser counts them in, but they belong to the command."""
        if node.type == "file_redirect":
            return self._file_redirect(node, here)
        if node.type == "heredoc_redirect":
            self._heredoc(node, here)
            return []
        for child in node.children:
            if child.type in WORDS:
                self.fed.append(write_marks(self.word(child, here).template))
            elif child.type != "<<<":
                self.doubt("a here-string that is not plainly read")
                self.find(child, here)
        return []

    def check_beside(self, at: int, redirect: "Node") -> None:
        """`x{fd}>` and `2>` name a descriptor where the parser may see a word."""
        if at == redirect.start_byte:
            word = re.split(r"[ \t\n]", self.source[max(0, at - 80) : at])[-1]
            if _DESCRIPTOR.fullmatch(word):
                self.doubt("a descriptor in front of a redirection")

    def _file_redirect(self, node: "Node", here: Here) -> list[Word]:
        operator = ""
        words: list[Word] = []
        at = node.start_byte
        for child in node.children:
            self.check_gap(at, child.start_byte, BLANKS, touching=not words)
            at = child.end_byte
            if child.type == "file_descriptor":
                if not self.text(child).isdecimal():
                    self.doubt("a descriptor that is not a number")
            elif child.type in _OPERATORS and not operator:
                operator = child.type
            elif child.type in WORDS:
                words.append(self.word(child, here))
            else:
                self.doubt(f"{self.text(child)[:_SHOWN]!r} in a redirection")
                self.find(child, here)
        if operator in _CLOSING:
            return words
        if not operator or not words:
            self.doubt("a redirection without a target")
            return words
        self.redirects.append(Redirect(operator=operator, target=words[0], here=here))
        return words[1:]

    def _heredoc(self, node: "Node", here: Here) -> None:
        parts: dict[str, Node] = {}
        at = node.start_byte
        for child in node.children:
            kind = child.type
            if "heredoc_body" not in parts and kind not in {"heredoc_body", "heredoc_end"}:
                self.check_gap(at, child.start_byte, BLANKS)
                at = child.end_byte
            if kind in {"heredoc_start", "heredoc_body", "heredoc_end"}:
                parts[kind] = child
            elif kind == "file_redirect":
                if self._file_redirect(child, here):
                    self.doubt("words behind the redirection of a heredoc")
            elif kind in _BEHIND_HEREDOC:
                self._behind_heredoc(child, here)
            elif kind not in _OF_HEREDOCS:
                self.doubt("a heredoc with more on its line")
                self.find(child, here)
        start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
        if start is None or end is None:
            self.distrust("a heredoc that is not plainly read")
            self.find_all([node for kind, node in parts.items() if kind == "heredoc_body"], here)
        else:
            line_end = self.source.find("\n", start.end_byte)
            self.check_gap(at, max(at, line_end), BLANKS)
            self._heredoc_body(node, start, parts.get("heredoc_body"), end, here)

    def _behind_heredoc(self, node: "Node", here: Here) -> None:
        """`cat <<E && ls`: a statement of its own, which the parser counts among the redirections."""
        moved = self.moves
        self.statement(node, here)
        if self.moves and not moved:
            self.doubt("a change of the folder behind a heredoc")

    def _heredoc_body(self, node: "Node", start: "Node", body: "Node | None", end: "Node", here: Here) -> None:
        delimiter = read_word(self.text(start))
        first = self.source.find("\n", start.end_byte) + 1
        if delimiter.fixed is None or delimiter.unsure or first in self._heredoc_lines:
            self.distrust("a heredoc that is not plainly read")
        if "\\\n" in self.source[node.start_byte : first]:
            self.distrust("an escaped line end in front of a heredoc")
        self._heredoc_lines.add(first)
        strips = self.text(node.children[0]) == "<<-"
        if self._end_of_heredoc(first, delimiter.value, strips=strips) != end.end_byte:
            self.distrust("a heredoc whose end is not certain")
        self.fed.append(self.source[first : end.start_byte])
        if body is None or delimiter.value != delimiter.raw:
            self.bodies.append((first, end.start_byte))
            return
        text = self.source[first : end.start_byte]
        if read_body(text, self._spans(body, first)).unsure or "`" in text:
            self.doubt("a heredoc that may run code")
        if _LIVE_TICK.search(text):
            # The parser may pass over what they hold.
            self.distrust("backticks in a heredoc")
        for hole in _holes(body):
            self._substitution(hole, here)

    def _end_of_heredoc(self, first: int, delimiter: str | None, *, strips: bool) -> int:
        """Where bash would end it: at the first line that is the delimiter and nothing else."""
        at = first
        while 0 < at <= len(self.source):
            line_end = self.source.find("\n", at)
            line_end = len(self.source) if line_end < 0 else line_end
            line = self.source[at:line_end]
            if (line.lstrip("\t") if strips else line) == delimiter:
                return line_end
            at = line_end + 1
        return -1


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


def _holes(node: "Node") -> Iterator["Node"]:
    """Substitutions, in order; what is inside of them is read on its own."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in _HOLES:
            yield current
        elif current.child_count:
            waiting.extend(reversed(current.children))
