"""A notebook as its cells, with what they put out: text cut to a bearable length, pictures as pictures."""

import base64
import binascii
from typing import Any

from everturn.core.hiding import Hiding
from everturn.core.marks import Tag, fence
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.media.jobs import PictureJob
from everturn.tools.notebooks.parse import Notebook, ParsedCell, parse_notebook
from everturn.tools.read.text import SeenPage
from everturn.tools.result_types import NotebookCell, NotebookFile, NotebookOutput, NotebookShown
from everturn.workspace.files import load_text
from everturn.workspace.opening import OpenFile
from everturn.workspace.pages import PageSpan

_MAX_BYTES = 100_000_000
_MAX_OUTPUT = 10_000
"""Characters of one output."""
_MAX_PICTURES = 10


def run_notebook(file: OpenFile, span: PageSpan, context: ToolContext) -> SeenPage:
    """Raises `ToolFault`, also for what is no notebook."""
    text = load_text(file, most=_MAX_BYTES)
    notebook = parse_notebook(text.text)
    page = _Page(notebook, span, context)
    cells = page.run()
    shown = NotebookFile(file_path=file.path, cells=tuple(_public_form(cell, notebook) for cell in cells))
    whole = len(cells) == len(notebook.cells)
    return SeenPage(
        result=ToolResult(content=page.content, shown=NotebookShown(file=shown)),
        stamp=text.stamp,
        whole=whole,
        shown_whole=whole,
    )


class _Page:
    """The blocks of one answer; neighbouring texts are one block."""

    def __init__(self, notebook: Notebook, span: PageSpan, context: ToolContext) -> None:
        self._notebook = notebook
        self._span = span
        self._context = context
        self._hiding = context.hiding
        self._blocks: list[dict[str, Any]] = []
        self._room = span.room
        self._pictures = 0

    @property
    def content(self) -> str | list[dict[str, Any]]:
        return self._blocks if self._pictures else "".join(block["text"] for block in self._blocks)

    def run(self) -> list[ParsedCell]:
        """The cells that are on the page."""
        cells = self._notebook.cells
        if not cells:
            self._say("(The notebook has no cells.)")
        elif self._span.first > len(cells):
            self._say(f"(The notebook has {len(cells)} cells; cell {self._span.first} is past its end.)")
        start = self._span.first - 1
        taken: list[ParsedCell] = []
        for cell in cells[start : start + self._span.count]:
            heading = render_cell(cell, self._hiding)
            self._room -= len(heading.encode(errors="replace"))
            if self._room < 0 and taken:
                break
            self._say(heading)
            self._show_pictures(cell)
            taken.append(cell)
        if taken and start + len(taken) < len(cells):
            last = start + len(taken)
            self._say(f"\n(Cells {start + 1} to {last} of {len(cells)}. Go on with offset={last + 1}.)")
        return taken

    def _show_pictures(self, cell: ParsedCell) -> None:
        from everturn.tools.media.run import run_job
        from everturn.tools.read.picture import picture_block

        for output in cell.outputs:
            if not output.picture:
                continue
            if self._pictures == _MAX_PICTURES:
                self._say("(A picture was put out; no more are shown on this page.)\n")
                continue
            try:
                data = base64.b64decode(output.picture, validate=True)
            except (binascii.Error, ValueError):
                self._say("(The picture that was put out cannot be decoded.)\n")
                continue
            answer = run_job(PictureJob(), data, self._context.folders, stop=lambda: self._context.abort.raised)
            if answer.problem:
                self._say(f"(The picture that was put out {answer.problem}.)\n")
                continue
            self._blocks.append(picture_block(answer.pictures[0]))
            self._pictures += 1

    def _say(self, text: str) -> None:
        if self._blocks and self._blocks[-1]["type"] == "text":
            text = self._blocks.pop()["text"] + text
        self._blocks.append({"type": "text", "text": text})


def render_cell(cell: ParsedCell, hiding: Hiding) -> str:
    parts = [fence(Tag.CELL, cell.source, f' id="{cell.id}" type="{cell.type}"')]
    parts += [fence(Tag.OUTPUT, _cut(hiding.hide(output.text))) for output in cell.outputs if output.text.strip()]
    return "".join(f"{part}\n" for part in parts)


def _cut(text: str) -> str:
    text = text.rstrip("\n")
    if len(text) <= _MAX_OUTPUT:
        return text
    half = _MAX_OUTPUT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def _public_form(cell: ParsedCell, notebook: Notebook) -> NotebookCell:
    return NotebookCell(
        cell_id=cell.id,
        cell_type=cell.type,
        source=cell.source,
        language=notebook.language if cell.type == "code" else None,
        outputs=tuple(
            NotebookOutput(output_type=output.kind, text=_cut(output.text), image=bool(output.picture))
            for output in cell.outputs
        ),
    )
