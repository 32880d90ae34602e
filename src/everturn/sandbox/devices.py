"""The machine's devices, as commands in a view see them: read and written, and nobody changes their modes, owners or times.

Bubblewrap shows the machine's own, and whoever owns them, as root does, could change them for everybody. It cannot mount them
read-only without closing them. So for root it is started by a thread that has mounts of its own, where they are read-only: that
says nothing of reading and writing a device, and bubblewrap takes it over.
"""

import os
from collections.abc import Callable
from functools import lru_cache

from everturn.sandbox.calls import Machine, call
from everturn.sandbox.held.thread import Begin, ConfinedThread

NAMES = ("null", "zero", "full", "random", "urandom", "tty")
"""Those that bubblewrap shows."""
_CLONE_NEWNS = 0x0002_0000
_MS_RDONLY, _MS_NOSUID, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_SLAVE = 1, 2, 8, 0x20, 0x1000, 0x4000, 0x8_0000


def plan_keeping(machine: Machine | None) -> Callable[[Begin], int] | None:
    """For `Start.via`. None for who owns none of them. Raises `OSError`."""
    return None if os.geteuid() or machine is None else _find_thread(os.getpid()).start


def keep_devices(machine: Machine) -> None:
    """For `Start.enter`: for the calling thread, and what it starts. Who is not root need not. Raises `OSError`."""
    if os.geteuid():
        return
    call(machine.numbers["unshare"], _CLONE_NEWNS)
    # What is mounted later is seen here, too, and nothing of this is seen outside.
    _mount(machine, "/", _MS_REC | _MS_SLAVE)
    for path in (f"/dev/{name}" for name in NAMES):
        if os.path.exists(path):  # noqa: PTH110 - paths as text
            _mount(machine, path, _MS_BIND)
            _mount(machine, path, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NOEXEC)


@lru_cache(maxsize=1)
def _find_thread(_process: int) -> ConfinedThread:
    """One for all commands. A copy of the program (`fork`) has no threads but its own."""
    from everturn.sandbox.calls import find_machine

    machine = find_machine()
    return ConfinedThread(lambda: keep_devices(machine) if machine is not None else None)


def _mount(machine: Machine, path: str, flags: int) -> None:
    name = os.fsencode(path)
    call(machine.numbers["mount"], name, name, None, flags, None)
