"""The program, as `everturn` and as `python -m everturn`. Until it listens itself, and when it is done, Ctrl-C ends it without a word."""

import os
import sys
from _signal import SIGINT, default_int_handler, getsignal, signal  # type: ignore[import-not-found]

# `signal` would cost the version more than all the rest; what it wraps is loaded already.
_INTERRUPTED = 130
_ERRORS = 2
"""Standard error."""


def leave(_number: int = 0, _frame: object = None) -> None:
    """In the midst of an import an exception would be a traceback, whoever catches it."""
    if os.isatty(_ERRORS):
        # Behind the `^C` that the terminal has shown.
        os.write(_ERRORS, b"\n")
    os._exit(_INTERRUPTED)


def main() -> int:
    """Who starts it may have switched Ctrl-C off, as a shell does for what runs in the background: that stays."""
    listens = getsignal(SIGINT) is default_int_handler
    if listens:
        signal(SIGINT, leave)
    from everturn.cli.main import main as run

    try:
        return run(listen=lambda: listens and signal(SIGINT, default_int_handler))
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        if listens:
            signal(SIGINT, leave)


if __name__ == "__main__":
    sys.exit(main())
