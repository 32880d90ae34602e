"""Landlock: where there are no namespaces to be had, a thread gives up its rights before it starts the command."""

import ctypes
import os
import stat
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from everturn.sandbox.beneath import open_straight
from everturn.sandbox.calls import (
    PR_CAPBSET_DROP,
    PR_SET_NO_NEW_PRIVS,
    Machine,
    call,
    hide_from_peers,
    list_capabilities,
)
from everturn.sandbox.filter import run_filter
from everturn.sandbox.places import Places

MIN_VERSION = 3
"""From here on a file outside cannot be emptied, either."""
KEPT_CAPABILITIES = 0b1111_1011
"""Of root: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID and SETUID, by their numbers; not DAC_READ_SEARCH."""
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION = 0x2008_0522
_OPEN = os.O_PATH | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0

_READ_FILES = 0b0100
_READ = 0b1100
"""Contents of files and of folders."""
_WRITE = 0b0111_1111_1111_0010
"""Writing, removing, making, moving and truncating."""
_DEVICE_CONTROL = 1 << 15
_OF_FILES = 0b1100_0000_0000_0111
"""What a rule about a single file may speak of."""
_TCP = 0b11
_SIGNALS_AND_NAMES = 0b11
_TCP_VERSION, _DEVICE_VERSION = 4, 5
SCOPE_VERSION = 6
"""From here on signals stay among those who are bound by the same rules."""
_PATH_RULE = 1
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""In /dev, what can be used. `tty` is the command's own terminal, and it has none."""
_DEVICE_FOLDER, _SHARED_FILES = "/dev", "/dev/shm"  # noqa: S108 - no file of ours
"""The person's terminals are there, and belong to the same user: who reads them hears what is typed, who writes them asks in our stead."""


def find_version(machine: Machine) -> int:
    """0 where the kernel has none."""
    try:
        return call(machine.numbers["landlock_create_ruleset"], None, 0, 1)
    except OSError:
        return 0


def plan_entry(machine: Machine, version: int, places: Places, program: bytes) -> Callable[[], None]:
    """For `Start.enter`: after it the calling thread is held by the rules and the filter. It raises `OSError`."""

    def enter() -> None:
        hide_from_peers()
        rules = make_rules(machine, version, places)
        try:
            if os.geteuid() == 0:
                drop_capabilities(machine)
            call(machine.numbers["prctl"], PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            call(machine.numbers["landlock_restrict_self"], rules, 0)
        finally:
            os.close(rules)
        if program:
            run_filter(program)

    return enter


def make_rules(machine: Machine, version: int, places: Places) -> int:
    """A descriptor."""
    read = _READ if places.hidden else _READ_FILES
    handled = _WRITE | (_DEVICE_CONTROL if version >= _DEVICE_VERSION else 0) | read
    words = (handled, _TCP if version >= _TCP_VERSION else 0, _SIGNALS_AND_NAMES if version >= SCOPE_VERSION else 0)
    head = struct.pack("=QQQ", *words)
    # The size says which words the kernel knows.
    size = 24 if version >= SCOPE_VERSION else 16 if version >= _TCP_VERSION else 8
    rules = call(machine.numbers["landlock_create_ruleset"], head, size, 0)
    with ExitStack() as failed:
        failed.callback(os.close, rules)
        every = _WRITE | (handled & _DEVICE_CONTROL) | (handled & _READ)
        add = partial(_add, machine, rules)
        for root in places.writable:
            _add_around(root, (*places.denied, *places.hidden, _DEVICE_FOLDER), partial(add, every))
        for name in _DEVICES:
            add_rule(machine, rules, f"/dev/{name}", (handled & _OF_FILES) | (handled & _READ))
        _add_around("/", (*places.hidden, _DEVICE_FOLDER), partial(add, read))
        if not {_DEVICE_FOLDER, _SHARED_FILES} & {*places.hidden}:
            _add_around(_SHARED_FILES, places.hidden, partial(add, read))
        for path in places.shown:
            _add_around(path, (), partial(add, read))
        failed.pop_all()
    return rules


def _add_around(root: str, without: Iterable[str], add: Callable[[int], None]) -> None:
    """Rules can only allow, and hold for all that is below: beside what is to be left out, each entry is named.

    By descriptors: a command that runs meanwhile could put a link in place of a name, and so have us allow what it leads to.
    """
    below = [path for path in without if path != root]
    with suppress(OSError), _opened(root) as descriptor:
        _add_below(descriptor, root, below, add)


def _add_below(folder: int, path: str, without: Iterable[str], add: Callable[[int], None]) -> None:
    below = [each for each in without if each.startswith(path.rstrip("/") + "/")]
    if not below:
        add(folder)
        return
    try:
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return
    try:
        names = os.listdir(listed)  # noqa: PTH208 - a descriptor
    finally:
        os.close(listed)
    for name in names:
        inner = f"{path.rstrip('/')}/{name}"
        if inner not in below:
            # What is gone meanwhile needs no right; of what cannot be opened, none can be given.
            with suppress(OSError), _opened(name, folder) as descriptor:
                _add_below(descriptor, inner, below, add)


@contextmanager
def _opened(name: str, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(name, _OPEN | os.O_NOFOLLOW, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def add_rule(machine: Machine, rules: int, path: str, rights: int) -> None:
    """By a path that no command can change."""
    # What is gone meanwhile needs no right; of what cannot be opened, none can be given.
    with suppress(FileNotFoundError, PermissionError, NotADirectoryError), _opened(path) as descriptor:
        _add(machine, rules, rights, descriptor)


def add_straight(machine: Machine, rules: int, path: str, rights: int) -> None:
    """By a path without links. What has one by now is left out."""
    outer, _, name = path.rpartition("/")
    with suppress(OSError):
        folder = open_straight(outer)
        try:
            with _opened(name or ".", folder) as descriptor:
                _add(machine, rules, rights, descriptor)
        finally:
            os.close(folder)


def _add(machine: Machine, rules: int, rights: int, descriptor: int) -> None:
    kind = os.fstat(descriptor).st_mode
    given = rights if stat.S_ISDIR(kind) else rights & _OF_FILES
    if given and not stat.S_ISLNK(kind):
        rule = struct.pack("=Qi", given, descriptor)
        call(machine.numbers["landlock_add_rule"], rules, _PATH_RULE, rule, 0)


def drop_capabilities(machine: Machine, kept: int = KEPT_CAPABILITIES) -> None:
    """Of the calling thread. Also from what programs could be given when they start."""
    for number in range(_LAST_CAPABILITY + 1):
        if not kept >> number & 1:
            with suppress(OSError):
                call(machine.numbers["prctl"], PR_CAPBSET_DROP, number, 0, 0, 0)
    head = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    # Two sets of three words each: effective, permitted, inheritable. Nobody gains what it had not.
    held = kept & list_capabilities("CapPrm")
    data = ctypes.create_string_buffer(struct.pack("=6I", held, held, 0, 0, 0, 0))
    call(machine.numbers["capset"], head, data)
