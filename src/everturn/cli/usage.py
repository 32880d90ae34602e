"""What a person is told when the command line itself is wrong."""

from everturn.core.errors import EverturnError

HELP = "everturn --help"


class UsageError(EverturnError):
    """Ends the program with exit code 2; its text stands on one line."""

    def __init__(self, text: str, *, see: str = "") -> None:
        """`see` is a command whose help would help; empty where the text says it all."""
        super().__init__(text)
        self.see = see


class UnknownSessionError(UsageError):
    """The session that a command line names is not there, or several are meant."""
