"""What a person is told when the command line itself is wrong."""

from everturn.core.errors import EverturnError


class UsageError(EverturnError):
    """Ends the program with exit code 2; its text stands on one line."""
