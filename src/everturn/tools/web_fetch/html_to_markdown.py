"""HTML to Markdown for a model to read: structure, links and code are kept, everything that is not text is left out."""

import re
from collections.abc import Callable
from itertools import islice
from urllib.parse import urljoin

from everturn.tools.web_fetch.html_tokens import Close, Open, parse_html
from everturn.tools.web_fetch.markdown_writer import MarkdownLines

MAX_CHARACTERS = 600_000
"""After as many, read and written, the rest of the page is left out."""
_MAX_TOKENS = 500_000
_TITLE = 300
_SKIPPED = frozenset(
    {"script", "style", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video", "select", "button",
     "noembed", "noframes", "xmp", "textarea"}
)  # fmt: skip
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_BLOCKS = frozenset(
    {"address", "article", "aside", "body", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
     "figcaption", "figure", "footer", "form", "header", "html", "main", "nav", "p", "section", "summary", "caption",
     "tr", "td", "th", "thead", "tbody", "tfoot"}
)  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_EMPHASIS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "samp": "`", "del": "~~"}


def render_markdown(html: str, url: str) -> str:
    """Links are absolute. Nesting may be as deep as it likes: it costs no stack."""
    page = _Page(url)
    for token in islice(parse_html(html), _MAX_TOKENS):
        if page.lines.size > MAX_CHARACTERS:
            break
        match token:
            case Open():
                page.open(token)
            case Close():
                page.close(token.name)
            case text:
                page.text(text)
    return page.finish()


class _Page:
    def __init__(self, url: str) -> None:
        self.lines = MarkdownLines()
        self._base = url
        self._title: str | None = None
        self._in_title = False
        self._skipped: tuple[str, int] | None = None
        """The element whose content is left out, and how many of its name are open."""

    def open(self, tag: Open) -> None:
        name = tag.name
        if self._skipped is not None:
            skipped, depth = self._skipped
            if name == skipped and not tag.empty:
                self._skipped = (skipped, depth + 1)
        elif name == "title":
            self._in_title = True
        elif name in _SKIPPED or _is_hidden(tag):
            if not tag.empty and name not in _VOID:
                self._skipped = (name, 1)
        elif name == "base" and tag.attributes.get("href"):
            self._base = self._absolute(tag.attributes["href"])
        elif name == "a":
            self.lines.begin_mark("a", self._link(tag.attributes.get("href", "")))
        elif name == "img":
            self._image(tag)
        elif name in _EMPHASIS:
            self.lines.begin_mark(name, _emphasis(_EMPHASIS[name]))
            self.lines.note_language(tag.attributes.get("class", ""))
        else:
            self._open_block(tag)

    def _open_block(self, tag: Open) -> None:
        lines, name = self.lines, tag.name
        if name in _HEADINGS:
            lines.begin_block(gap=True)
            lines.begin_heading(_HEADINGS[name])
        elif name in {"ul", "ol", "menu"}:
            lines.begin_list(name, _first_number(tag))
        elif name == "li":
            lines.begin_item()
        elif name == "blockquote":
            lines.begin_quote()
        elif name == "pre":
            lines.begin_code(tag.attributes.get("class", ""))
        elif name == "table":
            lines.begin_table()
        elif name in {"tr", "td", "th"} and lines.in_table:
            lines.begin_row() if name == "tr" else lines.begin_cell()
        elif name == "br":
            lines.line_end()
        elif name == "hr":
            lines.rule()
        elif name in _BLOCKS:
            lines.begin_block(gap=name in {"p", "figure", "dl", "details", "tr"})

    def close(self, name: str) -> None:
        lines = self.lines
        if self._skipped is not None:
            skipped, depth = self._skipped
            if name == skipped:
                self._skipped = (skipped, depth - 1) if depth > 1 else None
        elif name == "title":
            self._in_title = False
        elif name == "a" or name in _EMPHASIS:
            lines.end_mark(name)
        elif name in _HEADINGS:
            lines.end_heading()
        elif name in {"ul", "ol", "menu", "li", "blockquote"}:
            lines.end_frame(name)
        elif name == "pre":
            lines.end_code()
        elif name == "table":
            lines.end_table()
        elif name in {"tr", "td", "th"} and lines.in_table:
            lines.end_cell()
        elif name in _BLOCKS:
            lines.begin_block(gap=name in {"p", "figure", "dl", "details", "tr"})

    def text(self, text: str) -> None:
        if self._in_title:
            self._title = self._title or " ".join(text[:_TITLE].split())
        elif self._skipped is None:
            self.lines.add(text)

    def finish(self) -> str:
        body = self.lines.finish()
        return f"Title: {self._title}\n\n{body}".strip() if self._title else body

    def _link(self, href: str) -> Callable[[str], str]:
        address = self._absolute(href)
        if not address.startswith(("http://", "https://", "mailto:")) or href.startswith("#"):
            return lambda text: text
        return lambda text: f"[{text}]({address})"

    def _image(self, tag: Open) -> None:
        if alt := " ".join(tag.attributes.get("alt", "").split()):
            self.lines.add(f"![{alt}]")

    def _absolute(self, href: str) -> str:
        try:
            return re.sub(r"\s", "%20", urljoin(self._base, href.strip()))
        except ValueError:
            return ""


def _is_hidden(tag: Open) -> bool:
    """What no reader of the page sees is no part of it: that is where instructions to models hide."""
    style = tag.attributes.get("style", "").replace(" ", "").lower()
    hidden = "hidden" in tag.attributes and tag.attributes["hidden"].lower() != "until-found"
    return tag.name not in {"html", "body"} and (hidden or "display:none" in style or "visibility:hidden" in style)


def _emphasis(mark: str) -> Callable[[str], str]:
    return lambda text: f"{mark}{text}{mark}"


def _first_number(tag: Open) -> int:
    start = tag.attributes.get("start", "")
    return int(start) if re.fullmatch(r"\d{1,6}", start) else 1
