"""Landlock: where there are no namespaces to be had, a thread gives up its rights before it starts the command."""

import ctypes
import os
import stat
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress

from everturn.sandbox.calls import PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, Machine, call, list_capabilities
from everturn.sandbox.filter import run_filter
from everturn.sandbox.places import Places

LEAST_VERSION = 3
"""From here on a file outside cannot be emptied, either."""
KEPT_CAPABILITIES = 0b1111_1011
"""Of root: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID and SETUID, by their numbers; not DAC_READ_SEARCH."""
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION = 0x2008_0522
_OPEN = os.O_PATH | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0

_READ = 0b1100
"""Contents of files and of folders."""
_WRITE = 0b0111_1111_1111_0010
"""Writing, removing, making, moving and truncating."""
_DEVICE_CONTROL = 1 << 15
_OF_FILES = 0b1100_0000_0000_0111
"""What a rule about a single file may speak of."""
_TCP = 0b11
_SIGNALS_AND_NAMES = 0b11
_TCP_VERSION, _DEVICE_VERSION, _SCOPE_VERSION = 4, 5, 6
_PATH_RULE = 1
_DEVICES = ("null", "zero", "full", "random", "urandom", "ptmx", "pts", "tty")


def find_version(machine: Machine) -> int:
    """0 where the kernel has none."""
    try:
        return call(machine.numbers["landlock_create_ruleset"], None, 0, 1)
    except OSError:
        return 0


def plan_entry(machine: Machine, version: int, places: Places, program: bytes) -> Callable[[], None]:
    """For `Start.enter`: after it the calling thread is held by the rules and the filter. It raises `OSError`."""

    def enter() -> None:
        rules = make_rules(machine, version, places)
        try:
            if os.geteuid() == 0:
                drop_capabilities(machine)
            call(machine.numbers["prctl"], PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            call(machine.numbers["landlock_restrict_self"], rules, 0)
        finally:
            os.close(rules)
        run_filter(program)

    return enter


def make_rules(machine: Machine, version: int, places: Places) -> int:
    """A descriptor."""
    handled = _WRITE | (_DEVICE_CONTROL if version >= _DEVICE_VERSION else 0) | (_READ if places.hidden else 0)
    words = (handled, _TCP if version >= _TCP_VERSION else 0, _SIGNALS_AND_NAMES if version >= _SCOPE_VERSION else 0)
    head = struct.pack("=QQQ", *words)
    # The size says which words the kernel knows.
    size = 24 if version >= _SCOPE_VERSION else 16 if version >= _TCP_VERSION else 8
    rules = call(machine.numbers["landlock_create_ruleset"], head, size, 0)
    with ExitStack() as failed:
        failed.callback(os.close, rules)
        every = _WRITE | (handled & _DEVICE_CONTROL)
        for path in list_writable(places):
            _add(machine, rules, path, every | (handled & _READ))
        for name in _DEVICES:
            _add(machine, rules, f"/dev/{name}", (handled & _OF_FILES) | (handled & _READ))
        for path in list_readable(places) if places.hidden else ():
            _add(machine, rules, path, _READ)
        failed.pop_all()
    return rules


def list_writable(places: Places) -> Iterator[str]:
    """Rules can only allow, and hold for all that is below: beside what the person denies, each entry is named."""
    for root in places.writable:
        yield from _around(root, [path for path in (*places.denied, *places.hidden) if path != root])


def list_readable(places: Places) -> Iterator[str]:
    yield from _around("/", places.hidden)
    yield from places.shown


def _around(folder: str, without: Iterable[str]) -> Iterator[str]:
    below = [path for path in without if path.startswith(folder.rstrip("/") + "/")]
    if not below:
        yield folder
        return
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all we need
    except OSError:
        return
    for name in names:
        path = f"{folder.rstrip('/')}/{name}"
        if path not in below:
            yield from _around(path, below)


def _add(machine: Machine, rules: int, path: str, rights: int) -> None:
    # What is gone meanwhile needs no right; of what cannot be opened, none can be given.
    with suppress(FileNotFoundError, PermissionError, NotADirectoryError):
        descriptor = os.open(path, _OPEN | os.O_NOFOLLOW)
        try:
            kind = os.fstat(descriptor).st_mode
            if stat.S_ISLNK(kind):
                return
            given = rights if stat.S_ISDIR(kind) else rights & _OF_FILES
            if given:
                rule = struct.pack("=Qi", given, descriptor)
                call(machine.numbers["landlock_add_rule"], rules, _PATH_RULE, rule, 0)
        finally:
            os.close(descriptor)


def drop_capabilities(machine: Machine) -> None:
    """Of the calling thread. Also from what programs could be given when they start."""
    for number in range(_LAST_CAPABILITY + 1):
        if not KEPT_CAPABILITIES >> number & 1:
            with suppress(OSError):
                call(machine.numbers["prctl"], PR_CAPBSET_DROP, number, 0, 0, 0)
    head = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    # Two sets of three words each: effective, permitted, inheritable. Nobody gains what it had not.
    held = KEPT_CAPABILITIES & list_capabilities("CapPrm")
    data = ctypes.create_string_buffer(struct.pack("=6I", held, held, 0, 0, 0, 0))
    call(machine.numbers["capset"], head, data)
