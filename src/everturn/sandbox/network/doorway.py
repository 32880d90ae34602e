"""The door between a command's own network and our proxy: a small program inside opens it, and hands us its descriptor."""

import asyncio
import fcntl
import os
import socket
import sys
from collections.abc import Iterable
from functools import lru_cache
from shutil import which

from everturn.sandbox.network.hosts import Pattern
from everturn.sandbox.network.proxy import Proxy, Refused

DESCRIPTOR = 238
PORT = 3128
ABOVE_ALL = 256
"""Our own copies lie above the numbers that a child finds its descriptors under."""
_LOCAL = ("localhost", "127.0.0.1", "::1")
_PROGRAM = f"""
import _socket, posix, sys
door = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
door.bind(("127.0.0.1", {PORT}))
door.listen(128)
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


def plan_variables(allowed: Iterable[Pattern]) -> dict[str, str]:
    """For curl, git, pip, npm and all that ask the environment. What the command serves to itself is not for the proxy."""
    proxy = f"http://127.0.0.1:{PORT}"
    named = {pattern.host for pattern in allowed}
    own = ",".join(name for name in _LOCAL if name not in named)
    variables = {"http_proxy": proxy, "https_proxy": proxy, "all_proxy": proxy, "no_proxy": own}
    return variables | {name.upper(): value for name, value in variables.items()} | {"NODE_USE_ENV_PROXY": "1"}


class Doorway:
    """Of one command; hosts that were refused are noted in `refused`."""

    def __init__(self, proxy: Proxy) -> None:
        self.refused: list[Refused] = []
        self._proxy = proxy
        self._loop = asyncio.get_running_loop()
        self._line, theirs = socket.socketpair()
        self._line.setblocking(False)
        self._theirs = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, ABOVE_ALL)
        theirs.close()
        self._door: socket.socket | None = None
        self._visitors: set[asyncio.Task[None]] = set()
        self._loop.add_reader(self._line, self._take_door)

    @property
    def descriptor(self) -> tuple[int, int]:
        """For `Start.descriptors`."""
        return self._theirs, DESCRIPTOR

    def let_go(self) -> None:
        """The command has its end now."""
        if self._theirs >= 0:
            os.close(self._theirs)
            self._theirs = -1

    def close(self) -> None:
        self.let_go()
        self._hang_up()
        if self._door is not None:
            self._loop.remove_reader(self._door)
            self._door.close()
            self._door = None
        for visitor in self._visitors:
            visitor.cancel()

    def _hang_up(self) -> None:
        if self._line.fileno() >= 0:
            self._loop.remove_reader(self._line)
            self._line.close()

    def _take_door(self) -> None:
        try:
            _, descriptors, _, _ = socket.recv_fds(self._line, 1, 1)
        except BlockingIOError:
            return
        except OSError:
            descriptors = []
        self._hang_up()
        if descriptors:
            self._door = socket.socket(fileno=descriptors[0])
            self._door.setblocking(False)
            self._loop.add_reader(self._door, self._let_in)

    def _let_in(self) -> None:
        if self._door is None:
            return
        try:
            visitor, _ = self._door.accept()
        except OSError:
            return
        visitor.setblocking(False)
        task = self._loop.create_task(self._serve(visitor))
        self._visitors.add(task)
        task.add_done_callback(self._visitors.discard)

    async def _serve(self, visitor: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=visitor)
        await self._proxy.serve(reader, writer, self.refused.append)
