"""What the terminal itself writes when keys are pressed: no `^C` into the middle of our words."""

import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress


@contextmanager
def unechoed_controls() -> Generator[None]:
    """Of all keys only those for signals stay unseen: should we be killed, the shell behind us is used as before."""
    screen = sys.stdout
    if screen is None or not screen.isatty():
        yield
        return
    import termios

    from everturn.cli.person import is_in_front

    terminal = screen.fileno()
    usual: list[int | list[bytes | int]] | None = None
    # A program in the background that touches the terminal is stopped.
    if is_in_front(terminal):
        with suppress(termios.error):
            usual = termios.tcgetattr(terminal)
            quiet = [*usual]
            quiet[3] = usual[3] & ~termios.ECHOCTL  # type: ignore[operator]  # the fourth is a number
            termios.tcsetattr(terminal, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        if usual is not None and is_in_front(terminal):
            with suppress(termios.error):
                termios.tcsetattr(terminal, termios.TCSADRAIN, usual)


def end_echoed_line() -> None:
    """After a Ctrl-C that the terminal has shown: what follows, such as a shell's prompt, begins on a line of its own."""
    with suppress(OSError, ValueError, AttributeError):
        if sys.stderr.isatty():
            sys.stderr.write("\n")
            sys.stderr.flush()
