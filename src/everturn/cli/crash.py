"""The last resort: a failure that nobody foresaw is kept in a file, and told in a line."""

import os
import traceback

from everturn.cli.debug import open_log
from everturn.compose.cli import program_home
from everturn.core.errors import EverturnError

REPORT = "this is a fault of Everturn"


def report_crash(error: Exception) -> str:
    """The line. The log holds the traceback, without secrets."""
    what = f"{REPORT}: {type(error).__name__}"
    try:
        log = open_log(named=True, home=program_home(os.environ), env=os.environ, bodies=False)
    except (EverturnError, OSError):
        return f"{what}; no log could be written"
    log.write("crash", traceback="".join(traceback.format_exception(error)))
    log.close()
    return f"{what}; the log is {log.path}"
