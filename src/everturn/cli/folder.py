"""The folder that the program was started in."""

from pathlib import Path

from everturn.cli.errors import UsageError


def find_named_folder(given: str) -> str:
    """As it was given with `--cwd`; empty where it was not. Raises `UsageError`."""
    try:
        is_there = not given or Path(given).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):
        is_there = False
    if not is_there:
        raise UsageError(f"--cwd: there is no folder {given}")
    return given


def find_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(f"the working folder cannot be used: {error.strerror}") from None
