"""Keeps keys out of every text: what is known to be secret, and what looks like a key of the API. Pure."""

import re
from collections.abc import Iterable

MASK = "[key]"
SHORTEST = 4
"""Shorter values are no secrets, and hiding them would tear every text apart."""
RUN = 8
"""A text that starts to spell a secret is hidden from the first so many characters on: servers cut what they echo."""
_LOOKS_LIKE_A_KEY = r"sk-ant-[A-Za-z0-9_\-]*"
_OF_A_KEY = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def mask_secrets(text: str, secrets: Iterable[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = _mask_one(text, secret)
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
