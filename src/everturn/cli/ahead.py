"""What the first calls of tools need, loaded while the model answers the first request: nobody waits for it then."""

import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread

HEAD_START_S = 0.05
"""After which the first request is on its way. A model takes much longer to answer."""
MODULES = (
    "everturn.tools.bash.tool",
    "everturn.permissions.shell.readonly.line",
    "everturn.permissions.shell.judging",
    "everturn.permissions.repository",
    "everturn.sandbox.temporary",
    "everturn.tools.bash.commands",
    "everturn.context.shell_words",
    "everturn.permissions.git.identity",
    "everturn.permissions.git.reach",
    "everturn.sandbox.held.holder",
    "everturn.tools.bash.confined",
    "everturn.tools.bash.entering",
    "everturn.tools.read.look",
    "everturn.tools.read.text",
    "everturn.tools.grep.ignore",
    "everturn.tools.grep.ripgrep",
    "everturn.tools.glob",
    "encodings.ascii",
    "hashlib",
)
"""Those that are imported inside of functions; what they import in turn comes with them."""


def load_behind() -> None:
    """In a thread. Where the first call was faster than this, nothing is left to win."""
    if not any(module in sys.modules for module in MODULES):
        Thread(target=load_modules, name="everturn-loading", daemon=True).start()


def load_modules() -> None:
    """What cannot be loaded is told by the call that needs it."""
    with suppress(ImportError):
        for module in MODULES:
            import_module(module)
        from everturn.permissions.shell.parsing import parse

        parse(b"")
