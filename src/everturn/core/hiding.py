"""Our own credentials in what the model is to read: a mark takes their place before anything is cut or kept. Pure.

Only what is a credential beyond doubt is hidden: known to us, long, random, and a value of its own where it stands. A key
that is also a word would otherwise be torn out of the user's texts, and a Write would put the mark into their files.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

import msgspec

from everturn.core.messages import Message, decode_block

MARK = "[EVERTURN_HIDDEN_CREDENTIAL]"
MIN_LENGTH = 20
MIN_DISTINCT = 10
"""Different characters."""
MIN_CHANGES = 6
"""Changes between capitals, small letters and digits inside words: random text has one in every two or three characters, words few."""
MIN_DIGIT_CHANGES = 3
"""Those of them between letters and digits: joinedWordsInCapitals have none."""
_WORD = "A-Za-z0-9_-"
"""A neighbour of this kind makes it a part of something longer. All else ends a value: quotes, brackets, blanks, markup."""
_MAX_COLOUR_LENGTH = 16
"""`38;2;255;255;255`: the parameters of a terminal's colour."""
_ENDS_IN_A_WORD = (
    r"\\[nrt]",  # a line end in the text of JSON
    r"\\x[0-9A-Fa-f]{2}",
    r"\\u[0-9A-Fa-f]{4}",
    r"%[0-9A-Fa-f]{2}",  # in a URL
    r":-",  # the default of a shell's variable
    *(rf"\[[0-9;]{{{length}}}[mK]" for length in range(_MAX_COLOUR_LENGTH + 1)),
)
"""What ends a value although its last character could belong to a word. Each of fixed width, as what is looked back at must be."""
_MAX_LOOKED_BACK = _MAX_COLOUR_LENGTH + 2
_KINDS = {
    ord(each): kind
    for kind, letters in (("A", ascii_uppercase), ("a", ascii_lowercase), ("0", digits))
    for each in letters
}

_KNOWN_KINDS = frozenset("Aa0")


def is_unmistakable(secret: str) -> bool:
    """Long and random: wherever it stands, it is the credential and nothing else."""
    kinds = secret.translate(_KINDS)
    changes = [pair for pair in pairwise(kinds) if pair[0] != pair[1] and _KNOWN_KINDS.issuperset(pair)]
    return (
        len(secret) >= MIN_LENGTH
        and len(set(secret)) >= MIN_DISTINCT
        and len(changes) >= MIN_CHANGES
        and sum("0" in pair for pair in changes) >= MIN_DIGIT_CHANGES
    )


@lru_cache(maxsize=64)
def choose_unmistakable(secrets: frozenset[str]) -> tuple[str, ...]:
    """The longest first: one may begin like another."""
    return tuple(sorted(filter(is_unmistakable, secrets), key=lambda secret: (-len(secret), secret)))


class Hiding:
    """Hides credentials, and counts how often it did. One for each call of a tool."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """What is not unmistakable among the secrets is left alone."""
        self.secrets = choose_unmistakable(frozenset(secrets))
        self.count = 0

    @property
    def slack(self) -> int:
        """Characters to keep beyond a cut, so that no credential is cut before it is hidden."""
        return len(self.secrets[0]) + 1 if self.secrets else 0

    def hide(self, text: str) -> str:
        for secret in self.secrets:
            if secret in text:
                text, found = _compile(secret).subn(MARK, text)
                self.count += found
        return text

    def hide_in_message(self, message: Message) -> Message:
        """Every text in its blocks. A message without a credential comes back itself."""
        if not self.secrets:
            return message
        # As they stand inside JSON.
        written = [msgspec.json.encode(secret)[1:-1] for secret in self.secrets]
        before, blocks = self.count, list(message.blocks)
        for at, block in enumerate(message.blocks):
            if any(each in block.raw for each in written):
                found = self.count
                value = _convert(msgspec.json.decode(block.raw), self.hide)
                if self.count > found:
                    blocks[at] = decode_block(msgspec.json.encode(value))
        return message if self.count == before else msgspec.structs.replace(message, blocks=tuple(blocks))


class HidingStream:
    """The same for bytes that come in pieces: what may be the beginning of a credential waits for the rest."""

    def __init__(self, hiding: Hiding) -> None:
        self._hiding = hiding
        self._held = b""
        self._before = b""
        """The end of what was given, as much as is looked back at."""

    def feed(self, data: bytes) -> bytes:
        if not self._hiding.secrets:
            return data
        whole = self._held + data
        cut = self._find_cut(whole)
        self._held = whole[cut:]
        return self._give(whole[:cut], self._held[:1])

    def finish(self) -> bytes:
        given, self._held = self._give(self._held), b""
        return given

    def _find_cut(self, data: bytes) -> int:
        """Where a credential begins whose end, or the character behind it, has not come yet."""
        cut = len(data)
        for secret in self._hiding.secrets:
            sought = secret.encode()
            at = data.find(sought[:1], max(0, len(data) - len(sought)))
            while 0 <= at < cut:
                if sought.startswith(data[at:]):
                    cut = at
                    break
                at = data.find(sought[:1], at + 1)
        return cut

    def _give(self, data: bytes, behind: bytes = b"") -> bytes:
        """`behind`: the first byte that waits. Where none does, no piece but the last ends with a credential."""
        if not data:
            return data
        before, self._before = self._before.decode(errors="replace"), (self._before + data)[-_MAX_LOOKED_BACK:]
        if not any(secret.encode() in data for secret in self._hiding.secrets):
            return data
        # Bytes that are no UTF-8 come back as they were.
        hidden = self._hiding.hide(before + (data + behind).decode(errors="surrogateescape"))
        return hidden[len(before) : len(hidden) - len(behind)].encode(errors="surrogateescape")


@lru_cache(maxsize=64)
def _compile(secret: str) -> re.Pattern[str]:
    before = "|".join([f"(?<![{_WORD}])", *(f"(?<={end})" for end in _ENDS_IN_A_WORD)])
    return re.compile(f"(?:{before}){re.escape(secret)}(?![{_WORD}])")


def _convert(value: Any, convert: Callable[[str], str]) -> Any:
    match value:
        case str():
            return convert(value)
        case list():
            return [_convert(item, convert) for item in value]
        case dict():
            return {key: _convert(item, convert) for key, item in value.items()}
        case _:
            return value
