"""Keeps keys out of every text: what is known to be secret, and what looks like a key of the API. Pure."""

import re
from collections.abc import Iterable

from everturn.core.hiding import is_unmistakable

MASK = "[key]"
MIN_LENGTH = 4
"""Shorter values are no secrets."""
RUN = 8
"""A text that starts to spell a secret is hidden from the first so many characters on: servers cut what they echo."""
_LOOKS_LIKE_A_KEY = r"sk-ant-[A-Za-z0-9_\-]*"
_OF_A_KEY = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


_VALUE = r"(\A\s*|[=:\"'\\]\s*|\b(?:Bearer|Basic|Token)\s+)%s(?=\s*\Z|[\"'&,;}\])\\]|\s)"
"""A whole value: all of a text, between quotes, or behind a name."""
_WORD = r"()(?<![\w-])%s(?![\w-])"


def mask_secrets(text: str, secrets: Iterable[str]) -> str:
    """For logs and exports. A secret that is short or a word is masked only where it is a whole value: elsewhere it is that word."""
    return _mask(text, secrets, _VALUE)


def mask_echoes(text: str, secrets: Iterable[str]) -> str:
    """For what a server says about a request. A secret that is short or a word is masked as a whole word."""
    return _mask(text, secrets, _WORD)


def _mask(text: str, secrets: Iterable[str], weak: str) -> str:
    """`weak`: how a secret stands that could be part of something else."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) < MIN_LENGTH or secret[:RUN] not in text:
            continue
        if is_unmistakable(secret):
            text = _mask_one(text, secret)
        elif secret in text:
            text = re.sub(weak % re.escape(secret), rf"\1{MASK}", text)
    return re.sub(_LOOKS_LIKE_A_KEY, MASK, text)


def _mask_one(text: str, secret: str) -> str:
    head = secret[:RUN]
    start = text.find(head)
    if start < 0:
        return text
    parts: list[str] = []
    done = 0
    while start >= 0:
        end = start + len(head)
        while end < len(text) and end - start < len(secret) and text[end] == secret[end - start]:
            end += 1
        if end - start < len(secret):
            # Another key of the same maker begins alike: the rest of it is as secret.
            while end < len(text) and text[end] in _OF_A_KEY:
                end += 1
        parts += (text[done:start], MASK)
        done = end
        start = text.find(head, end)
    return "".join((*parts, text[done:]))
