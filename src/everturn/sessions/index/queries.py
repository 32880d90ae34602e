"""From the words of a search to a query of the index, and from a hit to the line that is shown."""

import re

_WORD = re.compile(r'"([^"\0]+)"|([^\s\0]+)')
_UNSPACED = re.compile(r"[\u0e00-\u10ff\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\U00020000-\U0003ffff]")
"""Writing without blanks between words: FTS5 would take a whole sentence for one word."""
_SPECIAL = re.compile(r"[%_\\]")
BEFORE, AFTER = 50, 110
"""Characters that a snippet shows around the first word that was found."""


def parse_words(query: str) -> list[str]:
    """Words, and phrases in double quotes; all must be there."""
    found = (phrase or word for phrase, word in _WORD.findall(query))
    return [word for word in (" ".join(text.split()) for text in found) if any(map(str.isalnum, word))]


def is_spaced(words: list[str]) -> bool:
    return not any(_UNSPACED.search(word) for word in words)


def render_expression(words: list[str]) -> str:
    """For FTS5: every word as the beginning of one, nothing of it as an operator."""
    return " AND ".join(f'"{word.replace(chr(34), " ")}"*' for word in words)


def render_patterns(words: list[str]) -> list[str]:
    """For LIKE."""
    return [f"%{_SPECIAL.sub(_escape, word)}%" for word in words]


def render_snippet(text: str, words: list[str]) -> str:
    """On one line, around the first of the words that is found as it is written, else from the beginning."""
    lower = text.lower()
    found = [at for word in words if (at := lower.find(word.lower())) >= 0]
    at = min(found, default=0)
    begin, end = max(at - BEFORE, 0), at + AFTER
    piece = " ".join(text[begin:end].split())
    return f"{'…' if begin else ''}{piece}{'…' if end < len(text) else ''}"


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"
