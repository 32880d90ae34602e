"""The terminal and the pipes of the program: its own words on standard output and standard error, and what keys write there."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from everturn.frontends.ansi import Style

BROKEN_PIPE = 141
"""What a shell shows for a program that SIGPIPE ended."""

MAX_WIDTH = 100
"""A paragraph is read badly in longer lines."""
WIDTH_OF_A_PIPE = 120


class OutputLostError(Exception):
    """A full disk, say: standard output takes nothing more."""


def write(text: str) -> None:
    """Raises `UsageError` where the program was started without a standard output, and `OutputLostError`."""
    if sys.stdout is None:
        from everturn.cli.errors import UsageError

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
    width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
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


def measure_output() -> "tuple[Style, int]":
    """How standard output is painted, and how wide it is."""
    import shutil

    from everturn.frontends.ansi import Style, choose_style

    if not sys.stdout.isatty():
        return Style(colour=False, control=False), WIDTH_OF_A_PIPE
    return choose_style(os.environ), shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns


def render_json(value: object, *, indent: int = 0) -> str:
    """One line, or several where it is indented; without its end. Strict UTF-8, whatever bytes names of files have."""
    import msgspec

    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_spell(msgspec.to_builtins(value)))
    return (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()


def _spell(value: object) -> object:
    from everturn.core.spelled_paths import spell_path

    match value:
        case str():
            return spell_path(value)
        case dict():
            return {_spell(key): _spell(item) for key, item in value.items()}
        case list() | tuple():
            return [_spell(item) for item in value]
        case _:
            return value


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
