"""What the first calls of tools need, loaded while the model answers the first request: nobody waits for it then."""

import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread

HEAD_START_S = 0.05
"""After which the first request is on its way. A model takes much longer to answer."""
MODULES = (
    "everturn.tools.bash.tool",
    "everturn.tools.result_lines",
    "everturn.permissions.shell.readonly.line",
    "everturn.permissions.shell.readonly.awk",
    "everturn.permissions.shell.readonly.find",
    "everturn.permissions.shell.readonly.git",
    "everturn.permissions.shell.readonly.judge",
    "everturn.permissions.shell.readonly.sed",
    "everturn.permissions.shell.judge",
    "everturn.permissions.shell.by_rules",
    "everturn.permissions.shell.approval.earlier_changes",
    "everturn.permissions.shell.reading.sketch",
    "everturn.permissions.shell.running.stream_code",
    "everturn.permissions.shell.reading.tmpdir",
    "everturn.permissions.git.harmless",
    "glob",
    "everturn.permissions.git.own_programs",
    "everturn.sandbox.temporary",
    "everturn.tools.bash.runner",
    "everturn.context.shell_words",
    "everturn.permissions.git.identity",
    "everturn.permissions.git.places",
    "everturn.sandbox.held.holder",
    "everturn.tools.bash.confinement",
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
        from everturn.permissions.shell.reading.parser import parse

        parse(b"")
