"""A process by which a thread knows whether it is bound: as long as nothing binds it, its signals reach the witness."""

import os


def find_witness() -> int | None:
    """None where there is nobody else to be reached."""
    parent, own = os.getppid(), os.getpid()
    if is_reached(parent):
        return parent
    others = (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208 - names are all we need
    return next((pid for pid in others if pid != own and is_reached(pid)), None)


def is_reached(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
