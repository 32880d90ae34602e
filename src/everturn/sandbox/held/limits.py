"""What of the machine a held command may take, each of its processes: limits of the kernel, set by the command's shell."""

import os
import resource

from everturn.ports.holding import Bounds
from everturn.sandbox.process_limit import limit_processes

_KIB = 1024
_BLOCK = 512

GATE = 241
"""The descriptor by which the shell hears that it is sealed: before that it starts nothing."""
_FROM_GATE = "".join(("<", "/dev/fd/", str(GATE)))
_CLOSE_GATE = f"[ -z \"$BASH_VERSION\" ] || eval 'exec {GATE}<&-'"
"""What follows has no use for it. Other shells know descriptors of one digit only."""


def seal_process(pid: int, seal: int, gate: int) -> None:
    """From outside: the command cannot change this limit itself. `gate` opens then. Raises `OSError`."""
    resource.prlimit(pid, resource.RLIMIT_MSGQUEUE, (seal, seal))
    os.write(gate, b"\n")


def limit_held(arguments: list[str], bounds: Bounds, *, waits: bool = False) -> list[str]:
    """`arguments`: a shell, `-c` and a script. `waits`: for the gate."""
    shell, option, script, *rest = arguments
    if waits:
        script = f"read -r __gate {_FROM_GATE}; unset __gate; {_CLOSE_GATE}; {script}"
    # Of a file's length bash counts thousands of bytes, other shells half as many.
    unit = _KIB if shell.endswith("bash") else _BLOCK
    limits = {
        "c": 0,
        "t": bounds.processor_s,
        "d": bounds.memory // _KIB,
        "f": bounds.file // unit,
        "n": bounds.open_files,
    }
    # One by one: some shells take only one at a time, and where one is refused, since it is lower already, the others must count.
    limiting = " ".join(f"ulimit -{letter} {most};" for letter, most in limits.items())
    return limit_processes([shell, option, f"{{ {limiting} }} 2>/dev/null; {script}", *rest])
