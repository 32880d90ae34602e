"""Spellings that some file system takes for the same name: capital and small letters, composed and decomposed. Pure."""

from unicodedata import normalize

_UNSEEN = dict.fromkeys(
    (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x206A, 0x2070), 0xAD, 0xFEFF)
)
"""Characters without a look of their own; file systems of Apple once passed over most of them."""


def fold(name: str) -> str:
    """Another name folds to the same text only where a file system could confuse the two."""
    return name.lower() if name.isascii() else normalize("NFC", normalize("NFC", name).casefold())


def fold_hard(name: str) -> str:
    """For names that must never be reached by a trick: what is unseen goes, and what Windows cuts off at the end."""
    if not name.isascii():
        name = normalize("NFKC", name.translate(_UNSEEN)).casefold().translate(_UNSEEN)
    return name.partition(":")[0].rstrip(". ").lower() or name
