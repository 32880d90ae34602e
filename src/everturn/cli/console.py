"""The program's own words: to standard output, to standard error, and into nothing when nobody reads them."""

import os
import sys
from contextlib import suppress

BROKEN_PIPE = 141
"""What a shell shows for a program that SIGPIPE ended."""

WIDEST = 100
"""A paragraph is read badly in longer lines."""


class OutputLostError(Exception):
    """A full disk, say: standard output takes nothing more."""


def write(text: str) -> None:
    """Raises `UsageError` where the program was started without a standard output, and `OutputLostError`."""
    if sys.stdout is None:
        from everturn.cli.usage import UsageError

        raise UsageError("standard output is closed, so there is nowhere to put the answer")
    if sys.stdout.isatty():
        from everturn.frontends.harmless import escape_unsafe

        # Each command sees to it that nothing foreign is left in its text; this is for what somebody forgot.
        text = escape_unsafe(text)
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _lose_output(error) from None


def complain(text: str) -> None:
    """On standard error, after the program's name. A closed one hears nothing."""
    from everturn.frontends.harmless import make_harmless

    with suppress(OSError, ValueError, AttributeError):
        try:
            sys.stderr.write(f"everturn: {make_harmless(text)}\n")
            sys.stderr.flush()
        except OSError:
            silence(sys.stderr.fileno())


def complain_at_length(text: str) -> None:
    """A paragraph, broken between words as wide as the terminal is."""
    import shutil
    import textwrap

    room = " " * len("everturn: ")
    width = min(shutil.get_terminal_size().columns, WIDEST)
    complain(textwrap.fill(text, width, initial_indent=room, break_on_hyphens=False, break_long_words=False).lstrip())


def flush() -> bool:
    """Whether everything that was written has a reader. Raises `OutputLostError`."""
    try:
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        silence_output()
        return False
    except OSError as error:
        raise _lose_output(error) from None
    except AttributeError:
        # Started without a standard output at all.
        return True
    return True


def silence_output() -> None:
    with suppress(OSError, ValueError, AttributeError):
        silence(sys.stdout.fileno())


def silence(descriptor: int) -> None:
    """Nobody takes it: what is still buffered must not fail again when the interpreter ends, with a code of its own."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _lose_output(error: OSError) -> OutputLostError:
    silence_output()
    return OutputLostError(f"the output cannot be written: {error.strerror or error}")
