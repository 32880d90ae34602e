"""What the line of status says of the session: looked up between two prompts, not in each frame."""

from collections.abc import Callable
from contextlib import suppress

from everturn.core.errors import EverturnError
from everturn.frontends.terminal.program import StatusFacts, TerminalProgram
from everturn.frontends.terminal.status_line import Status
from everturn.frontends.terminal.work import LiveWork


class SessionStatus:
    def __init__(
        self,
        work: LiveWork,
        program: TerminalProgram,
        *,
        find_editing: Callable[[], str],
        changed: Callable[[], None],
    ) -> None:
        """`find_editing` returns the mode of vi. `changed` is called when the person's own command has said something else than before."""
        self._find_editing = find_editing
        self._work = work
        self._program = program
        self._changed = changed
        self._row = ""
        """What the person's own command says; empty without one."""
        self._is_asking = self._asks_again = False
        """One command runs at a time: else an older one might speak last."""
        self._percent: int | None = None
        self._branch = ""

    def measure(self) -> None:
        self._branch = self._program.read_branch()
        if self._program.has_status:
            self._asks_again = True
            if not self._is_asking:
                self._is_asking = True
                self._work.run_beside(self._ask())
        else:
            self._row = ""
        with suppress(EverturnError):
            use = self._work.agent.window()
            self._percent = min(round(use.percentage), 100) if use.window else None

    def tell(self, *, hint: str) -> Status:
        agent = self._work.agent
        return Status(
            model=agent.model,
            mode=agent.permission_mode,
            percent=self._percent,
            usd=agent.total_usd,
            goal=self._work.tally.tell_goal(agent.goal),
            branch=self._branch,
            jobs=len(agent.tasks.running),
            editing=self._find_editing(),
            row=self._row,
            hint=hint,
        )

    async def _ask(self) -> None:
        try:
            while self._asks_again:
                self._asks_again = False
                await self._ask_once()
        finally:
            self._is_asking = False

    async def _ask_once(self) -> None:
        agent = self._work.agent
        tally, spent = self._work.tally, [each.usage for each in agent.usage_by_model.values()]
        facts = StatusFacts(
            session_id=agent.session_id,
            file=agent.session_path,
            folders=agent.folders,
            model=agent.model,
            effort=agent.effort or "",
            editing=self._find_editing(),
            usd=agent.total_usd,
            open_s=tally.open_s,
            api_s=tally.api_s,
            lines_added=tally.lines_added,
            lines_removed=tally.lines_removed,
            tokens_in=sum(usage.context - usage.output for usage in spent),
            tokens_out=sum(usage.output for usage in spent),
            percent=self._percent or 0,
        )
        row = await self._program.read_status(facts)
        if row != self._row:
            self._row = row
            self._changed()
