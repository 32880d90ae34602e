"""Ends what a command has left running, and waits until the last of it is dead: only then is anything put back.

Neither marks nor groups are asked: a process can wipe its environment and leave its group, its session and its parent. It cannot
leave Landlock's rules, nor a view of its own.
"""

import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Protocol

from everturn.sandbox.calls import Machine, find_machine
from everturn.sandbox.descriptors import lift_descriptor
from everturn.sandbox.filter import encode_sparing, run_filter
from everturn.sandbox.landlock import SCOPE_VERSION, plan_entry
from everturn.sandbox.places import Places
from everturn.sandbox.witness import find_witness, is_reached, kill_reachable

MAX_WAIT_S = 2.0
"""Whoever is still there so long after SIGKILL is held by the kernel; nobody can help that."""
_INFORMATION = 4_096
_MAX_SPARED = 100
"""Threads of ours: a filter has room for so many."""


class Survivors(Protocol):
    def note_started(self) -> None: ...

    def end(self) -> bool:
        """All of them. False: somebody may still be there. It does not raise."""
        ...


class RuledSurvivors:
    """Under Landlock's rules a process reaches no other with a signal but those under the same rules.

    So the thread that is bound by the command's rules, and has started it, stays; in the end it sends SIGKILL to every process
    in turn. Those of the command get it, and nobody else can, whatever their number may have become meanwhile.
    """

    def __init__(self, machine: Machine, enter: Callable[[], None]) -> None:
        """`enter` binds the calling thread to the rules (`landlock.plan_entry`). Only where `has_scope`."""
        self._machine = machine
        self._enter = enter
        self._asked, self._done = threading.Event(), threading.Event()
        # Opened while we may: the rules may hide it.
        self._processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._witness = 0
        self._bound = 0
        self._has_started = False
        self._are_dead = True

    def enter(self) -> None:
        """For `Start.enter`."""
        self._enter()
        # What it starts is under the same rules, and could reach us by it.
        run_filter(encode_sparing(self._machine, threading.get_native_id()))
        self._bound = threading.get_ident()

    def note_started(self) -> None:
        self._has_started = True

    def stay(self) -> None:
        """For `Start.stay`."""
        self._asked.wait()
        try:
            # Nobody may ever do this who is not bound.
            if threading.get_ident() == self._bound:
                self._are_dead = end_reachable(self._processes, self._witness)
        finally:
            self._done.set()

    def end(self) -> bool:
        if self._processes < 0:
            return self._are_dead
        if self._has_started:
            self._are_dead = False
            with suppress(OSError):
                self._witness = find_witness()
            self._asked.set()
            self._done.wait(MAX_WAIT_S * 2)
        os.close(self._processes)
        self._processes = -1
        return self._are_dead


class ViewedSurvivors:
    """Bubblewrap ends when the command's shell does, and its first process inside a moment later, with all others.

    The kernel lets that first process die only when no other is left in its view.
    """

    def __init__(self) -> None:
        """Raises `OSError`."""
        self._readable, writable = os.pipe()
        try:
            self.writable = lift_descriptor(writable)
            """What bubblewrap is given to tell the number of its first process."""
        except OSError:
            os.close(self._readable)
            raise
        self._are_dead = True

    def note_started(self) -> None:
        if self.writable >= 0:
            os.close(self.writable)
            self.writable = -1

    def end(self) -> bool:
        self.note_started()
        if self._readable >= 0:
            readable, self._readable = self._readable, -1
            try:
                told = os.read(readable, _INFORMATION)
            finally:
                os.close(readable)
            if told:
                self._are_dead = _wait_for_told(told)
        return self._are_dead


def plan_sparing(machine: Machine, enter: Callable[[], None]) -> Callable[[], None]:
    """For `Start.enter` where rules know nothing of signals: what is started can signal neither us nor everybody at once.

    Threads that we start later are not known to it.
    """

    def enter_sparing() -> None:
        # Before the rules, which may hide them.
        threads = [int(name) for name in os.listdir("/proc/self/task")][:_MAX_SPARED]  # noqa: PTH208 - names are all we need
        enter()
        run_filter(encode_sparing(machine, os.getpid(), *threads, -os.getpgrp(), -1))

    return enter_sparing


_found_scopes: dict[int, bool] = {}


def has_scope(version: int) -> bool:
    """Whether rules keep signals from everybody else, found by trying: once in a process."""
    if version not in _found_scopes:
        reached = _try_scope(version)
        if not reached:
            # It could not be tried, perhaps for want of a descriptor: the next command tries again.
            return False
        _found_scopes[version] = reached == [False]
    return _found_scopes[version]


def _try_scope(version: int) -> list[bool]:
    """Whether a bound thread reached a process outside; empty where that could not be tried."""
    machine = find_machine()
    if machine is None or version < SCOPE_VERSION:
        return [True]
    reached: list[bool] = []

    def try_to_reach(pid: int) -> None:
        with suppress(OSError):
            plan_entry(machine, version, Places(writable=()), b"")()
            reached.append(is_reached(pid))

    with suppress(OSError):
        thread = threading.Thread(target=try_to_reach, args=(find_witness(),))
        thread.start()
        thread.join()
    return reached


def end_reachable(processes: int, witness: int) -> bool:
    """By the calling thread, which must be bound by rules with a scope for signals. `processes` is the open folder /proc.

    `witness`: see `witness.py`.
    """
    until = time.monotonic() + MAX_WAIT_S
    own = os.getpid()
    while time.monotonic() < until:
        with ExitStack() as opened:
            poll = select.poll()
            waiting = set()
            # Those who are found after it are the last.
            if not kill_reachable(witness):
                return False
            # The newest first: who starts another and ends is always among them.
            for pid in sorted((int(name) for name in os.listdir(processes) if name.isdigit()), reverse=True):
                if pid == own or not _kill(pid):
                    continue
                with suppress(ProcessLookupError):
                    descriptor = os.pidfd_open(pid)
                    opened.callback(os.close, descriptor)
                    poll.register(descriptor, select.POLLIN)
                    waiting.add(descriptor)
            # Those that nobody has reaped yet are dead at once.
            waiting -= {descriptor for descriptor, _ in poll.poll(0)}
            if not waiting:
                return True
            while waiting and time.monotonic() < until:
                for descriptor, _ in poll.poll((until - time.monotonic()) * 1000):
                    waiting.discard(descriptor)
                    with suppress(KeyError):
                        poll.unregister(descriptor)
    return False


def _wait_for_told(told: bytes) -> bool:
    """False also where it is nothing that bubblewrap would say."""
    try:
        return _wait_for(int(json.loads(told)["child-pid"]))
    except (ValueError, LookupError, TypeError, OverflowError):
        return False


def _wait_for(pid: int) -> bool:
    """Until it is dead. A number that somebody else has by now only costs time."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(MAX_WAIT_S * 1000))
    finally:
        os.close(descriptor)


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True
