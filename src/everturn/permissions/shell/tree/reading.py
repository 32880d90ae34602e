"""Walks the parser's tree: every command and redirection it holds, and a doubt for all that is not plainly understood.

Kinds of nodes that are listed here are read strictly: each byte must belong to a word, an operator, a comment or blanks.
Everything else is walked loosely, so that what hides there is found, and leaves a doubt.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from everturn.permissions.shell.files import opens_nothing
from everturn.permissions.shell.folders import unite
from everturn.permissions.shell.heredocs import Span
from everturn.permissions.shell.syntax import Command, Expansion, Here, Reading, Redirect, Word
from everturn.permissions.shell.tree.compounds import Compounds
from everturn.permissions.shell.tree.notes import BLANKS, LINES
from everturn.permissions.shell.tree.redirects import REDIRECTS
from everturn.permissions.shell.tree.words import OTHER_INPUT, After
from everturn.permissions.shell.values import EMPTY, Scope
from everturn.permissions.shell.words import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

_SEPARATORS = frozenset({";", "&", "\n"})
_DECLARATIONS = frozenset({"declaration_command", "unset_command"})
"""`export`, `declare`, `unset`: commands to bash and to deny rules, statements to the parser."""
_SEEN = _DECLARATIONS | {"function_definition"}
"""Not approved, and all of it is found."""
_SIMPLE = frozenset({"command", "redirected_statement"})
_LISTS = frozenset({"list", "pipeline", "negated_command"})
_DEEPEST = 60


def read_tree(
    root: "Node",
    source: str,
    start: Here,
    home: str,
    *,
    masked: Iterable[Span] = (),
    temporary: str = "",
    scope: Scope = EMPTY,
) -> Reading:
    """`source`: one character per byte, as the parser counts; `masked`: where the parser has seen other characters.

    `start`: the folders that it may begin in; `scope`: what its variables hold then; `temporary`: what `TMPDIR` holds all
    through the line, if that is known.
    """
    walk = _Walk(source, home)
    walk.scope = scope
    walk.know_temporary(temporary)
    if root.has_error:
        walk.doubt("it cannot be parsed")
    walk.sequence(root.children, start, 0, len(source))
    walk.check_masked(masked)
    return walk.finish(broken=root.has_error)


class _Walk(Compounds):
    def __init__(self, source: str, home: str) -> None:
        super().__init__(source, home)
        self._depth = 0
        self._strict: dict[str, Callable[[Node, Here], After]] = {
            "command": self.command,
            "list": self._list,
            "pipeline": self.pipeline,
            "negated_command": self._negated,
            "redirected_statement": self._redirected,
            "subshell": self.subshell,
            "compound_statement": self.group,
            "for_statement": self.loop,
            "c_style_for_statement": self.counting_loop,
            "case_statement": self.choice,
            "variable_assignment": self.assign_all,
            "variable_assignments": self.assign_all,
            "while_statement": self.loop,
            "if_statement": self.branches,
            "test_command": self.test,
        }

    def statement(self, node: "Node", here: Here) -> After:
        if self._depth >= _DEEPEST:
            self.doubt("it is nested too deeply")
            return None, None
        self._depth += 1
        after = self._strict.get(node.type, self._loose)(node, here)
        self._depth -= 1
        return after

    def sequence(self, children: Sequence["Node"], here: Here, start: int, end: int) -> Here:
        """Statements one after the other, each ended by a separator or a line end."""
        at, parted, before, held = start, True, here, self.scope
        for node in children:
            parted = "\n" in self.check_gap(at, node.start_byte, LINES) or parted
            at = node.end_byte
            kind = node.type
            if kind == "comment":
                self.check_comment(node)
            elif kind in _SEPARATORS:
                parted = True
                if kind == "&":
                    here = unite(before, here)
                    self.scope = held.join(self.scope)
            elif not node.is_named:
                self.doubt(f"{self.text(node)!r} where a command should stand")
            else:
                if not parted:
                    self.doubt("two commands without a separator")
                held = self.scope
                before, here = here, unite(*self.statement(node, here))
                parted = False
        self.check_gap(at, end, LINES)
        return here

    def enclosed(self, node: "Node", here: Here, opening: str, closing: str) -> Here:
        children = node.children
        if len(children) <= len("()") or children[0].type != opening or children[-1].type != closing:
            self.doubt(f"{node.type.replace('_', ' ')} is not plainly read")
            self.find_all(children, None)
            return None
        return self.sequence(children[1:-1], here, children[0].end_byte, children[-1].start_byte)

    def pipeline(self, node: "Node", here: Here) -> After:
        if any(child.type == "negated_command" for child in node.children[1:]):
            self.doubt("a negation inside a pipeline", clear=True)
        first = len(self.commands)
        with self.forked():
            self._around(node, here, frozenset({"|", "|&"}), first)
        stages = [child for child in node.children if child.is_named]
        text = self.text(node)
        for quoted in (child for stage in stages for child in stage.children if child.type == "raw_string"):
            text = text.replace(self.text(quoted), "''", 1)
        if all(stage.type in _SIMPLE for stage in stages) and not any(sign in text for sign in OTHER_INPUT):
            # Without substitutions, each stage has left one command.
            self.pipes.append(tuple(self.commands[-len(stages) :]))
        return here, here

    def _feed_stage(self, node: "Node", stage: "Node", first: int) -> None:
        """`first`: where the commands of the pipe begin. What stands before the stage is what `read` in it reads."""
        before = [child for child in node.children if child.is_named and child.end_byte <= stage.start_byte]
        text = self.source[node.start_byte : stage.start_byte]
        simple = all(each.type in _SIMPLE for each in before) and not any(sign in text for sign in OTHER_INPUT)
        self.feed = tuple(self.commands[first:]) if before and simple else ()

    def find(self, node: "Node", here: Here) -> None:
        kind = node.type
        if kind in self._strict:
            self.statement(node, here)
        elif kind == "file_redirect":
            self.redirect(node, here)
        elif node.child_count:
            if self._depth >= _DEEPEST:
                self.doubt("it is nested too deeply")
                return
            self._depth += 1
            self.find_all(node.children, here)
            self._depth -= 1

    def _loose(self, node: "Node", here: Here) -> After:
        """Not approved, but everything in it is found."""
        self.doubt(f"{node.type.replace('_', ' ').lower()} is not judged", clear=node.type in _SEEN)
        moved = self.moves
        if node.type == "function_definition":
            self._note_function(node)
        self.loosen()
        if node.type in _DECLARATIONS:
            words = tuple(read_word(self.text(child)) for child in node.children)
            self.commands.append(Command(words=words, here=here))
        self.find_all(node.children, None)
        self.loosen()
        return (here, here) if moved or not self.moves else (None, None)

    def _note_function(self, node: "Node") -> None:
        names = {self.text(child) for child in node.children if child.type == "word"}
        self.functions |= names
        if not names or any(map(opens_nothing, names)):
            self.doubt("a function in the place of a command")

    def _list(self, node: "Node", here: Here) -> After:
        """Lists lean to the left: `a && b && c` is walked down its spine, not by recursion."""
        steps: list[tuple[str, Node]] = []
        while node.type == "list":
            children = node.children
            comments = children[2:-1]
            if len(children) < len(("left", "operator", "right")) or any(each.type != "comment" for each in comments):
                self.doubt("a list that is not plainly read")
                self.find_all(children, here)
                return None, None
            left, operator, right = children[0], children[1], children[-1]
            self.check_gap(left.end_byte, operator.start_byte, BLANKS)
            at = operator.end_byte
            for comment in comments:
                self.check_gap(at, comment.start_byte, LINES)
                self.check_comment(comment)
                at = comment.end_byte
            self.check_gap(at, right.start_byte, LINES)
            steps.append((operator.type, right))
            node = left
        success, failure = self.statement(node, here)
        for operator_type, right in reversed(steps):
            if operator_type == "&&":
                with self.perhaps():
                    success, failed = self.statement(right, success)
                failure = unite(failure, failed)
            elif operator_type == "||":
                with self.perhaps():
                    other, failure = self.statement(right, failure)
                success = unite(success, other)
            else:
                self.doubt(f"{operator_type!r} between commands")
                success = failure = unite(*self.statement(right, None))
        return success, failure

    def _negated(self, node: "Node", here: Here) -> After:
        success, failure = self._around(node, here, frozenset({"!"}))
        return failure, success

    def _around(self, node: "Node", here: Here, operators: frozenset[str], first: int | None = None) -> After:
        """Statements with operators between them; each begins in the same folder."""
        at, after = node.start_byte, (here, here)
        for child in node.children:
            self.check_gap(at, child.start_byte, LINES)
            at = child.end_byte
            if child.type == "comment":
                self.check_comment(child)
            elif child.is_named:
                if first is None:
                    after = self.statement(child, here)
                else:
                    self._feed_stage(node, child, first)
                    begins, is_first = len(self.commands), len(self.commands) == first
                    with self.forked():
                        after = self.statement(child, here)
                    self.piped += [] if is_first else self.commands[begins:]
            elif child.type not in operators:
                self.doubt(f"{child.type!r} in a {node.type}")
        return after

    def _redirected(self, node: "Node", here: Here) -> After:
        body: Node | None = None
        extra: list[Word] = []
        at, first = node.start_byte, len(self.redirects)
        for child in node.children:
            if self.source[at : child.start_byte].strip(" \t") == "-":
                # The parser drops a lone dash in front of a heredoc: `python3 - <<EOF`.
                extra.append(read_word("-"))
            else:
                self.check_gap(at, child.start_byte, BLANKS)
            if child.type in REDIRECTS:
                self.check_beside(at, child)
                extra.extend(self.redirect(child, here))
            elif body is None and child.is_named:
                body = child
            else:
                self.doubt(f"{child.type!r} among redirections")
            at = child.end_byte
        if body is None:
            self.doubt("a redirection without a command")
            return here, here
        last = len(self.redirects)
        with self._fed_by(node):
            after = self._redirected_body(node, body, extra, here)
        if body.type in _LISTS:
            self.redirects[first:last] = self._move_to_tail(self.redirects[first:last], body)
        return after

    def _move_to_tail(self, redirects: list[Redirect], body: "Node") -> list[Redirect]:
        """The parser hangs `a && b > x` on both, and bash on `b`: where it stands, and what its variables hold, count."""
        tail = body
        while tail.type in _LISTS and tail.named_children:
            tail = tail.named_children[-1]
        if tail.type == "command":
            command = self.commands[-1]
            return [replace(each, here=command.here, scope=command.scope) for each in redirects]
        return [replace(each, here=None) for each in redirects] if self.moves else redirects

    @contextmanager
    def _fed_by(self, node: "Node") -> Iterator[None]:
        """The body reads from what its redirections say, if one of them does."""
        before = self.feed
        inputs = [child for child in node.children if child.type in REDIRECTS and "<" in self.text(child)]
        if inputs:
            self.feed = ()
            last = self.redirects[-1].target if len(inputs) == 1 and self.redirects else None
            if last is not None and self.text(inputs[0]).endswith(last.raw):
                self.feed = next(
                    (part.source for part in last.parts if isinstance(part, Expansion) and part.is_pipe), ()
                )
        yield
        self.feed = before

    def _redirected_body(self, node: "Node", body: "Node", extra: list[Word], here: Here) -> After:
        if body.type == "command":
            return self.command(body, here, extra)
        pipes = len(self.pipes)
        if extra:
            self.doubt("words behind a redirection")
            self.commands.append(Command(words=tuple(extra), here=None))
        after = self.statement(body, here)
        if "<" in self.text(node):
            # The last stage of a pipe reads from there.
            del self.pipes[pipes:]
        return after
