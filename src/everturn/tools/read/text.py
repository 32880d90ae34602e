"""A page of a text file: numbered lines, and what was left out."""

import msgspec

from everturn.core.errors import ToolFault
from everturn.core.hiding import Hiding
from everturn.core.tokens import BYTES_PER_TOKEN
from everturn.ports.files import Stamp
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.result_types import FilePage, TextShown
from everturn.workspace.opening import OpenFile
from everturn.workspace.pages import PageLine, PageLines, PageSpan, load_lines
from everturn.workspace.text import NUL_SIGN, show_nuls

_NUL = "\0"


class SeenPage(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at a file brought, and what there is to remember of it."""

    result: ToolResult
    stamp: Stamp
    whole: bool
    """The model saw every character: it may overwrite the file."""
    shown_whole: bool
    """The model saw all there is to see: showing it again would tell nothing new."""


def run_text(file: OpenFile, span: PageSpan, context: ToolContext, *, chosen: bool = False) -> SeenPage:
    """`chosen`: the model said which lines it wants; where they do not fit, it is told which would. Raises `ToolFault`."""
    page = cut_lines(load_lines(file, span, stop=lambda: context.abort.raised), span.width, context.hiding)
    if chosen and page.out_of_room:
        raise refuse_large(page, span)
    seen_all = not any(line.is_cut or _NUL in line.text for line in page.lines)
    whole = page.ended and len(page.lines) == page.total and seen_all
    shown = FilePage(
        file_path=file.path,
        content="\n".join(line.text for line in page.lines),
        num_lines=len(page.lines),
        start_line=page.first,
        total_lines=page.total,
        truncated_by_token_cap=page.out_of_room,
    )
    result = ToolResult(content=render_page(page), shown=TextShown(file=shown))
    return SeenPage(result=result, stamp=page.stamp, whole=whole, shown_whole=whole)


def cut_lines(page: PageLines, width: int, hiding: Hiding) -> PageLines:
    """Lines were read with a little more than is shown of them, so that a credential at the cut is hidden as a whole."""
    if not hiding.slack or not any(len(line.text) > width - hiding.slack for line in page.lines):
        return page
    lines = tuple(_cut_line(line, width - hiding.slack, hiding) for line in page.lines)
    return msgspec.structs.replace(page, lines=lines)


def _cut_line(line: PageLine, width: int, hiding: Hiding) -> PageLine:
    if len(line.text) <= width:
        return line
    text = hiding.hide(line.text)
    is_whole = not line.is_cut and len(text) <= width
    return PageLine(text, len(text)) if is_whole else PageLine(text[:width], max(line.length, width + 1))


def refuse_large(page: PageLines, span: PageSpan) -> ToolFault:
    fits = len(page.lines)
    asked = f"{span.count:,} lines from line {page.first} on"
    return ToolFault(
        f"The part that was asked for ({asked}) is more than {span.room // BYTES_PER_TOKEN:,} tokens. Page through it: "
        f"offset={page.first} and limit={fits} fit, then offset={page.first + fits}. Or find the place with Grep."
    )


def render_page(page: PageLines) -> str:
    if page.total == 0:
        return "(The file exists and is empty.)"
    if not page.lines:
        return f"(The file has {page.total} lines; line {page.first} is past its end.)"
    numbered = "\n".join(f"{number:>6}\t{_render_line(line)}" for number, line in enumerate(page.lines, page.first))
    last = page.first + len(page.lines) - 1
    notes = []
    if not (page.ended and last == page.total):
        total = f"{page.total}" if page.ended else f"about {page.total:,}"
        cap = "PARTIAL view: the page is full. " if page.out_of_room else ""
        size = f" and limit={len(page.lines)}" if page.out_of_room else ""
        notes.append(f"({cap}Lines {page.first} to {last} of {total}. Go on with offset={last + 1}{size}.)")
    if _NUL in numbered:
        notes.append(f"(The file has NUL bytes, shown as {NUL_SIGN}: it may be no text.)")
        numbered = show_nuls(numbered)
    return "\n".join([f"{numbered}\n", *notes]) if notes else numbered


def _render_line(line: PageLine) -> str:
    return f"{line.text}… (line cut, {line.length:,} characters in all)" if line.is_cut else line.text
