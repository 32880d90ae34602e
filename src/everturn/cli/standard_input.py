"""What is piped into the program: read to its end, bounded, and added to the prompt."""

import os
import select
import sys

from everturn.cli.arguments import clean_text
from everturn.cli.console import complain
from everturn.cli.errors import HELP, UsageError

MAX_BYTES = 10_000_000
MAX_WAIT_S = 3.0
STANDARD_INPUT = "-"
"""In place of a prompt, as with other programs."""
_PIECE = 1 << 16


def compose_prompt(words: tuple[str, ...], *, may_go_on: bool = False) -> str | None:
    """The prompt of the command line, then what was piped in. Where there is neither: None if a session may go on.

    Raises `UsageError`.
    """
    # What stands before the first word stays: a blank before a slash makes a prompt of it, and code is indented.
    asked = " ".join(clean_text(word) for word in words if word != STANDARD_INPUT).rstrip()
    is_named = STANDARD_INPUT in words
    piped = load_piped(is_addition=bool(asked), is_named=is_named).rstrip()
    if is_named and not piped:
        raise UsageError("standard input is empty (- means standard input)", see=HELP)
    if not asked and not piped and may_go_on:
        return None
    if not asked and not piped:
        raise UsageError('there is no prompt: everturn -p "prompt", or pipe it in', see=HELP)
    return "\n\n".join(part for part in (asked, piped) if part)


def load_piped(*, is_addition: bool, is_named: bool) -> str:
    """Nothing when standard input is closed, or a terminal, unless the person has named it: then they type until Ctrl-D."""
    try:
        descriptor = sys.stdin.fileno()
        if os.isatty(descriptor) and not is_named:
            return ""
        if is_addition and not os.isatty(descriptor):
            _say_when_waiting(descriptor)
        content = _read_bounded(descriptor)
    except (OSError, ValueError, AttributeError):
        return ""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        complain("standard input is not all UTF-8; what is not was replaced")
        return content.decode("utf-8-sig", "replace")


def _say_when_waiting(descriptor: int) -> None:
    """A caller that forgot to close our standard input would wonder why nothing happens."""
    ready, _, _ = select.select([descriptor], [], [], MAX_WAIT_S)
    if not ready:
        complain("waiting for standard input to end; if there is none, add < /dev/null")


def _read_bounded(descriptor: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(descriptor, _PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BYTES:
            limit = MAX_BYTES // 1_000_000
            raise UsageError(f"standard input is larger than {limit} MB; name a file in the prompt instead")
    return b"".join(pieces)
