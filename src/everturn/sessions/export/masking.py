"""Keys that are known by their shape are hidden from what leaves the machine; the session itself keeps every byte. Pure."""

import re
from collections.abc import Callable
from typing import Any

MASK = "[key]"
_SHAPES = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\bsk-[A-Za-z0-9_\-]{16,}",  # Anthropic, OpenAI and many who do as they do
    r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_\-]{20,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bAIza[A-Za-z0-9_\-]{35}",
    r"\bya29\.[A-Za-z0-9_\-]{20,}",
    r"\bxox[abeoprs]-[A-Za-z0-9\-]{10,}|\bxapp-[A-Za-z0-9\-]{10,}",
    r"\bnpm_[A-Za-z0-9]{36}|\bpypi-[A-Za-z0-9_\-]{32,}|\bhf_[A-Za-z0-9]{30,}|\bSG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}",
    r"\beyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{5,}",
)
_KEY = re.compile("|".join(_SHAPES), re.DOTALL)
_SIGNS = (
    *("PRIVATE KEY", "sk-", "_live_", "_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    *("AKIA", "ASIA", "AIza", "ya29.", "xox", "xapp-", "npm_", "pypi-", "hf_", "SG.", "eyJ"),
)
"""Where none of these stands, none of the shapes can: most texts are long and hold no key."""
_BEARER = re.compile(r"(?i)\b(bearer|x-api-key:|api[-_]?key[\"']?\s*[:=]\s*[\"']?)(\s*)([A-Za-z0-9._~+/\-]{16,}=*)")
_IN_ADDRESS = re.compile(r"(?<=://)([^/\s:@]+):([^/\s:@]{3,})(?=@)")

Mask = Callable[[str], str]


def mask_keys(text: str) -> str:
    if any(sign in text for sign in _SIGNS):
        text = _KEY.sub(MASK, text)
    lower = text.lower()
    if "bearer" in lower or "api" in lower:
        text = _BEARER.sub(lambda found: f"{found[1]}{found[2]}{MASK}", text)
    if "://" in text and "@" in text:
        text = _IN_ADDRESS.sub(lambda found: f"{found[1]}:{MASK}", text)
    return text


def mask_values(value: Any, mask: Mask) -> Any:
    """Every text in a piece of JSON; media is no text."""
    match value:
        case str():
            return mask(value)
        case list():
            return [mask_values(item, mask) for item in value]
        case {"type": "base64", "data": data}:
            return {**{key: mask_values(item, mask) for key, item in value.items() if key != "data"}, "data": data}
        case dict():
            return {mask(key): mask_values(item, mask) for key, item in value.items()}
        case _:
            return value
