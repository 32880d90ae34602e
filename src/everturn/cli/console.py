"""The program's own words: to standard output, to standard error, and into nothing when nobody reads them."""

import os
import sys
from contextlib import suppress

BROKEN_PIPE = 141
"""What a shell shows for a program that SIGPIPE ended."""


def write(text: str) -> None:
    sys.stdout.write(text)


def complain(text: str) -> None:
    """On standard error, after the program's name. A closed one hears nothing."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"everturn: {text}\n")
        sys.stderr.flush()


def flush() -> bool:
    """Whether everything that was written has a reader."""
    try:
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        silence_output()
        return False
    except AttributeError:
        # Started without a standard output at all.
        return True
    return True


def silence_output() -> None:
    """The reader is gone: what is still buffered must not fail again when the interpreter ends."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
