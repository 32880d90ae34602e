"""Makes foreign text safe to show in an error: short, without control characters and markup. Pure."""

import re
from collections.abc import Callable

MESSAGE_LIMIT = 1_000
PAGE_LIMIT = 160
_READ = 16_384
"""Only the beginning of a page is looked at."""
_CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+"
_TITLE = r"(?i)<title\b[^<>]*>([^<]*)"
_CODE = r"(?is)<(script|style)\b.*?</\1[^<>]*>"
_TAG = r"<[^<>]*>"


def clean_text(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """One line without control characters: what a server says must not move a cursor."""
    line = " ".join(re.sub(_CONTROL, " ", text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def render_page(body: bytes, mask: Callable[[str], str]) -> str:
    """What a page or plain text says, in a few words: its title, or how it begins."""
    text = body[:_READ].decode("utf-8", "replace")
    if "<" in text:
        title = re.search(_TITLE, text)
        text = title[1] if title and title[1].strip() else re.sub(_TAG, " ", re.sub(_CODE, " ", text))
        from html import unescape  # its tables are slow to import, and pages are rare

        text = unescape(text)
    elif text.lstrip()[:1] in {"{", "["}:
        return ""  # broken JSON says nothing to anybody
    return clean_text(mask(text), PAGE_LIMIT)
