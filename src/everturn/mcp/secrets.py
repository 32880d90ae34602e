"""Takes the secrets that a server was given out of what it says beside the protocol. Pure."""

from collections.abc import Iterable, Mapping

from everturn.core.masking import MASK, mask_keys
from everturn.core.patterns import compile_late

_SECRET = compile_late(r"(?i)key|token|secret|passw|auth|credential|cookie|session")
_MIN_LENGTH = 6


def find_secrets(named: Mapping[str, str]) -> tuple[str, ...]:
    """Values whose name speaks of a secret, whole and word by word: `Bearer x` is echoed as `x`. The longest first."""
    values = [value for name, value in named.items() if _SECRET.search(name)]
    parts = {part for value in values for part in (value, *value.split())}
    return tuple(sorted((part for part in parts if len(part) >= _MIN_LENGTH), key=len, reverse=True))


def mask_declared(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return mask_keys(text)
