"""`everturn demo`: arguments in, an exit code out, and nothing left behind."""

import argparse
import contextlib
import difflib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from types import FrameType

from everturn.cli.console import complain, silence_output
from everturn.cli.demo.lines import line
from everturn.cli.demo.screen import open_screen
from everturn.cli.usage import UsageError
from everturn.core.state import Exit

_DESCRIPTION = """\
Watch the loop repair a small repository in a temporary folder.

The loop, the HTTP requests, the tools and the tests are real; only the model is scripted. No key and no network are
needed. On its way the loop meets an overload, a broken connection and an answer that is cut off, and recovers.
"""
_EPILOG = """\
exit codes:
  0    the tests of the repository pass
  1    they do not, or the demo could not run
  2    wrong arguments
  130  interrupted; 143 when ended by SIGTERM
"""


class Arguments(argparse.Namespace):
    keep: bool
    fast: bool


def run_demo(argv: Sequence[str]) -> int:
    """`argv`: what follows `everturn demo`. Raises `UsageError`, and BrokenPipeError when nobody reads any more."""
    try:
        arguments = parse_arguments(argv)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else Exit.USAGE
    try:
        with stop_signals() as stopped:
            return _run(arguments, stopped)
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"the demo could not run: {error.strerror or error}")
        silence_output()
        return Exit.ERROR


def _run(arguments: Arguments, stopped: list[int]) -> int:
    # Imported here: --help and a wrong argument need no engine.
    from everturn.cli.demo.show import run_show

    if sys.stdout is None:
        raise OSError("there is no standard output to show it on")
    screen = open_screen(sys.stdout, os.environ)
    try:
        with demo_folder(keep=arguments.keep) as folder:
            tested = run_show(folder, screen, fast=arguments.fast)
            if arguments.keep:
                screen.keep(line(f"Kept: {folder} (the repository in renewals, the session's journal in home)"))
    except KeyboardInterrupt:
        left = "The folder is kept." if arguments.keep else "Nothing is left behind."
        screen.keep((), line(f"Interrupted. {left}"))
        return Exit.TERMINATED if stopped else Exit.INTERRUPTED
    return Exit.OK if tested.passed else Exit.ERROR


def parse_arguments(argv: Sequence[str]) -> Arguments:
    """Raises `UsageError`, and SystemExit as argparse does."""
    parser = argparse.ArgumentParser(
        prog="everturn demo",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--keep", action="store_true", help="keep the repository and the journal, and say where")
    parser.add_argument("--fast", action="store_true", help="without the pauses that make it readable")
    arguments, unknown = parser.parse_known_args(argv, Arguments())
    if unknown:
        near = difflib.get_close_matches(unknown[0], ["--keep", "--fast", "--help"], 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"demo does not know {unknown[0]}{hint}", see="everturn demo --help")
    return arguments


@contextlib.contextmanager
def demo_folder(*, keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="everturn-demo-")).resolve()
    try:
        yield folder
    finally:
        if not keep:
            rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def stop_signals() -> Iterator[list[int]]:
    """SIGTERM and SIGHUP end the demo the way Ctrl-C does, so that it can tidy up; the list says which one came."""
    came: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        came.append(number)
        signal.raise_signal(signal.SIGINT)

    # A script ignores SIGINT for what it starts in the background, and the way to tidy up with it.
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: stop, signal.SIGHUP: stop}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
