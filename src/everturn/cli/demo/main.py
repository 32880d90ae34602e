"""`everturn demo`: arguments in, an exit code out, and nothing left behind."""

import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from types import FrameType

from everturn.cli.console import complain, silence_output
from everturn.cli.interactive.main import find_lacking
from everturn.cli.syntax import Arguments
from everturn.core.state import Exit


def run_demo(asked: Arguments) -> int:
    """Raises BrokenPipeError when nobody reads any more."""
    if "--interactive" in asked and (lacking := find_lacking()):
        complain(f"everturn demo --interactive needs {lacking}; everturn demo does not")
        return Exit.USAGE
    try:
        with stop_signals() as stopped:
            return _run_tour(asked) if "--interactive" in asked else _run(asked, stopped)
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"the demo could not run: {error.strerror or error}")
        silence_output()
        return Exit.ERROR


def _run(asked: Arguments, stopped: list[int]) -> int:
    from everturn.cli.demo.page import open_page
    from everturn.cli.demo.show import run_show

    if sys.stdout is None:
        raise OSError("there is no standard output to show it on")
    page = open_page(sys.stdout, os.environ)
    try:
        with demo_folder(keep="--keep" in asked) as folder:
            tested = run_show(folder, page, fast="--fast" in asked)
            if "--keep" in asked:
                page.put(f"Kept: {folder} (the repository in renewals, the session's journal in home)", wraps=False)
    except KeyboardInterrupt:
        left = "The folder is kept." if "--keep" in asked else "Nothing is left behind."
        page.put_line("")
        page.put_line(f"Interrupted. {left}")
        return Exit.TERMINATED if stopped else Exit.INTERRUPTED
    return Exit.OK if tested.passed else Exit.ERROR


def _run_tour(asked: Arguments) -> int:
    from everturn.cli.demo.interactive import run_tour

    keeps = "--keep" in asked
    with demo_folder(keep=keeps) as folder:
        return run_tour(folder, fast="--fast" in asked, keeps=keeps)


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
