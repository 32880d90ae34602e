"""What of the machine a held command may take, each of its processes: limits of the kernel, set by the command's shell."""

import os
import resource

from everturn.sandbox.process_limit import limit_processes

LONGEST_S = 600
"""Of a processor's time."""
_KIB = 1024
MOST_MEMORY = 4 * 1024**3
MOST_IN_FILE = 256 * 1024**2
"""Bytes of one temporary file."""
MOST_FILES = 512
"""Open at once."""


GATE = 241
"""The descriptor by which the shell hears that it is sealed: before that it starts nothing."""
_FROM_GATE = "".join(("<", "/dev/fd/", str(GATE)))
_CLOSE_GATE = f"[ -z \"$BASH_VERSION\" ] || eval 'exec {GATE}<&-'"
"""What follows has no use for it. Other shells know descriptors of one digit only."""


def seal_process(pid: int, seal: int, gate: int) -> None:
    """From outside: the command cannot change this limit itself. `gate` opens then. Raises `OSError`."""
    resource.prlimit(pid, resource.RLIMIT_MSGQUEUE, (seal, seal))
    os.write(gate, b"\n")


def limit_held(arguments: list[str], *, waits: bool = False) -> list[str]:
    """`arguments`: a shell, `-c` and a script. `waits`: for the gate."""
    shell, option, script, *rest = arguments
    if waits:
        script = f"read -r __gate {_FROM_GATE}; unset __gate; {_CLOSE_GATE}; {script}"
    limits = (
        f"ulimit -c 0 -t {LONGEST_S} -d {MOST_MEMORY // _KIB} -f {MOST_IN_FILE // _KIB} -n {MOST_FILES} 2>/dev/null"
    )
    return limit_processes([shell, option, f"{limits}; {script}", *rest])
