"""Pages of a PDF: counted, drawn and read by PDFium."""

from typing import TYPE_CHECKING

from everturn.tools.media.jobs import LONG_EDGE, MediaAnswer, Picture
from everturn.tools.media.pictures import encode_picture

if TYPE_CHECKING:
    import pypdfium2

_MAX_SCALE = 3.0
"""216 dots per inch: a small page gains nothing from more."""
_MAX_TEXT = 20_000
"""Characters of one page."""


def run_pdf(data: bytes, pages: tuple[int, ...]) -> MediaAnswer:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).casefold()
        return MediaAnswer(problem="is locked by a password" if locked else "is damaged, or no PDF at all")
    count = len(document)
    if beyond := [page for page in pages if page > count]:
        return MediaAnswer(problem=f"has {count} pages; there is no page {beyond[0]}", page_count=count)
    pictures: list[Picture] = []
    texts: list[str] = []
    for page in pages:
        try:
            drawn, text = _load_page(document, page)
        except (pypdfium2.PdfiumError, MemoryError, ValueError):
            return MediaAnswer(problem=f"has a damaged page {page}", page_count=count)
        pictures.append(drawn)
        texts.append(text)
    return MediaAnswer(pictures=tuple(pictures), texts=tuple(texts), page_count=count)


def _load_page(document: "pypdfium2.PdfDocument", number: int) -> tuple[Picture, str]:
    page = document[number - 1]
    width, height = page.get_size()
    scale = min(_MAX_SCALE, LONG_EDGE / max(width, height, 1.0))
    drawn = page.render(scale=scale).to_pil()
    text = page.get_textpage().get_text_bounded().replace("\r\n", "\n").strip()
    return encode_picture(drawn, drawn.size), text[:_MAX_TEXT]
