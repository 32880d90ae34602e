"""Side questions to a model (summaries, classifiers, hooks): retried like the main call, charged like it, their answers never shown."""

import asyncio
from contextlib import aclosing

import msgspec

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.limits import Limits
from everturn.core.messages import Text
from everturn.core.schedule import Attempts, GiveUp, RetryAfter, plan_recovery
from everturn.core.stream import Fold
from everturn.engine.announcing import announce_retry, tell_when
from everturn.engine.deps import AgentContext, Deps
from everturn.engine.recorder import Recorder
from everturn.engine.requests import Requests
from everturn.ports.ask import Question, Reply
from everturn.ports.model import Request


class Asker:
    """Implements `ports.ask.Ask` for one agent in its present state."""

    def __init__(
        self, *, deps: Deps, limits: Limits, requests: Requests, recorder: Recorder, agent: AgentContext, turn: int
    ) -> None:
        self._deps = deps
        self._limits = limits
        self._requests = requests
        self._recorder = recorder
        self._agent = agent
        self._turn = turn

    async def ask(self, question: Question) -> Reply:
        limit = asyncio.timeout(question.within_s or None)
        try:
            async with limit:
                return await self._ask(question)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ModelFault(FaultKind.TIMEOUT, f"There was no answer within {question.within_s:g} s.") from None

    async def _ask(self, question: Question) -> Reply:
        request = self._build(question)
        tried = 1
        while True:
            try:
                return await self._try(question.purpose, request)
            except ModelFault as fault:
                attempts = Attempts(tried=tried)
                plan = plan_recovery(
                    fault.kind,
                    attempts,
                    self._limits,
                    retry_after=fault.retry_after,
                    jitter=self._deps.clock.jitter(),
                )
                if isinstance(plan, GiveUp) and plan.retry_after is not None:
                    raise tell_when(fault, plan.retry_after, self._deps.clock.now()) from None
                if not isinstance(plan, RetryAfter):
                    raise
                if question.awaited:
                    most = attempts.most(self._limits)
                    self._recorder.emit(announce_retry(fault, tried, most, plan.delay_s))
                await self._deps.clock.sleep(plan.delay_s * self._limits.retry_scale)
                tried += 1

    def _build(self, question: Question) -> Request:
        if question.share_prefix:
            cap = self._requests.side_cap(self._agent, question.max_tokens)
            request = self._requests.build(question.messages, self._agent, max_tokens=cap)
            return msgspec.structs.replace(request, output_schema=None)
        model = question.model or self._agent.model
        return self._requests.build_plain(question.messages, model, question.system, question.max_tokens)

    async def _try(self, purpose: str, request: Request) -> Reply:
        fold = Fold(lambda received: received or self._deps.ids.new())
        started, request_id = self._deps.clock.elapsed(), self._deps.ids.new()
        try:
            async with aclosing(self._deps.model.stream(request)) as stream:
                async for event in stream:
                    fold.feed(event)
                    if fold.is_due:
                        self._recorder.note_received(fold, request, request_id=request_id)
                    if fold.ended:
                        break
        except ModelFault:
            # As in the main call: cut after its end was known, the answer is whole and need not be paid twice.
            if not fold.complete:
                raise
        finally:
            self._recorder.api_s += self._deps.clock.elapsed() - started
            self._recorder.charge_response(purpose, fold, request, turn=self._turn, request_id=request_id)
        if not fold.complete:
            raise ModelFault(FaultKind.STREAM_BROKEN, "The stream ended before the answer was complete.")
        text = "".join(block.view.text for block in fold.finish() if isinstance(block.view, Text))
        return Reply(text=text, stop_reason=fold.stop_reason, usage=fold.usage)
