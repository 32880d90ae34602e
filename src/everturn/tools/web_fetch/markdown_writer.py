"""The Markdown that grows while a page is read: running text with its marks, and the lists, quotes and tables around it."""

import re
from collections.abc import Callable

_MAX_DEPTH = 12
"""Lists and quotes further inside stay at this depth."""
_MAX_MARKS = 16
_MAX_FRAMES = 200

Wrap = Callable[[str], str]


class _Frame:
    """An open list, item or quote."""

    def __init__(self, name: str, indents: int, number: int = 1) -> None:
        self.name = name
        self.indents = indents
        self.number = number


class _Mark:
    """Open emphasis or link: where its text begins, and what becomes of it."""

    def __init__(self, name: str, start: int, wrap: Wrap) -> None:
        self.name = name
        self.start = start
        self.wrap = wrap


class MarkdownLines:
    def __init__(self) -> None:
        self.size = 0
        """Characters, about."""
        self._done: list[str] = []
        self._text: list[str] = []
        self._marks: list[_Mark] = []
        self._frames: list[_Frame] = []
        self._indents: list[list[str]] = []
        """For each frame what stands before its first line, and before the others."""
        self._heading = ""
        self._code: str | None = None
        self._rows: list[list[str]] | None = None
        self._gap: str | None = None
        """What stands in the blank line that is due before the next one."""

    @property
    def in_table(self) -> bool:
        return self._rows is not None

    def add(self, text: str) -> None:
        self.size += len(text)
        self._text.append(text)

    def line_end(self) -> None:
        if self._code is not None:
            self._text.append("\n")
        elif self._rows is not None:
            self._text.append(" ")
        else:
            self.begin_block(gap=False)

    def rule(self) -> None:
        self.begin_block(gap=True)
        self._write("---")
        self._want_gap()

    def begin_mark(self, name: str, wrap: Wrap) -> None:
        if name == "a":
            # A link in a link is the next link.
            self.end_mark("a")
        if self._code is None and len(self._marks) < _MAX_MARKS:
            self._marks.append(_Mark(name, len(self._text), wrap))

    def end_mark(self, name: str) -> None:
        at = next((at for at in reversed(range(len(self._marks))) if self._marks[at].name == name), None)
        if at is not None:
            for mark in reversed(self._marks[at:]):
                self._apply(mark)
            del self._marks[at:]

    def begin_block(self, *, gap: bool) -> None:
        """Ends the running line; links and emphasis that are open go on in the next."""
        if self._code is not None:
            return
        if self._rows is not None:
            self._text.append(" ")
            return
        for mark in reversed(self._marks):
            self._apply(mark)
            mark.start = 0
        text = " ".join("".join(self._text).split())
        self._text.clear()
        for mark in self._marks:
            mark.start = 0
        if text:
            self._write(f"{self._heading}{text}")
        if gap:
            self._want_gap()

    def begin_heading(self, mark: str) -> None:
        if self._code is None and self._rows is None:
            self._heading = f"{mark} "

    def end_heading(self) -> None:
        self.begin_block(gap=True)
        self._heading = ""

    def begin_list(self, name: str, number: int) -> None:
        self.begin_block(gap=not self._frames)
        self._push(name, None, number)

    def begin_item(self) -> None:
        if self._frames and self._frames[-1].name == "li":
            self.end_frame("li")
        self.begin_block(gap=False)
        around = self._frames[-1] if self._frames else None
        marker = "- "
        if around is not None and around.name == "ol":
            marker = f"{around.number}. "
            around.number += 1
        self._push("li", [marker, " " * len(marker)])

    def begin_quote(self) -> None:
        self.begin_block(gap=True)
        self._push("blockquote", ["> ", "> "])

    def end_frame(self, name: str) -> None:
        at = next((at for at in reversed(range(len(self._frames))) if self._frames[at].name == name), None)
        if at is None:
            return
        # The end of an item never reaches out of its list.
        if name == "li" and any(frame.name in {"ul", "ol", "menu"} for frame in self._frames[at:]):
            return
        self.begin_block(gap=False)
        if self._rows is None and self._code is None:
            del self._indents[self._frames[at].indents :]
            del self._frames[at:]
            if name == "blockquote" or not self._frames:
                self._want_gap()

    def begin_code(self, classes: str) -> None:
        self.begin_block(gap=True)
        if self._rows is None and self._code is None:
            self._marks.clear()
            self._code = _language(classes)

    def note_language(self, classes: str) -> None:
        if self._code == "":
            self._code = _language(classes)

    def end_code(self) -> None:
        if self._code is None:
            return
        text = "".join(self._text).strip("\n").expandtabs(4)
        language, self._code = self._code, None
        self._text.clear()
        if text.strip():
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
            self._write(f"{fence}{language}")
            for line in text.split("\n"):
                self._write(line.rstrip())
            self._write(fence)
        self._want_gap()

    def begin_table(self) -> None:
        if self._rows is not None:
            # A table in a table is layout: the outer one becomes ordinary text.
            self._spill()
        self.begin_block(gap=True)
        if self._code is None:
            self._rows = []

    def begin_row(self) -> None:
        self.end_cell()
        if self._rows is not None:
            self._rows.append([])

    def begin_cell(self) -> None:
        self.end_cell()
        self._text.clear()

    def end_cell(self) -> None:
        if self._rows is None:
            return
        for mark in reversed(self._marks):
            self._apply(mark)
        self._marks.clear()
        text = " ".join("".join(self._text).split())
        self._text.clear()
        if text:
            if not self._rows:
                self._rows.append([])
            self._rows[-1].append(text)

    def end_table(self) -> None:
        if self._rows is None:
            return
        self.end_cell()
        rows = [row for row in self._rows if row]
        width = max((len(row) for row in rows), default=0)
        if width <= 1 or len(rows) == 1:
            self._spill()
            return
        self._rows = None
        for at, row in enumerate(rows):
            cells = [cell.replace("|", "\\|") for cell in row]
            self._write(f"| {' | '.join(cells + [''] * (width - len(cells)))} |")
            if at == 0:
                self._write(f"|{' --- |' * width}")
        self._want_gap()

    def finish(self) -> str:
        self.end_code()
        self.end_table()
        self.begin_block(gap=False)
        return "\n".join(self._done).strip("\n")

    def _spill(self) -> None:
        self.end_cell()
        rows, self._rows = self._rows or [], None
        for row in rows:
            if row:
                self._write(" ".join(row))
        self._want_gap()

    def _push(self, name: str, indent: list[str] | None, number: int = 1) -> None:
        if self._rows is None and self._code is None and len(self._frames) < _MAX_FRAMES:
            self._frames.append(_Frame(name, len(self._indents), number))
            if indent is not None:
                self._indents.append(indent if len(self._indents) < _MAX_DEPTH else ["", ""])

    def _apply(self, mark: _Mark) -> None:
        text = "".join(self._text[mark.start :])
        if inner := " ".join(text.split()):
            before = " " if text[0].isspace() else ""
            after = " " if text[-1].isspace() else ""
            self._text[mark.start :] = [f"{before}{mark.wrap(inner)}{after}"]

    def _want_gap(self) -> None:
        """Not between an item's mark and its text."""
        is_pending = bool(self._indents) and self._indents[-1][0] != self._indents[-1][1]
        blank = "".join(later for _, later in self._indents).rstrip()
        if not is_pending and (self._gap is None or len(blank) < len(self._gap)):
            self._gap = blank

    def _write(self, line: str) -> None:
        if self._gap is not None and self._done:
            self._done.append(self._gap)
        self._gap = None
        prefix = "".join(first for first, _ in self._indents)
        for indent in self._indents:
            indent[0] = indent[1]
        self._done.append(f"{prefix}{line}".rstrip())
        self.size += len(prefix) + len(line) + 1


def _language(classes: str) -> str:
    found = re.search(r"\b(?:language|lang|highlight-source)-([\w+#-]{1,20})", classes)
    return found[1] if found else ""
