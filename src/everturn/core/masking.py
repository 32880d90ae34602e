"""Keys that are known by their shape, hidden from logs, exports and screens; what the model and the journal get keeps every byte. Pure."""

import re
from functools import cache

MASK = "[key]"
_ALONE = r"(?<![A-Za-z0-9_\-])"
"""Each run of such characters is tried once, however many beginnings it holds: no text takes more than linear time."""
_SHAPES = (
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    r"sk-ant-[A-Za-z0-9_\-]{4,}|\bsk-(?:proj|svcacct|admin|or)-[A-Za-z0-9_\-]{16,}",
    _ALONE + r"sk-(?=[A-Za-z_\-]*[0-9])[A-Za-z0-9_\-]{16,}",  # OpenAI and many who do as they do
    r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9]{24,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bgl(?:pat|ptt|dt|rt)-[A-Za-z0-9_\-]{20,}",
    r"\b(?:AKIA|ASIA)(?=[A-Z]{0,15}[0-9])[0-9A-Z]{16}\b",
    r"\bAIza[A-Za-z0-9_\-]{35}|\bGOCSPX-[A-Za-z0-9_\-]{20,}",
    r"\bya29\.[A-Za-z0-9_\-]{20,}",
    r"\bxox[abeoprs]-[A-Za-z0-9\-]{10,}|\bxapp-[A-Za-z0-9\-]{10,}|hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"\bnpm_[A-Za-z0-9]{36}|\bpypi-[A-Za-z0-9_\-]{32,}|\bhf_[A-Za-z0-9]{30,}|\bdop_v1_[a-f0-9]{64}",
    _ALONE + r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}",
    _ALONE + r"eyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{5,}",
)
_KEY = "(?s)" + "|".join(_SHAPES)
_SIGNS = (
    *("PRIVATE KEY", "sk-", "_live_", "_test_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "gl"),
    *("AKIA", "ASIA", "AIza", "GOCSPX", "ya29.", "xox", "xapp-", "slack.com", "npm_", "pypi-", "hf_", "dop_", "SG."),
    "eyJ",
)
"""Where none of these stands, none of the shapes can: most texts are long and hold no key."""
_NAMED = (
    r"(?i)\b(authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:bearer|basic|token)[ \t]{1,4}"
    r"|bearer[ \t]{1,4}"
    r"|x-api-key[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    r"|api[-_]?key[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    r"|aws_secret_access_key[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    r"|accountkey=)([A-Za-z0-9._~+/\-]{16,}={0,2})"
)
_NAMES = ("bearer", "authorization", "api", "aws_secret", "accountkey")
_IN_ADDRESS = r"(?<=://)([^/\s:@]+):([^/\s:@]{3,})(?=@)"
_UNFINISHED = r"(?i)(?:bearer|basic|token|authorization|key)[\"']?[ \t]{0,4}[:=]?[ \t]{0,4}[\"']?\Z"
_END = r"-----END [A-Z0-9 ]{0,40}-----"
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
_MAX_HELD_LENGTH = 8_192
"""A word that is longer than this is shown: nothing that is no key may be kept from the screen for ever."""


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """When it is first needed: these patterns take longer to compile than a start may wait."""
    return re.compile(pattern)


def mask_keys(text: str) -> str:
    if any(sign in text for sign in _SIGNS):
        text = _compile(_KEY).sub(MASK, text)
    lower = text.lower()
    if any(name in lower for name in _NAMES):
        text = _compile(_NAMED).sub(rf"\1{MASK}", text)
    if "://" in text and "@" in text:
        text = _compile(_IN_ADDRESS).sub(rf"\1:{MASK}", text)
    return text


class KeyMask:
    """The same for a text that comes in pieces: a word is given only when it is whole, a private key only when it has ended."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        self._held += text
        cut = self._find_cut(self._held)
        given, self._held = self._held[:cut], self._held[cut:]
        return mask_keys(given)

    def finish(self) -> str:
        given, self._held = self._held, ""
        return mask_keys(given)

    def _find_cut(self, text: str) -> int:
        begun = text.rfind("-----BEGIN ")
        ended = _compile(_END).search(text, begun) if begun >= 0 else None
        if begun >= 0 and ended is None and len(text) - begun < _MAX_HELD_LENGTH:
            return begun
        # Keys are ASCII: whoever writes without blanks, as in Chinese, is not kept waiting.
        cut = max(len(text.rstrip(_VISIBLE)), ended.end() if ended else 0)
        # What stands before a key says that it is one.
        if (before := _compile(_UNFINISHED).search(text, max(cut - 64, 0), cut)) is not None:
            cut = before.start()
        return cut if len(text) - cut < _MAX_HELD_LENGTH else len(text)
