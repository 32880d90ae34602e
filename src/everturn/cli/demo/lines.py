"""Lines for people, as values: words with a meaning, which a terminal colours, a pipe leaves plain and a picture draws."""

import textwrap
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple


class Style(Enum):
    """The value is what a terminal is told (SGR)."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    GOOD = "32"
    BAD = "31"
    TROUBLE = "33"
    """Something went wrong and is being mended."""
    FLOW = "36"
    """The loop says how it goes on."""
    RETRACTED = "2;9"


class Span(NamedTuple):
    text: str
    style: Style = Style.PLAIN


Line = tuple[Span, ...]


def line(*parts: str | Span) -> Line:
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts)


def width_of(spans: Line) -> int:
    return sum(len(span.text) for span in spans)


def wrap(text: str, width: int, style: Style = Style.PLAIN, *, first: str | Span = "", rest: str = "") -> list[Line]:
    """Paragraphs stay apart; `first` and `rest` stand before the lines."""
    wrapped: list[Line] = []
    for paragraph in text.split("\n"):
        for piece in textwrap.wrap(paragraph, max(width - len(rest), 20)) or [""]:
            wrapped.append(line(rest if wrapped else first, Span(piece, style)))
    return wrapped


def cut(spans: Line, width: int) -> Line:
    """At most `width` characters; what is missing shows as an ellipsis."""
    if width_of(spans) <= width:
        return spans
    kept: list[Span] = []
    left = max(width - 1, 0)
    for span in spans:
        kept.append(Span(span.text[:left], span.style))
        left -= len(kept[-1].text)
    return (*kept, Span("…"))


def restyle(spans: Line, style: Style) -> Line:
    """White space at the margin stays as it is, so that nothing is struck but words."""
    return tuple(Span(span.text, style) if span.text.strip() else span for span in spans)


def render_ansi(spans: Line) -> str:
    return "".join(f"\x1b[{span.style.value}m{span.text}\x1b[0m" if span.style.value else span.text for span in spans)


def render_plain(spans: Line) -> str:
    """What was retracted stands between tildes, as in Markdown."""
    return "".join(f"~~{span.text}~~" if span.style is Style.RETRACTED else span.text for span in spans).rstrip()


def joined(parts: Iterable[str]) -> str:
    return " · ".join(parts)
