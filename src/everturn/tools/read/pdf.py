"""A PDF: small ones whole, as the API takes them; of others the pages asked for, drawn, with the text on them."""

import base64
import re
from typing import Any

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.media.jobs import MAX_PAGES, MediaAnswer, PdfJob
from everturn.tools.media.run import run_job
from everturn.tools.read.picture import picture_block, stamp_media
from everturn.tools.read.text import SeenPage
from everturn.tools.result_types import PdfFile, PdfParts, PdfPartsShown, PdfShown
from everturn.workspace.files import load_all, refuse_too_large
from everturn.workspace.opening import OpenFile

MAX_WHOLE_PAGES = 10
_MAX_WHOLE_BYTES = 10_000_000
"""A request holds 32 MB, and every later one carries the document again."""
_PAGES = re.compile(r"(\d{1,6})(?:\s*-\s*(\d{1,6})?)?")


def run_pdf(file: OpenFile, wanted: str, context: ToolContext) -> SeenPage:
    """Raises `ToolFault`, `InputFault`."""
    refuse_too_large(file)
    count = _ask(file, PdfJob(), context).page_count
    if not wanted and count > MAX_WHOLE_PAGES:
        raise ToolFault(
            f"{file.path} has {count} pages, which is too much at once. "
            f'Give `pages`, such as "1-5"; at most {MAX_PAGES} at a time.'
        )
    stamp = stamp_media(file)
    if not wanted and file.status.st_size <= _MAX_WHOLE_BYTES:
        return SeenPage(result=_whole(file), stamp=stamp, whole=False, shown_whole=True)
    pages = parse_pages(wanted, count) if wanted else tuple(range(1, count + 1))
    answer = _ask(file, PdfJob(pages=pages), context)
    return SeenPage(result=_drawn(file, pages, answer), stamp=stamp, whole=False, shown_whole=not wanted)


def parse_pages(text: str, count: int) -> tuple[int, ...]:
    """`3`, `1-5`, `8-` and lists of them, in order and each once. Raises `InputFault`, `ToolFault`."""
    pages: dict[int, None] = {}
    for part in text.split(","):
        found = _PAGES.fullmatch(part.strip())
        if found is None:
            raise InputFault(f'`pages`: expected pages such as "3" or "1-5", got {text!r}.')
        first = int(found[1])
        last = int(found[2]) if found[2] else count if "-" in part else first
        if first > count or last > count:
            raise ToolFault(f"The PDF has {count} pages; there is no page {max(first, last)}.")
        if not 1 <= first <= last:
            raise InputFault(f"`pages`: expected a first page from 1 that is not behind the last, got {text!r}.")
        pages.update(dict.fromkeys(range(first, last + 1)))
    if len(pages) > MAX_PAGES:
        raise InputFault(f"`pages`: expected at most {MAX_PAGES} pages at a time, got {len(pages)}.")
    return tuple(pages)


def _ask(file: OpenFile, job: PdfJob, context: ToolContext) -> MediaAnswer:
    answer = run_job(job, file.descriptor, context.folders, stop=lambda: context.abort.raised)
    if answer.problem:
        raise ToolFault(f"{file.path} {answer.problem}.")
    return answer


def _whole(file: OpenFile) -> ToolResult:
    data = base64.b64encode(load_all(file)).decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": data}
    shown = PdfFile(file_path=file.path, base64=data, original_size=file.status.st_size)
    return ToolResult(content=[{"type": "document", "source": source}], shown=PdfShown(file=shown))


def _drawn(file: OpenFile, pages: tuple[int, ...], answer: MediaAnswer) -> ToolResult:
    content: list[dict[str, Any]] = []
    for page, picture, text in zip(pages, answer.pictures, answer.texts, strict=True):
        words = f"\nThe text on it:\n{text}" if text else ""
        content.append({"type": "text", "text": f"Page {page} of {answer.page_count}.{words}"})
        content.append(picture_block(picture))
    parts = PdfParts(file_path=file.path, original_size=file.status.st_size, count=len(pages))
    return ToolResult(content=content, shown=PdfPartsShown(file=parts))
