"""HTML to tokens, as a browser sees tags: one pass over any input, no recursion, every character looked at a few times at most."""

import re
from collections.abc import Iterator
from html import unescape

import msgspec

_NAME = re.compile(r"[a-zA-Z][^\s/>]*+")
_ATTRIBUTE = re.compile(
    r"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"'][^\s>]*+)?))?+""",
)
_TAG_END = re.compile(r"[\s/]*+>")
RAW = frozenset({"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"})
"""What is inside is no markup, up to the end tag."""
_DECODED = frozenset({"title", "textarea"})
_MAX_ATTRIBUTES = 100


class Open(msgspec.Struct, frozen=True):
    name: str
    attributes: dict[str, str]
    """Names in small letters; the first of two counts."""
    empty: bool
    """Written `<name/>`."""


class Close(msgspec.Struct, frozen=True):
    name: str


Token = Open | Close | str


def parse_html(html: str) -> Iterator[Token]:
    """Text comes decoded. What is not closed at the end swallows the rest, as in a browser."""
    position = 0
    while position < len(html):
        mark = html.find("<", position)
        if mark < 0:
            yield unescape(html[position:])
            return
        if mark > position:
            yield unescape(html[position:mark])
        position = mark
        if name := _NAME.match(html, mark + 1):
            tag, position = _parse_tag(html, name)
            yield tag
            if tag.name in RAW:
                text, position = _parse_raw(html, position, tag.name)
                yield unescape(text) if tag.name in _DECODED else text
        elif html.startswith("</", mark) and (name := _NAME.match(html, mark + 2)):
            yield Close(name[0].lower())
            position = _after(html, ">", name.end())
        elif html.startswith("<!--", mark):
            position = _after(html, "-->", mark + 2)
        elif html.startswith(("<!", "<?", "</"), mark):
            position = _after(html, ">", mark)
        else:
            yield "<"
            position = mark + 1


def _parse_tag(html: str, name: re.Match[str]) -> tuple[Open, int]:
    attributes: dict[str, str] = {}
    position = name.end()
    while not (end := _TAG_END.match(html, position)):
        found = _ATTRIBUTE.match(html, position)
        if found is None:
            return Open(name[0].lower(), attributes, empty=False), len(html)
        position = found.end()
        if len(attributes) < _MAX_ATTRIBUTES:
            value = found[2] or found[3] or found[4] or ""
            attributes.setdefault(found[1].lower(), unescape(value))
    return Open(name[0].lower(), attributes, empty="/" in end[0]), end.end()


def _parse_raw(html: str, position: int, name: str) -> tuple[str, int]:
    end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, position)
    return (html[position : end.start()], end.start()) if end else (html[position:], len(html))


def _after(html: str, mark: str, position: int) -> int:
    found = html.find(mark, position)
    return len(html) if found < 0 else found + len(mark)
