"""Walks the parser's tree: every command and redirection it holds, and a doubt for all that is not plainly understood.

Kinds of nodes that `StatementReader` lists are read strictly: each byte must belong to a word, an operator, a comment or blanks.
Everything else is walked loosely, so that what hides there is found, and leaves a doubt.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from everturn.core.patterns import compile_late
from everturn.permissions.shell.files.openers import opens_nothing
from everturn.permissions.shell.reading.folders import MOVERS, unite
from everturn.permissions.shell.reading.heredocs import Span
from everturn.permissions.shell.reading.syntax import Command, Expansion, Here, Reading, Redirect, Word
from everturn.permissions.shell.reading.values import (
    ANYTHING,
    EMPTY,
    NUMBER,
    Value,
    VariableScope,
    join_values,
    of_texts,
)
from everturn.permissions.shell.reading.words import read_word
from everturn.permissions.shell.tree.commands import CommandReader
from everturn.permissions.shell.tree.draft import BLANKS, LINES, ReadingDraft
from everturn.permissions.shell.tree.redirections import REDIRECTS, RedirectionReader
from everturn.permissions.shell.tree.variables import Variables
from everturn.permissions.shell.tree.words import OTHER_INPUT, WORDS, After, WordReader
from everturn.ports.scratch import VARIABLE

if TYPE_CHECKING:
    from tree_sitter import Node

_SEPARATORS = frozenset({";", "&", "\n"})
_DECLARATIONS = frozenset({"declaration_command", "unset_command"})
"""`export`, `declare`, `unset`: commands to bash and to deny rules, statements to the parser."""
_SEEN = _DECLARATIONS | {"function_definition"}
"""Not approved, and all of it is found."""
_SIMPLE = frozenset({"command", "redirected_statement"})
_LISTS = frozenset({"list", "pipeline", "negated_command"})
_MAX_DEPTH = 60
_OF_CONDITIONS = frozenset({"if", "then", "elif", "else", "fi", ";", "\n"})
_OF_LOOPS = frozenset({"for", "while", "until", "in", ";", "\n"})
_NAME = compile_late(r"(?!npm_|.*proxy)[a-z_][A-Za-z0-9_]*")
"""Of a loop's variable: names in capitals, and some others, are the environment's."""
_FIRST = compile_late(r"[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=([^=].*)")
"""`i=0`, with which a loop that counts begins."""
_OF_CASES = frozenset({"case", "in", "esac", ";", "\n"})
_OF_ITEMS = frozenset({"(", "|", ")", ";;"})


def read_tree(
    root: "Node",
    source: str,
    start: Here,
    home: str,
    *,
    masked: Iterable[Span] = (),
    temporary: str = "",
    scope: VariableScope = EMPTY,
) -> Reading:
    """`source`: one character per byte, as the parser counts; `masked`: where the parser has seen other characters.

    `start`: the folders that it may begin in; `scope`: what its variables hold then; `temporary`: what `TMPDIR` holds all
    through the line, if that is known.
    """
    draft = ReadingDraft(source)
    if root.has_error:
        draft.doubt("it cannot be parsed")
    if temporary:
        scope = scope.set(VARIABLE, of_texts([temporary]))
    StatementReader(draft, Variables(draft, scope, home), temporary).sequence(root.children, start, 0, len(source))
    draft.check_masked(masked)
    return draft.finish(broken=root.has_error)


class StatementReader:
    """Statements around statements: lists, pipes, groups, loops and conditions, down to simple commands."""

    def __init__(self, draft: ReadingDraft, variables: Variables, temporary: str) -> None:
        self._draft, self._variables = draft, variables
        self._words = WordReader(draft, variables, self, temporary)
        self._redirections = RedirectionReader(draft, variables, self._words, self)
        self._commands = CommandReader(draft, variables, self._words, self._redirections, self)
        self._depth = 0
        self._strict: dict[str, Callable[[Node, Here], After]] = {
            "command": self._commands.read,
            "list": self._read_list,
            "pipeline": self._read_pipeline,
            "negated_command": self._read_negated,
            "redirected_statement": self._read_redirected,
            "subshell": self._read_subshell,
            "compound_statement": self._read_group,
            "for_statement": self._read_loop,
            "c_style_for_statement": self._read_counting_loop,
            "case_statement": self._read_case,
            "variable_assignment": self._commands.read_assignments,
            "variable_assignments": self._commands.read_assignments,
            "while_statement": self._read_loop,
            "if_statement": self._read_if,
            "test_command": self._commands.read_test,
        }

    def statement(self, node: "Node", here: Here) -> After:
        if self._depth >= _MAX_DEPTH:
            self._draft.doubt("it is nested too deeply")
            return None, None
        self._depth += 1
        after = self._strict.get(node.type, self._read_loosely)(node, here)
        self._depth -= 1
        return after

    def sequence(self, children: Sequence["Node"], here: Here, start: int, end: int) -> Here:
        """Statements one after the other, each ended by a separator or a line end."""
        at, parted, before, held = start, True, here, self._variables.scope
        for node in children:
            parted = "\n" in self._draft.check_gap(at, node.start_byte, LINES) or parted
            at = node.end_byte
            kind = node.type
            if kind == "comment":
                self._draft.check_comment(node)
            elif kind in _SEPARATORS:
                parted = True
                if kind == "&":
                    here = unite(before, here)
                    self._variables.scope = held.join(self._variables.scope)
            elif not node.is_named:
                self._draft.doubt(f"{self._draft.text(node)!r} where a command should stand")
            else:
                if not parted:
                    self._draft.doubt("two commands without a separator")
                held = self._variables.scope
                before, here = here, unite(*self.statement(node, here))
                parted = False
        self._draft.check_gap(at, end, LINES)
        return here

    def enclosed(self, node: "Node", here: Here, opening: str, closing: str) -> Here:
        children = node.children
        if len(children) <= len("()") or children[0].type != opening or children[-1].type != closing:
            self._draft.doubt(f"{node.type.replace('_', ' ')} is not plainly read")
            self.find_all(children, None)
            return None
        return self.sequence(children[1:-1], here, children[0].end_byte, children[-1].start_byte)

    def find(self, node: "Node", here: Here) -> None:
        """Loosely: what hides in it."""
        kind = node.type
        if kind in self._strict:
            self.statement(node, here)
        elif kind == "file_redirect":
            self._redirections.read(node, here)
        elif node.child_count:
            if self._depth >= _MAX_DEPTH:
                self._draft.doubt("it is nested too deeply")
                return
            self._depth += 1
            self.find_all(node.children, here)
            self._depth -= 1

    def find_all(self, nodes: Sequence["Node"], here: Here) -> None:
        for node in nodes:
            self.find(node, here)

    def _read_pipeline(self, node: "Node", here: Here) -> After:
        if any(child.type == "negated_command" for child in node.children[1:]):
            self._draft.doubt("a negation inside a pipeline", clear=True)
        first = len(self._draft.commands)
        with self._variables.forked():
            self._read_around(node, here, frozenset({"|", "|&"}), first)
        stages = [child for child in node.children if child.is_named]
        text = self._draft.text(node)
        for quoted in (child for stage in stages for child in stage.children if child.type == "raw_string"):
            text = text.replace(self._draft.text(quoted), "''", 1)
        if all(stage.type in _SIMPLE for stage in stages) and not any(sign in text for sign in OTHER_INPUT):
            # Without substitutions, each stage has left one command.
            self._draft.pipes.append(tuple(self._draft.commands[-len(stages) :]))
        return here, here

    def _feed_stage(self, node: "Node", stage: "Node", first: int) -> None:
        """`first`: where the commands of the pipe begin. What stands before the stage is what `read` in it reads."""
        before = [child for child in node.children if child.is_named and child.end_byte <= stage.start_byte]
        text = self._draft.source[node.start_byte : stage.start_byte]
        simple = all(each.type in _SIMPLE for each in before) and not any(sign in text for sign in OTHER_INPUT)
        self._variables.feed = tuple(self._draft.commands[first:]) if before and simple else ()

    def _read_loosely(self, node: "Node", here: Here) -> After:
        """Not approved, but everything in it is found."""
        self._draft.doubt(self._name_unread(node), clear=node.type in _SEEN)
        moved = self._draft.moves
        if node.type == "function_definition":
            self._note_function(node)
        self._variables.loosen()
        if node.type in _DECLARATIONS:
            words = tuple(read_word(self._draft.text(child)) for child in node.children)
            self._draft.commands.append(Command(words=words, here=here))
        self.find_all(node.children, None)
        self._variables.loosen()
        return (here, here) if moved or not self._draft.moves else (None, None)

    def _name_unread(self, node: "Node") -> str:
        if node.type in _DECLARATIONS:
            # The first child is the keyword: `export`, `declare`, `unset`.
            return f"what `{self._draft.text(node.children[0])}` does to later commands is not judged"
        return f"{node.type.replace('_', ' ').lower()} is not judged"

    def _note_function(self, node: "Node") -> None:
        names = {self._draft.text(child) for child in node.children if child.type == "word"}
        self._commands.functions |= names
        if not names or any(map(opens_nothing, names)):
            self._draft.doubt("a function in the place of a command")

    def _read_list(self, node: "Node", here: Here) -> After:
        """Lists lean to the left: `a && b && c` is walked down its spine, not by recursion."""
        steps: list[tuple[str, Node]] = []
        while node.type == "list":
            children = node.children
            comments = children[2:-1]
            if len(children) < len(("left", "operator", "right")) or any(each.type != "comment" for each in comments):
                self._draft.doubt("a list that is not plainly read")
                self.find_all(children, here)
                return None, None
            left, operator, right = children[0], children[1], children[-1]
            self._draft.check_gap(left.end_byte, operator.start_byte, BLANKS)
            at = operator.end_byte
            for comment in comments:
                self._draft.check_gap(at, comment.start_byte, LINES)
                self._draft.check_comment(comment)
                at = comment.end_byte
            self._draft.check_gap(at, right.start_byte, LINES)
            steps.append((operator.type, right))
            node = left
        success, failure = self.statement(node, here)
        for operator_type, right in reversed(steps):
            if operator_type == "&&":
                with self._variables.perhaps():
                    success, failed = self.statement(right, success)
                failure = unite(failure, failed)
            elif operator_type == "||":
                with self._variables.perhaps():
                    other, failure = self.statement(right, failure)
                success = unite(success, other)
            else:
                self._draft.doubt(f"{operator_type!r} between commands")
                success = failure = unite(*self.statement(right, None))
        return success, failure

    def _read_negated(self, node: "Node", here: Here) -> After:
        success, failure = self._read_around(node, here, frozenset({"!"}))
        return failure, success

    def _read_around(self, node: "Node", here: Here, operators: frozenset[str], first: int | None = None) -> After:
        """Statements with operators between them; each begins in the same folder."""
        at, after = node.start_byte, (here, here)
        for child in node.children:
            self._draft.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            if child.type == "comment":
                self._draft.check_comment(child)
            elif child.is_named:
                if first is None:
                    after = self.statement(child, here)
                else:
                    self._feed_stage(node, child, first)
                    begins, is_first = len(self._draft.commands), len(self._draft.commands) == first
                    with self._variables.forked():
                        after = self.statement(child, here)
                    self._draft.piped += [] if is_first else self._draft.commands[begins:]
            elif child.type not in operators:
                self._draft.doubt(f"{child.type!r} in a {node.type}")
        return after

    def _read_redirected(self, node: "Node", here: Here) -> After:
        body: Node | None = None
        extra: list[Word] = []
        at, first = node.start_byte, len(self._draft.redirects)
        for child in node.children:
            if self._draft.source[at : child.start_byte].strip(" \t") == "-":
                # The parser drops a lone dash in front of a heredoc: `python3 - <<EOF`.
                extra.append(read_word("-"))
            else:
                self._draft.check_gap(at, child.start_byte, BLANKS)
            if child.type in REDIRECTS:
                self._redirections.check_beside(at, child)
                extra.extend(self._redirections.read(child, here))
            elif body is None and child.is_named:
                body = child
            else:
                self._draft.doubt(f"{child.type!r} among redirections")
            at = child.end_byte
        if body is None:
            self._draft.doubt("a redirection without a command")
            return here, here
        last = len(self._draft.redirects)
        with self._fed_by(node):
            after = self._read_redirected_body(node, body, extra, here)
        if body.type in _LISTS:
            self._draft.redirects[first:last] = self._move_to_tail(self._draft.redirects[first:last], body)
        return after

    def _move_to_tail(self, redirects: list[Redirect], body: "Node") -> list[Redirect]:
        """The parser hangs `a && b > x` on both, and bash on `b`: where it stands, and what its variables hold, count."""
        tail = body
        while tail.type in _LISTS and tail.named_children:
            tail = tail.named_children[-1]
        if tail.type == "command":
            command = self._draft.commands[-1]
            return [replace(each, here=command.here, scope=command.scope) for each in redirects]
        return [replace(each, here=None) for each in redirects] if self._draft.moves else redirects

    @contextmanager
    def _fed_by(self, node: "Node") -> Iterator[None]:
        """The body reads from what its redirections say, if one of them does."""
        before = self._variables.feed
        inputs = [child for child in node.children if child.type in REDIRECTS and "<" in self._draft.text(child)]
        if inputs:
            self._variables.feed = ()
            last = self._draft.redirects[-1].target if len(inputs) == 1 and self._draft.redirects else None
            if last is not None and self._draft.text(inputs[0]).endswith(last.raw):
                self._variables.feed = next(
                    (part.source for part in last.parts if isinstance(part, Expansion) and part.is_pipe), ()
                )
        yield
        self._variables.feed = before

    def _read_redirected_body(self, node: "Node", body: "Node", extra: list[Word], here: Here) -> After:
        if body.type == "command":
            return self._commands.read(body, here, extra)
        pipes = len(self._draft.pipes)
        if extra:
            self._draft.doubt("words behind a redirection")
            self._draft.commands.append(Command(words=tuple(extra), here=None))
        after = self.statement(body, here)
        if "<" in self._draft.text(node):
            # The last stage of a pipe reads from there.
            del self._draft.pipes[pipes:]
        return after

    def _read_subshell(self, node: "Node", here: Here) -> After:
        with self._variables.forked():
            self.enclosed(node, here, "(", ")")
        return here, here

    def _read_arithmetic(self, node: "Node", here: Here) -> After:
        """`(( x + 1 ))`."""
        self._variables.calculate_text(self._draft.text(node)[len("((") : -len("))")])
        return here, here

    def _read_group(self, node: "Node", here: Here) -> After:
        if node.children and node.children[0].type == "((":
            return self._read_arithmetic(node, here)
        if self._draft.source[node.start_byte + 1 : node.start_byte + 2] not in {" ", "\t", "\n"}:
            self._draft.distrust("a brace that is part of a word")
        after = self.enclosed(node, here, "{", "}")
        return after, after

    def _read_loop(self, node: "Node", here: Here) -> After:
        if any(mover in self._draft.text(node) for mover in MOVERS):
            # It may be anywhere when it comes round.
            here = None
        with self._variables.repeated(node):
            return self._read_loop_once(node, here)

    def _read_loop_once(self, node: "Node", here: Here) -> After:
        variable, values = "", list[Value]()
        at = node.start_byte
        for child in node.children:
            self._draft.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            kind = child.type
            if kind == "do_group":
                if variable:
                    self._variables.assign(variable, join_values(*values) if values else ANYTHING)
                here = unite(here, self.enclosed(child, here, "do", "done"))
            elif kind == "variable_name":
                variable = self._draft.text(child)
                if not _NAME.fullmatch(variable):
                    self._draft.note_form("a loop that may set a variable of the environment")
            elif kind in WORDS:
                values.append(self._variables.evaluator(here).evaluate_list(self._words.read(child, here)))
            elif kind == "comment":
                self._draft.check_comment(child)
            elif child.is_named:
                here = unite(here, *self.statement(child, here))
            elif kind not in _OF_LOOPS:
                self._draft.doubt(f"{kind!r} in a loop")
        return here, here

    def _read_counting_loop(self, node: "Node", here: Here) -> After:
        """`for ((i = 0; i < 3; i++))`."""
        body = node.children[-1]
        header, opened, _ = self._draft.source[node.start_byte : body.start_byte].partition("((")
        inside = self._draft.source[node.start_byte + len(header) + len(opened) : body.start_byte]
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
            self._draft.doubt("c style for statement is not judged")
            self.find_all(node.children, None)
            return here, here
        if any(mover in self._draft.text(node) for mover in MOVERS):
            here = None
        self._variables.calculate_text(first[2])
        self._variables.assign(first[1], NUMBER)
        with self._variables.repeated(node):
            for step in steps[1:]:
                self._variables.calculate_text(step)
            here = unite(here, self.enclosed(body, here, "do", "done"))
        return here, here

    def _read_case(self, node: "Node", here: Here) -> After:
        """`case x in a) ..;; esac`: any of its items may run, or none."""
        self._draft.note_form("case statement is not judged")
        after, at = here, node.start_byte
        for child in node.children:
            self._draft.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            if child.type == "case_item":
                with self._variables.perhaps():
                    after = unite(after, self._read_case_item(child, here))
            elif child.type in WORDS:
                self._words.read(child, here)
            elif child.type == "comment":
                self._draft.check_comment(child)
            elif child.type not in _OF_CASES:
                self._draft.doubt(f"{child.type!r} in a case")
                self.find(child, here)
        return after, after

    def _read_case_item(self, node: "Node", here: Here) -> Here:
        children = node.children
        closing = next((at for at, child in enumerate(children) if child.type == ")"), None)
        ended = children[-1].type == ";;"
        if closing is None:
            self._draft.doubt("a case that is not plainly read")
            self.find_all(children, None)
            return None
        at = node.start_byte
        for child in children[: closing + 1]:
            self._draft.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            if child.type in WORDS or child.type == "extglob_pattern":
                self._words.read(child, here)
            elif child.type not in _OF_ITEMS:
                self._draft.doubt(f"{child.type!r} in a case")
                self.find(child, here)
        body = children[closing + 1 : -1] if ended else children[closing + 1 :]
        return self.sequence(body, here, at, children[-1].start_byte if ended else node.end_byte)

    def _read_if(self, node: "Node", here: Here) -> After:
        after = self._read_clause(node, here)
        return after, after

    def _read_clause(self, node: "Node", here: Here) -> Here:
        """Of `if`: conditions and branches in a row; any of them may have run."""
        at, parted = node.start_byte, True
        for child in node.children:
            parted = "\n" in self._draft.check_gap(at, child.start_byte, LINES) or parted
            at = child.end_byte
            kind = child.type
            if kind == "comment":
                self._draft.check_comment(child)
            elif not child.is_named:
                if kind not in _OF_CONDITIONS:
                    self._draft.doubt(f"{kind!r} in a condition")
                parted = True
            elif kind in {"elif_clause", "else_clause"}:
                with self._variables.perhaps():
                    here = unite(here, self._read_clause(child, here))
                parted = True
            else:
                if not parted:
                    self._draft.doubt("two commands without a separator")
                with self._variables.perhaps():
                    here = unite(here, *self.statement(child, here))
                parted = False
        return here
