"""The values behind `everturn sessions ACTION`: ages, sizes, counts and the one name. Pure."""

import re

from everturn.cli.usage import UsageError
from everturn.cli.words import Words

SEE = "everturn sessions --help"
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*(h|d|w|y)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_SECONDS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}


def parse_age(flag: str, text: str) -> float:
    """Seconds. Raises `UsageError`."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise UsageError(
            f"{flag} must be a number of hours, days, weeks or years, such as 30d, not {text[:40]!r}", see=SEE
        )
    return float(found[1]) * _SECONDS[found[2]]


def parse_size(flag: str, text: str) -> int:
    """Bytes: 1 GB is 10⁹ of them, 1 GiB is 2³⁰. Raises `UsageError`."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{flag} must be a size such as 500MB or 1.5GB, not {text[:40]!r}", see=SEE)
    power = " kmgt".index(found[2].lower() or " ")
    return int(float(found[1]) * (1_024 if found[3] else 1_000) ** power)


def parse_count(flag: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{flag} must be a whole number, not {text[:40]!r}", see=SEE)
    return int(text)


def take_one(words: Words, action: str, form: str) -> str:
    """The only name. Raises `UsageError` that shows the form."""
    if len(words.names) != 1:
        raise UsageError(f"this is how it is written: everturn sessions {action} {form}", see=SEE)
    return words.names[0]
