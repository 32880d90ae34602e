"""When a goal's command is stuck: it printed the same output again, apart from times, addresses and temporary paths. Pure."""

import re

# As in `core.prefix`: without OpenSSL.
from _blake2 import blake2b
from collections.abc import Sequence

from everturn.core.patterns import compile_late

STUCK = 3
"""Failures in a row with the same output."""
_DIGEST_BYTES = 12
_FOLDER = "{folder}"
_TEMPORARY = compile_late(r"""(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s"'`:;,()<>\[\]{}|]+""")
_ADDRESS = compile_late(r"\b0x[0-9a-fA-F]{4,}\b")
_TIME = compile_late(
    r"""(?x)
      \b\d{4}-\d\d-\d\d(?:[T\ _]\d\d[:.]?\d\d(?:[:.]?\d\d)?(?:[.,]\d+)?)?(?:Z|\ ?[+-]\d\d:?\d\d)?\b  # 2026-11-18T09:30:00.1Z
    | \b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b                                                            # 09:30:00.123
    | \b1[5-9]\d{8}(?:\.\d{3,}|\d{3}\b)                                  # 1795103077.914, 1795103077914: seconds, milliseconds since 1970
    """
)
_DURATION = compile_late(
    r"""(?xi)
      \b\d+h\ ?\d+m(?:in)?\b(?:\ ?\d+(?:\.\d+)?s\b)? | \b\d+m(?:in)?\ ?\d+(?:\.\d+)?s\b    # 1h 2m, 1m2.5s
    | \b\d+(?:[.,]\d+)?\ ?(?:ns|us|µs|μs|ms|s|secs?|seconds?|mins?|minutes?|hours?|milliseconds?|microseconds?)\b
    """
)


_CUT = compile_late(r"\n\n\[… [\d,]+ of [\d,]+ (?:characters|bytes) left out …\]\n\n")
"""Stands in the middle of an output that is too long to be compared whole."""


def digest_output(text: str, *, folder: str, ended: str) -> str:
    """The same for two runs that differ in times, durations, addresses and temporary paths alone. Counts always matter.

    `folder`: the working folder, which is no temporary path wherever it lies. `ended`: how the command came to its end.
    """
    plain = _keep_ends(text)
    plain = plain.replace(folder, _FOLDER) if folder else plain
    for pattern, mark in (
        (_TEMPORARY, "{temporary}"),
        (_ADDRESS, "{address}"),
        (_TIME, "{time}"),
        (_DURATION, "{duration}"),
    ):
        plain = pattern.sub(mark, plain)
    # A line of dashes around a duration is as long as that leaves it: `==== 1 failed in 0.12s ====`.
    plain = re.sub(r"([=\-_*#])\1{3,}", r"\1", plain)
    return blake2b(f"{ended}\n{plain}".encode(errors="replace"), digest_size=_DIGEST_BYTES).hexdigest()


def _keep_ends(text: str) -> str:
    """Where an output is cut depends on how long its durations are: only so many whole lines count as are there in any case."""
    head, *others = _CUT.split(text)
    if not others:
        return text
    first, last = head.split("\n")[:-1], others[-1].split("\n")[1:]
    return "\n".join([*first[: _round_down(len(first))], *last[len(last) - _round_down(len(last)) :]])


def _round_down(number: int) -> int:
    """To a power of two, which a few lines more or less seldom change."""
    return 1 << number.bit_length() - 1 if number else 0


def is_stuck(digests: Sequence[str]) -> bool:
    """Of the failures of one query, in order."""
    last = digests[-STUCK:]
    return len(last) == STUCK and len(set(last)) == 1
