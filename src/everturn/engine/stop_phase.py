"""The stop phase: what runs when the model stopped by itself, in a fixed order, and what it makes of it."""

from collections.abc import Callable
from typing import Any

import msgspec

from everturn.core.events import StopPhaseProgressed
from everturn.core.messages import Message
from everturn.core.outcomes import LimitReached, Problem, StopBlocked, StopPassed, StopPrevented
from everturn.engine import wording
from everturn.engine.deps import AgentContext, Config, Deps
from everturn.engine.recorder import Recorder
from everturn.ports.hooks import StopInput


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """The stop that is judged."""

    messages: tuple[Message, ...]
    agent: AgentContext
    text: str
    by_sequence: bool
    """A stop sequence was met: never continued by a work budget."""
    hook_active: bool


class Ruled(msgspec.Struct, frozen=True, kw_only=True):
    outcome: StopPassed | StopBlocked | StopPrevented | LimitReached
    errors: tuple[str, ...] = ()
    """What the model is told when it is sent back to work."""
    structured: Any = None


class StopPhase:
    """`keep_snapshot` stores what a side question needs to fork from the present context."""

    def __init__(
        self,
        *,
        deps: Deps,
        config: Config,
        recorder: Recorder,
        keep_snapshot: Callable[[tuple[Message, ...], AgentContext], None],
    ) -> None:
        self._deps = deps
        self._config = config
        self._recorder = recorder
        self._keep_snapshot = keep_snapshot

    async def run(self, stop: Stop) -> Ruled:
        if stop.agent.is_main:
            self._keep_snapshot(stop.messages, stop.agent)
        structured = None
        if self._deps.checker is not None:
            structured, problem = self._deps.checker.check(stop.text)
            if problem is not None:
                return self._reject(problem, self._deps.checker.schema)
        return await self._run_hooks(stop, structured)

    def _reject(self, problem: str, schema: str) -> Ruled:
        self._recorder.emit(StopPhaseProgressed(step="structured_output", text=problem))
        ledger = self._deps.ledger
        ledger.note_structured_failure()
        if (limit := ledger.tripped(self._deps.clock.elapsed())) is not None:
            return Ruled(outcome=LimitReached(which=limit[0], error=limit[1]))
        unfit = Problem(
            text=f"The answer does not fit the output schema: {problem}", kind="output_schema", by_api=False
        )
        return Ruled(outcome=StopBlocked(unfit=unfit), errors=(wording.output_invalid(problem, schema),))

    async def _run_hooks(self, stop: Stop, structured: Any) -> Ruled:
        turn = StopInput(
            session_id=self._config.session_id,
            messages=stop.messages,
            text=stop.text,
            stop_hook_active=stop.hook_active,
        )
        verdicts = await self._deps.hooks.stop(turn)
        for verdict in verdicts:
            if text := verdict.prevent or verdict.block or verdict.output:
                self._recorder.emit(StopPhaseProgressed(step="stop_hook", text=text))
        if any(verdict.prevent is not None for verdict in verdicts):
            return Ruled(outcome=StopPrevented(), structured=structured)
        errors = tuple(wording.hook_blocked(verdict.block) for verdict in verdicts if verdict.block is not None)
        if errors:
            return Ruled(outcome=StopBlocked(), errors=errors, structured=structured)
        spent = self._deps.ledger.query_output
        may_continue = stop.agent.is_main and not stop.by_sequence
        return Ruled(outcome=StopPassed(spent=spent, may_continue=may_continue), structured=structured)
