"""What a person is told when the command line is wrong, and when the program itself fails."""

import os

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


def report_crash(error: Exception) -> str:
    """What a failure that nobody foresaw is told as. The log holds the traceback, without secrets."""
    import traceback

    from everturn.cli.debug import open_log
    from everturn.settings.program_files import program_home

    what = f"this is a fault of Everturn: {type(error).__name__}"
    try:
        log = open_log(named=True, home=program_home(os.environ), env=os.environ, bodies=False)
    except (EverturnError, OSError):
        return f"{what}; no log could be written"
    log.write("crash", traceback="".join(traceback.format_exception(error)))
    log.close()
    return f"{what}; the log is {log.path}"
