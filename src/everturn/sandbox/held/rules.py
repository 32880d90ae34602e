"""Landlock for commands that only read: what they may open and start, as a rule set of the kernel."""

import os
import struct
import threading
from collections.abc import Callable
from contextlib import ExitStack

from everturn.sandbox.calls import PR_SET_NO_NEW_PRIVS, Machine, call
from everturn.sandbox.filter import encode_filter, encode_sparing, run_filter
from everturn.sandbox.held.places import DEVICES, ZEROS, HeldPlaces
from everturn.sandbox.landlock import add_rule, add_straight, drop_capabilities

MIN_VERSION = 1
"""What later versions hold besides (emptying files, signals), the filter of system calls holds for the older ones."""
SCOPE_VERSION = 6
"""From here on signals stay among those whom the same rules bind."""
_TCP_VERSION = 4
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_KNOWN = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL = (1 << 16) - 1
_FEW_CAPABILITIES = 0b1100_0010
"""Of root: DAC_OVERRIDE, since it reads what is another's in the working folders; SETGID and SETUID, since a program that
changes its user does so in all of its threads, and is ended by the C library where one of them cannot."""


def plan_reading(machine: Machine, version: int, places: HeldPlaces) -> Callable[[], None]:
    """After it the calling thread can only read these places. It raises `OSError`."""
    program = encode_filter(machine, frozenset(), reads=True, version=version)

    def enter() -> None:
        rules = make_rules(machine, version, places)
        try:
            if os.geteuid() == 0:
                drop_capabilities(machine, kept=_FEW_CAPABILITIES)
            call(machine.numbers["prctl"], PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            call(machine.numbers["landlock_restrict_self"], rules, 0)
        finally:
            os.close(rules)
        run_filter(encode_sparing(machine, threading.get_native_id()))
        run_filter(program)

    return enter


def make_rules(machine: Machine, version: int, places: HeldPlaces) -> int:
    """A descriptor."""
    known = _KNOWN.get(version, _ALL)
    words = (known, 0b11 if version >= _TCP_VERSION else 0, 0b11 if version >= SCOPE_VERSION else 0)
    size = 24 if version >= SCOPE_VERSION else 16 if version >= _TCP_VERSION else 8
    rules = call(machine.numbers["landlock_create_ruleset"], struct.pack("=QQQ", *words), size, 0)
    with ExitStack() as failed:
        failed.callback(os.close, rules)
        for path in places.programs:
            add_rule(machine, rules, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in (*places.folders, *places.readable):
            # Names may be listed; what a rule hides is left out of what may be opened.
            add_rule(machine, rules, path, _READ_DIR)
        for path in places.opened:
            # A command that still runs could put a link on the way since they were listed.
            add_straight(machine, rules, path, _READ_FILE | _READ_DIR)
        for path in DEVICES:
            add_rule(machine, rules, path, _READ_FILE | _WRITE_FILE)
        add_rule(machine, rules, ZEROS, _READ_FILE)
        add_straight(machine, rules, places.temporary, known & ~_EXECUTE)
        failed.pop_all()
    return rules
