"""What was found in a line so far, the doubts about it, and the check that every byte of the source was read."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.heredocs import Span
from everturn.permissions.shell.reading.syntax import Command, Reading, Redirect

if TYPE_CHECKING:
    from tree_sitter import Node

BLANKS = compile_late(r"(?:[ \t]+(?:\\\n[ \t]*)*)?")
"""Between words: an escaped line end counts when a blank stands before it."""
LINES = compile_late(r"[ \t\n]*(?:[ \t\n]\\\n[ \t\n]*)*")
"""Between commands."""
_BEFORE_COMMENT = " \t\n;&|()"
SHOWN = 12
"""Characters of the source in a doubt."""


class ReadingDraft:
    def __init__(self, source: str) -> None:
        self.source = source
        self.commands: list[Command] = []
        self.redirects: list[Redirect] = []
        self.pipes: list[tuple[Command, ...]] = []
        self.piped: list[Command] = []
        self.fed: list[str] = []
        self.bodies: list[Span] = []
        """Of heredocs that are text and nothing else."""
        self.moves = self.leaves = False
        self._misread = False
        self._doubts: dict[str, None] = {}
        self._unclear: dict[str, None] = {}
        self._forms: dict[str, None] = {}
        self.own_names: set[str] = set()

    def doubt(self, why: str, *, clear: bool = False) -> None:
        """`clear`: no rule approves it, and yet everything that it may run or open is seen."""
        self._doubts[why] = None
        if not clear:
            self._unclear[why] = None

    def note_form(self, why: str) -> None:
        """A form that is understood, and that may be used by what runs held: it is a doubt everywhere else."""
        self._forms[why] = None

    def distrust(self, why: str) -> None:
        """A doubt about the tree itself: bash may see other commands in this line."""
        self._misread = True
        self.doubt(why)

    def text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte]

    def check_gap(self, start: int, end: int, allowed: re.Pattern[str], *, touching: bool = True) -> str:
        """Nothing but blanks may stand between two nodes; some may stand side by side."""
        gap = self.source[start:end]
        if gap == " ":
            return gap
        if not allowed.fullmatch(gap) or not (gap or touching):
            self.distrust(f"{gap[:SHOWN]!r} between words" if gap else "words that touch")
        return gap

    def check_comment(self, node: "Node") -> None:
        start, text = node.start_byte, self.text(node)
        before = self.source[start - 1 : start]
        if not text.startswith("#") or "\n" in text or (before and before not in _BEFORE_COMMENT):
            self.distrust("a comment that may not be one")

    def check_masked(self, spans: Iterable[Span]) -> None:
        """What the parser was not shown must be what we took it for."""
        for first, end in spans:
            if not any(start <= first and end <= stop for start, stop in self.bodies):
                self.distrust("a heredoc that may be none")

    def finish(self, *, broken: bool) -> Reading:
        return Reading(
            commands=tuple(self.commands),
            redirects=tuple(self.redirects),
            pipes=tuple(self.pipes),
            piped=tuple(self.piped),
            fed=tuple(self.fed),
            unsure=(*self._doubts, *self._forms),
            unclear=tuple(self._unclear),
            holdable=not (self._doubts or broken or self._misread),
            own_names=frozenset(self.own_names),
            broken=broken or self._misread,
            moves=self.moves,
            leaves=self.leaves,
        )
