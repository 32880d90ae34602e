"""Side questions to a model (for summaries, classifiers, hooks): retried and charged like the main call; the answers are not shown."""

import asyncio
from contextlib import aclosing

import msgspec

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.limits import Limits
from everturn.core.messages import Text
from everturn.core.schedule import Attempts, GiveUp, MendWith, Repair, RetryAfter, plan_recovery
from everturn.core.stream import Fold
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
        attempts = Attempts()
        while True:
            try:
                return await self._try(question.purpose, request)
            except ModelFault as fault:
                plan = plan_recovery(
                    fault.kind,
                    attempts,
                    self._limits,
                    retry_after=fault.retry_after,
                    jitter=self._deps.clock.jitter(),
                )
                match plan:
                    case MendWith(Repair.DROP_THINKING as repair):
                        question = leave_out_thinking(question)
                        request = self._build(question)
                        attempts = msgspec.structs.replace(attempts, repairs=attempts.repairs | {repair})
                    case RetryAfter(delay_s):
                        await self._wait(question, fault, attempts, delay_s)
                        attempts = msgspec.structs.replace(attempts, tried=attempts.tried + 1)
                    case GiveUp(retry_after) if retry_after is not None:
                        from everturn.engine.retry_notice import tell_when

                        raise tell_when(fault, retry_after, self._deps.clock.now()) from None
                    case _:
                        raise

    async def _wait(self, question: Question, fault: ModelFault, attempts: Attempts, delay_s: float) -> None:
        if question.awaited:
            from everturn.engine.retry_notice import announce_retry

            most = attempts.most(self._limits)
            self._recorder.emit(announce_retry(fault, attempts.tried, most, delay_s))
        await self._deps.clock.sleep(delay_s * self._limits.retry_scale)

    def _build(self, question: Question) -> Request:
        if question.share_prefix:
            cap, writes = self._requests.side_cap(self._agent, question.max_tokens), self._agent.source.writes_cache
            request = self._requests.build(question.messages, self._agent, max_tokens=cap, apart=not writes)
            return msgspec.structs.replace(request, output_schema=None, cache_write=request.cache_write and writes)
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
            # As in the main call: a stream that broke after the answer was complete is no failure, so nothing is paid twice.
            if not fold.complete:
                raise
        finally:
            self._recorder.api_s += self._deps.clock.elapsed() - started
            self._recorder.charge_response(purpose, fold, request, turn=self._turn, request_id=request_id)
        if not fold.complete:
            raise ModelFault(FaultKind.STREAM_BROKEN, "The stream ended before the answer was complete.")
        text = "".join(block.view.text for block in fold.finish() if isinstance(block.view, Text))
        return Reply(text=text, stop_reason=fold.stop_reason, usage=fold.usage)


def leave_out_thinking(question: Question) -> Question:
    """The question without thinking blocks, because the API refused them: a message before them has changed since they were made."""
    from everturn.engine.repairs import mend_messages, plan_mending

    plan = plan_mending(question.messages, Repair.DROP_THINKING, "")
    return msgspec.structs.replace(question, messages=mend_messages(question.messages, plan))
