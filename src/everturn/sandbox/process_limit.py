"""How many processes a confined command may add to those that run: the kernel's own limit, set by the command's shell."""

MOST_PROCESSES = 2_048


def limit_processes(arguments: list[str]) -> list[str]:
    """`arguments`: a shell, `-c` and a script. The kernel counts all that the user has, threads too. Root is above such limits."""
    shell, option, script, *rest = arguments
    most = MOST_PROCESSES + _count_tasks()
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
