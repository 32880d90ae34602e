"""The folder that the program was started in."""

from pathlib import Path

from everturn.cli.usage import UsageError


def find_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(f"the working folder cannot be used: {error.strerror}") from None
