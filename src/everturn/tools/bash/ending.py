"""Ends processes: asks, gives them time, asks again whom the request did not reach, then kills."""

import asyncio
import math
import os
import signal
from collections.abc import Callable, Collection
from contextlib import ExitStack

from everturn.tools.bash.members import has_lost_sigterm, send

_FIRST_LOOK_S = 0.01
_LONGEST_LOOK_S = 0.1
_KILLINGS = 5
_KILLING_S = 1.0
"""Whoever is still there so long after SIGKILL is held by the kernel; nobody can help that."""


Find = Callable[[Collection[int]], list[int]]
"""Gives the members that live, those among them that were known before."""


async def end_members(find: Find, grace_s: float) -> None:
    """`find` is asked until it finds nobody: who is about to die may still start another."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + grace_s
    # Set by the first kill, not by the deadline: a program that was stopped meanwhile may be late for both.
    given_up = math.inf
    asked: set[int] = set()
    look_s = _FIRST_LOOK_S
    while (members := find(asked)) and (now := loop.time()) < given_up:
        if now >= deadline:
            given_up = min(given_up, now + _KILLING_S)
        for member in members:
            if now >= deadline:
                send(member, signal.SIGKILL)
            elif member not in asked or has_lost_sigterm(member):
                send(member, signal.SIGTERM)
                # One that is stopped cannot obey.
                send(member, signal.SIGCONT)
        asked.update(members)
        left = deadline - now
        await wait_gone(members, min(look_s, left) if left > 0 else look_s)
        look_s = min(look_s * 2, _LONGEST_LOOK_S)


def kill_members(find: Find) -> None:
    """At once. Searched again and again, too: who was not dead yet may have started another."""
    known: set[int] = set()
    for _ in range(_KILLINGS):
        members = find(known)
        for member in members:
            send(member, signal.SIGKILL)
        known.update(members)
        if not members:
            break


async def wait_gone(members: list[int], most_s: float) -> None:
    """Until all of them are gone, or time is up."""
    loop = asyncio.get_running_loop()
    all_gone: asyncio.Future[None] = loop.create_future()
    waiting: set[int] = set()

    def note_gone(descriptor: int) -> None:
        loop.remove_reader(descriptor)
        waiting.discard(descriptor)
        if not waiting and not all_gone.done():
            all_gone.set_result(None)

    with ExitStack() as opened:
        for member in members:
            try:
                descriptor = os.pidfd_open(member)
            except ProcessLookupError:
                continue
            except (AttributeError, OSError):
                # No such call, or a group: then time passes.
                waiting.add(-1)
                continue
            opened.callback(os.close, descriptor)
            opened.callback(loop.remove_reader, descriptor)
            waiting.add(descriptor)
            loop.add_reader(descriptor, note_gone, descriptor)
        if waiting:
            await asyncio.wait({all_gone}, timeout=most_s)
