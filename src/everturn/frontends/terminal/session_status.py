"""What the line of status says of the session: looked up between two prompts, not in each frame."""

from collections.abc import Callable
from contextlib import suppress

from everturn.core.errors import EverturnError
from everturn.frontends.terminal.program import TerminalProgram
from everturn.frontends.terminal.status_line import Status
from everturn.frontends.terminal.work import LiveWork


class SessionStatus:
    def __init__(self, work: LiveWork, program: TerminalProgram, *, changed: Callable[[], None]) -> None:
        """`changed` is called when the person's own command has said something else than before."""
        self._work = work
        self._program = program
        self._changed = changed
        self._row = ""
        """What the person's own command says; empty without one."""
        self._percent: int | None = None
        self._branch = ""

    def measure(self) -> None:
        self._branch = self._program.read_branch()
        if self._program.has_status:
            self._work.run_beside(self._ask())
        else:
            self._row = ""
        with suppress(EverturnError):
            use = self._work.agent.window()
            self._percent = min(round(use.percentage), 100) if use.window else None

    def tell(self, *, editing: str, hint: str) -> Status:
        """`editing`: the mode of vi."""
        agent = self._work.agent
        return Status(
            model=agent.model,
            mode=agent.permission_mode,
            percent=self._percent,
            usd=agent.total_usd,
            branch=self._branch,
            jobs=len(agent.tasks.running),
            editing=editing,
            row=self._row,
            hint=hint,
        )

    async def _ask(self) -> None:
        agent = self._work.agent
        row = await self._program.read_status(
            session_id=agent.session_id, model=agent.model, usd=agent.total_usd, percent=self._percent or 0
        )
        if row != self._row:
            self._row = row
            self._changed()
