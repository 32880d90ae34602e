"""What of the machine a command may take: the kernel's own limits, set by the command's shell before anything else."""

import os
import resource

from everturn.ports.holding import Bounds

MAX_PROCESSES = 2_048


def limit_processes(arguments: list[str]) -> list[str]:
    """`arguments`: a shell, `-c` and a script. The kernel counts all that the user has, threads too. Root is above such limits."""
    shell, option, script, *rest = arguments
    most = MAX_PROCESSES + _count_tasks()
    # dash calls it `-p`, which in bash is something that cannot be set.
    limiting = f"ulimit -u {most} 2>/dev/null || ulimit -p {most} 2>/dev/null"
    return [shell, option, f"{limiting}; {script}", *rest]


def _count_tasks() -> int:
    """Of everybody."""
    try:
        with open("/proc/loadavg", "rb", buffering=0) as file:  # noqa: PTH123 - half the time
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, LookupError):
        return 0


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
