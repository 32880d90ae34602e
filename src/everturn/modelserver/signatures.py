"""Signatures of thinking blocks, and the memory of what was handed out, so that a changed block is recognised."""

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Any

_SECRET = b"the scripted model signs its thoughts"
_SALT_BYTES = 8
_THINKING = ("thinking", "redacted_thinking")


def sign(model: str, shown: str, thought: str | None = None) -> str:
    """A signature that holds for this text on this model, the same in every run.

    `thought` is what was really thought when the text shown is another (omitted): it makes the signature its own.
    """
    salt = hashlib.sha256((shown if thought is None else thought).encode("utf-8", "surrogatepass")).digest()[
        :_SALT_BYTES
    ]
    return base64.b64encode(salt + _seal(model, shown, salt)).decode()


def is_signed(signature: str, model: str, shown: str) -> bool:
    try:
        raw = base64.b64decode(signature, validate=True)
    except ValueError:
        return False
    return hmac.compare_digest(raw[_SALT_BYTES:], _seal(model, shown, raw[:_SALT_BYTES]))


def _seal(model: str, shown: str, salt: bytes) -> bytes:
    text = f"{model}\0{shown}".encode("utf-8", "surrogatepass")
    return hmac.new(_SECRET, salt + text, hashlib.sha256).digest()


class IssuedThinking:
    """The thinking that a session gave out: by signature, and by the tool call that it led to."""

    def __init__(self) -> None:
        self.signatures: dict[str, tuple[str, str]] = {}
        self.before_call: dict[str, tuple[str, list[Mapping[str, Any]]]] = {}
        self.prefixes: dict[str, set[bytes]] = {}
        """By signature: digests of what stood before the thinking when it was given out (`prefixes.list_prefixes`)."""

    def remember(self, model: str, content: Iterable[Mapping[str, Any]]) -> None:
        """Take note of the blocks of an answer, in their order."""
        thoughts: list[Mapping[str, Any]] = []
        for block in content:
            if block.get("type") in _THINKING:
                thoughts.append(block)
            if block.get("type") == "thinking":
                self.signatures[str(block.get("signature"))] = (model, str(block.get("thinking")))
            if block.get("type") == "tool_use":
                self.before_call[str(block.get("id"))] = (model, list(thoughts))

    def bind(self, prefixes: Iterable[tuple[str, bytes]]) -> None:
        for signature, digest in prefixes:
            self.prefixes.setdefault(signature, set()).add(digest)

    def is_bound_elsewhere(self, signature: str, digest: bytes) -> bool:
        """False for thinking that was given out by somebody else, of which nothing is known."""
        return digest not in self.prefixes.get(signature, {digest})

    def vouches(self, signature: str, model: str, shown: str) -> bool:
        return is_signed(signature, model, shown) or self.signatures.get(signature) == (model, shown)
