"""The connection between a command's own network and the proxy: opened by a thread of Everturn, or by a small program inside."""

import asyncio
import fcntl
import os
import socket
import struct
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from shutil import which

from everturn.sandbox.calls import Machine, call, list_capabilities
from everturn.sandbox.descriptors import ABOVE_ALL
from everturn.sandbox.network.consent import Consent
from everturn.sandbox.network.hosts import HostPattern
from everturn.sandbox.network.proxy import TOO_MANY, Proxy, RefusalError, RefusedConnection, render_refusal

DESCRIPTOR = 238
PORT = 3128
CLONE_NEWNET = 0x4000_0000
CAP_SYS_ADMIN = 21
_SET_FLAGS = 0x8914
_LOOPBACK_IS_UP = struct.pack("=16sH22x", b"lo", 0x41)
_WAITING = 128
MAX_VISITORS = 128
"""At one door: no command takes all that the proxy has from others."""
_PAUSE_S = 0.1
_LOCAL = ("localhost", "127.0.0.1", "::1")
_PROGRAM = f"""
import _socket, posix, sys
door = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
door.bind(("127.0.0.1", {PORT}))
door.listen({_WAITING})
line = _socket.socket(fileno={DESCRIPTOR})
line.sendmsg([b"!"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, door.fileno().to_bytes(4, sys.byteorder))])
line.close()
door.close()
posix.execv(sys.argv[1], sys.argv[1:])
"""
"""A socket stays in the network that it was made in, whoever holds it: so nothing need run inside to pass bytes on."""


def plan_opening(arguments: list[str]) -> list[str]:
    """Opens the door and becomes the command. Without the site's packages: a hundredth of a second."""
    return [find_interpreter(), "-I", "-S", "-c", _PROGRAM, *arguments]


@lru_cache(maxsize=1)
def find_interpreter() -> str:
    """Ours; or the system's, where ours is out of reach for who we have become."""
    return sys.executable if os.access(sys.executable, os.X_OK) else which("python3", path=os.defpath) or sys.executable


def plan_variables(allowed: Iterable[HostPattern]) -> dict[str, str]:
    """For curl, git, pip, npm and all that ask the environment. What the command serves to itself is not for the proxy."""
    proxy = f"http://127.0.0.1:{PORT}"
    named = {pattern.host for pattern in allowed}
    own = ",".join(name for name in _LOCAL if name not in named)
    variables = {"http_proxy": proxy, "https_proxy": proxy, "all_proxy": proxy, "no_proxy": own}
    return variables | {name.upper(): value for name, value in variables.items()} | {"NODE_USE_ENV_PROXY": "1"}


def may_make_networks() -> bool:
    """Without a process for them. Root may lack the right although the programs that it starts have it."""
    return os.geteuid() == 0 and bool(list_capabilities("CapEff") >> CAP_SYS_ADMIN & 1)


class Doorway:
    """Of one command; hosts that were refused are noted in `refused`."""

    def __init__(self, proxy: Proxy, consent: Consent | None = None) -> None:
        """`consent`: asks about hosts that are not named; without it they are refused."""
        self.consent = consent
        self.refused: list[RefusedConnection] = []
        self._proxy = proxy
        self._loop = asyncio.get_running_loop()
        self._line: socket.socket | None = None
        self._theirs = -1
        self._door: socket.socket | None = None
        self._visitors: set[asyncio.Task[None]] = set()
        self.closed = threading.Event()

    def run_opening(self, machine: Machine) -> None:
        """For `Start.enter`: the calling thread, and what it starts, has a network of its own with the door in it.

        For who `may_make_networks`. Raises `OSError`.
        """
        call(machine.numbers["unshare"], CLONE_NEWNET)
        door = socket.socket()
        self._door = door
        fcntl.ioctl(door, _SET_FLAGS, _LOOPBACK_IS_UP)
        door.bind(("127.0.0.1", PORT))
        door.listen(_WAITING)

    def make_line(self) -> tuple[int, int]:
        """For `Start.descriptors`: over it the program inside hands us the door."""
        self._line, theirs = socket.socketpair()
        self._line.setblocking(False)
        self._theirs = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, ABOVE_ALL)
        theirs.close()
        self._loop.add_reader(self._line, self._take_door)
        return self._theirs, DESCRIPTOR

    def let_go(self) -> None:
        """The command has started: it has its end of the line, or the door is open."""
        if self._theirs >= 0:
            os.close(self._theirs)
            self._theirs = -1
        if self._door is not None:
            self._watch(self._door)

    def close(self) -> None:
        self.closed.set()
        self.let_go()
        self._hang_up()
        if self.consent is not None:
            self.consent.stop()
        if self._door is not None:
            self._loop.remove_reader(self._door)
            self._door.close()
            self._door = None
        for visitor in self._visitors:
            visitor.cancel()

    def _hang_up(self) -> None:
        if self._line is not None:
            self._loop.remove_reader(self._line)
            self._line.close()
            self._line = None

    def _take_door(self) -> None:
        if self._line is None:
            return
        try:
            _, descriptors, _, _ = socket.recv_fds(self._line, 1, 1)
        except BlockingIOError:
            return
        except OSError:
            descriptors = []
        self._hang_up()
        if descriptors:
            self._door = socket.socket(fileno=descriptors[0])
            self._watch(self._door)

    def _watch(self, door: socket.socket) -> None:
        door.setblocking(False)
        self._loop.add_reader(door, self._let_in)

    def _let_in(self) -> None:
        if self._door is None:
            return
        try:
            visitor, _ = self._door.accept()
        except BlockingIOError:
            return
        except OSError:
            # We have no descriptor left. Asked at once, it would say so again, for ever.
            self._loop.remove_reader(self._door)
            self._loop.call_later(_PAUSE_S, self._watch_again)
            return
        visitor.setblocking(False)
        if self._proxy.is_full or len(self._visitors) >= MAX_VISITORS:
            self._turn_away(visitor)
            return
        self._proxy.note_come()
        task = self._loop.create_task(self._serve(visitor))
        self._visitors.add(task)
        task.add_done_callback(self._note_gone)

    def _watch_again(self) -> None:
        if self._door is not None:
            self._watch(self._door)

    def _note_gone(self, visitor: asyncio.Task[None]) -> None:
        self._visitors.discard(visitor)
        self._proxy.note_gone()

    def _turn_away(self, visitor: socket.socket) -> None:
        """Before it has said anything: nothing of it is kept."""
        refusal = RefusalError("503 Service Unavailable", "", TOO_MANY)
        with visitor, suppress(OSError):
            visitor.send(render_refusal(refusal))
        if not any(each.why == TOO_MANY for each in self.refused):
            self.refused.append(RefusedConnection(host="", why=TOO_MANY))

    async def _serve(self, visitor: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=visitor)
        await self._proxy.serve(reader, writer, self.refused.append, self.consent.ask if self.consent else None)
