"""What all clients of a session share: clock, environment, folders to show to servers, and the end of every process that they started."""

import os
from collections.abc import Callable, Collection, Mapping

from everturn.ports.clock import Clock
from everturn.ports.transport import HttpTransport
from everturn.workspace.descendants import MARK, end_members, find_members, kill_members
from everturn.workspace.watcher import Watcher

GRACE_S = 2.0
"""From SIGTERM to SIGKILL."""


class Host:
    """One for a session. `aclose` ends what its clients have not ended."""

    def __init__(
        self,
        *,
        clock: Clock,
        environment: Mapping[str, str],
        client_version: str,
        open_transport: Callable[[str], HttpTransport],
        roots: Callable[[], tuple[str, ...]] = tuple,
        login_folder: str = "",
    ) -> None:
        """`environment`: ours, of which servers get a short list. `roots`: the absolute folders that servers may be told of.

        `login_folder`: where logins of HTTP servers are kept; empty: nowhere. `open_transport` makes one for an address. Its limits must allow long silences and endless answers: the client has its own.
        """
        self.clock = clock
        self.environment = environment
        self.client_version = client_version
        self.open_transport = open_transport
        self.roots = roots
        self.login_folder = login_folder
        self._family = f"mcp-{os.urandom(8).hex()}"
        self._watcher = Watcher(self._family)
        self._started = 0

    def mark_process(self) -> str:
        """For one process that is about to start: whenever we are killed, somebody is there to end it."""
        self._watcher.start()
        self._started += 1
        return f"{self._family}.{self._started}"

    def inherit_mark(self, mark: str) -> str:
        """What stands in the environment: where we are a command of another session, its mark, too."""
        outer = self.environment.get(MARK)
        return f"{outer}:{mark}" if outer else mark

    async def aclose(self) -> None:
        if self._started:
            await end_members(self._find, GRACE_S)
            kill_members(self._find)
            self._watcher.close()

    def _find(self, known: Collection[int]) -> list[int]:
        beginning = f"{self._family}."
        return find_members(lambda marks: any(mark.startswith(beginning) for mark in marks), 0, known)
