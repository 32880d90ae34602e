"""Turns a response into text: finds its kind and encoding, and makes Markdown of HTML."""

import codecs
import json
import re

from everturn.core.errors import ToolFault
from everturn.tools.web.get import HttpAnswer

_SNIFFED = 2_048
_DECLARED = re.compile(
    rb"""<(?:meta[^>]{0,200}?charset\s*=\s*["']?|\?xml[^>]{0,100}?encoding\s*=\s*["'])([\w.:-]{1,40})""", re.IGNORECASE
)
_ENCODINGS = re.compile(
    r"ascii|utf[-_]?(8|16|32).*|iso8859.*|latin.*|cp\d+|mac_.*|koi8.*|gb.*|big5.*|shift_?jis.*|euc.*|johab|tis.*|hz"
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = (
    r"text/.*|application/(.*\+)?(json|xml|yaml|javascript|ecmascript|toml|x-sh|x-yaml|x-ndjson|ld\+json|sql|graphql)"
)


def render_page(answer: HttpAnswer, url: str) -> str:
    """Slow for large pages: run it off the loop. Raises `ToolFault` for what is not text."""
    declared = answer.headers.get("content-type", "")
    kind = declared.partition(";")[0].strip().lower() or _sniff(answer.body)
    if kind in {"application/octet-stream", "binary/octet-stream"}:
        kind = _sniff(answer.body)
    if kind not in _HTML and not re.fullmatch(_TEXT, kind):
        raise ToolFault(_refusal(kind, answer, url))
    text = decode_body(answer.body, declared, complete=answer.complete)
    if kind in _HTML:
        from everturn.tools.web_fetch.html_to_markdown import render_markdown

        return render_markdown(text, url)
    return _readable_json(text) if kind.endswith("json") else text


def decode_body(body: bytes, content_type: str, *, complete: bool) -> str:
    """A byte order mark counts most, then the header, then the page itself, then UTF-8 where it fits."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    header = re.search(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", content_type, re.IGNORECASE)
    named = _DECLARED.search(body[:_SNIFFED])
    for name in (header and header[1], named and named[1].decode("latin-1")):
        if name and (known := _known(name)):
            return body.decode(known, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        # Cut at the limit, the last character may be half; anything else is an old page.
        cut = not complete and error.start > len(body) - 4
        return body.decode("utf-8" if cut else "cp1252", "replace")


def _known(name: str) -> str | None:
    """Only codecs of text: others would unpack, or change, what they are given."""
    try:
        encoding = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    # What calls itself Latin-1 on the web is the larger set of Windows.
    encoding = "cp1252" if encoding in {"iso8859-1", "ascii"} else encoding
    return encoding if _ENCODINGS.fullmatch(encoding) else None


def _sniff(body: bytes) -> str:
    start = body[:_SNIFFED]
    if not any(start.startswith(mark) for mark, _ in _MARKS) and b"\0" in start:
        return "application/octet-stream"
    if start.startswith((b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\x1f\x8b")):
        return "application/octet-stream"
    return "text/html" if re.search(rb"<(?:!doctype html|html|head|body)\b", start, re.IGNORECASE) else "text/plain"


def _refusal(kind: str, answer: HttpAnswer, url: str) -> str:
    size = f"{len(answer.body):,} bytes{'' if answer.complete else ' and more'}"
    hint = "download it with Bash and open it with Read" if kind == "application/pdf" else "download it with Bash"
    return f"{url} is not text but {kind[:80]} ({size}). If it is needed, {hint}."


def _readable_json(text: str) -> str:
    """Indented where it is one long line; as it came where it is not JSON."""
    if "\n" in text.strip():
        return text
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
