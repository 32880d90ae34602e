"""The door of the program: finds the command, gives back its exit code, and turns every failure into a line."""

import gc
import os
import sys

from everturn.workspace.load_paths import leave_out_modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = (["--version"], ["-v"])
INTERRUPTED = 130
"""`core.state.Exit.INTERRUPTED`, which is not loaded yet."""


def main(argv: list[str] | None = None, *, listen: "Callable[[], object]" = bool) -> int:
    """Never raises. Nothing is imported before it is needed: asking for the version costs next to nothing.

    `listen` is called before the command begins: from then on a Ctrl-C comes as `KeyboardInterrupt`.
    """
    leave_out_modules((os.curdir,))
    words = sys.argv[1:] if argv is None else list(argv)
    if words in VERSION and sys.stdout is not None:
        return print_version()
    # Nothing made while starting is garbage: the collector would only walk over it again and again.
    gc.disable()
    try:
        load_msgspec()
        from everturn.cli.dispatch import run_guarded

        listen()
        return run_guarded(words)
    except KeyboardInterrupt:
        from everturn.cli.console import end_echoed_line

        end_echoed_line()
        return INTERRUPTED
    finally:
        gc.enable()


def load_msgspec() -> None:
    """Without `typing_extensions`: it would take names from there that `typing` has, too, and loading it is two hundredths of the start."""
    hidden = "typing_extensions"
    if hidden in sys.modules:
        return
    sys.modules[hidden] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401 (to be found when others import it)
    finally:
        del sys.modules[hidden]


def print_version() -> int:
    from everturn import __version__
    from everturn.cli.console import BROKEN_PIPE, OutputLostError, complain, flush, silence_output, write

    try:
        write(f"everturn {__version__}\n")
        return 0 if flush() else BROKEN_PIPE
    except BrokenPipeError:
        silence_output()
        return BROKEN_PIPE
    except OutputLostError as error:
        complain(str(error))
        return 1
