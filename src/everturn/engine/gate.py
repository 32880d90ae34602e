"""The gate in front of every call: rules and mode first, then the person where they say ask. Denials are recorded."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, nullcontext

import msgspec

from everturn.core.errors import ApproverError
from everturn.core.events import CallDenied, Denial, Level, ModeSwitched, Noticed, PermissionAsked
from everturn.core.records import ModeChanged, record_denial
from everturn.engine.deps import Deps
from everturn.engine.recorder import Recorder
from everturn.ports.abort import AbortSignal
from everturn.ports.policy import Call, Ruling, Scope, Verdict
from everturn.ports.tool import Inquiry, Traits

NOBODY = "nobody is here to approve it"
NOBODY_ANSWERS = "nobody is here to answer"
CHANGED = "settings changed while the session runs, and would let more run; they count only if you agree"


Check = Callable[[Verdict], Awaitable[None]]


class Gate:
    def __init__(self, deps: Deps, recorder: Recorder, denials: list[Denial]) -> None:
        self._deps = deps
        self._recorder = recorder
        self._denials = denials
        self._mode = deps.modes.mode if deps.modes else ""
        self._turn = asyncio.Lock()
        self._settings_turn = asyncio.Lock()
        self._asked_s: dict[str, float] = {}

    async def admit(self, call: Call, signal: AbortSignal, check: Check | None = None) -> Verdict:
        """Allows or denies; never asks. An `input` in it is to run in place of the call's.

        An abort does not wait for the person: it raises `AbortedError`. `check` raises where the call cannot work: nobody is
        asked about it then.
        """
        verdict = self._deps.policy.judge(call)
        if (prepare := getattr(self._deps.policy, "prepare", None)) and (waiting := prepare(call)) is not None:
            await signal.guard(waiting)
            verdict = self._deps.policy.judge(call)
        if self._finds_held(call):
            with self._noting_time(call.id):
                verdict = await signal.guard(self._ask_about_settings(call))
        if verdict.ruling is Ruling.ASK and self._deps.approver is None:
            call = self._prepare(call)
            nobody = NOBODY_ANSWERS if call.traits.needs_person else NOBODY
            verdict = Verdict(ruling=Ruling.DENY, reason=f"{verdict.reason}, and {nobody}", by=verdict.by)
        elif verdict.ruling is Ruling.DENY:
            # Where the mode denies what it would else ask about, a rule is what helps. Against a deny rule none does.
            call = self._prepare(call)
        elif verdict.ruling is Ruling.ASK:
            if check is not None and verdict.may_read:
                await check(verdict)
            with self._noting_time(call.id):
                verdict = await signal.guard(self._ask(call, verdict))
        if verdict.ruling is not Ruling.ALLOW:
            self._deny(call, verdict)
            return msgspec.structs.replace(verdict, advice=self._advise(call, verdict))
        return verdict

    def _advise(self, call: Call, verdict: Verdict) -> str:
        """Who said no in person has said what there is to say."""
        advise = getattr(self._deps.policy, "advise", None)
        return str(advise(call)) if advise is not None and not verdict.by_person else ""

    async def inquire(self, call_id: str, inquiry: Inquiry, signal: AbortSignal) -> str | None:
        """`ports.tool.Inquire` for the call that runs: rules and mode can only refuse, the yes is the person's."""
        traits = Traits(access=inquiry.access, needs_person=True)
        call = Call(id=call_id, name=inquiry.name, input=inquiry.input, traits=traits, line=inquiry.line)
        verdict = self._deps.policy.judge(call)
        if verdict.ruling is Ruling.DENY or self._deps.approver is None:
            return verdict.reason
        question = msgspec.structs.replace(verdict, reason=inquiry.reason)
        with self._noting_time(call_id):
            answer = await signal.guard(self._put_in_turn(call, question))
        return None if answer.ruling is Ruling.ALLOW else answer.reason

    def take_asked_s(self, call_id: str) -> float:
        """Seconds that a call has waited for answers, also for those to questions before its own. Asked for once."""
        return self._asked_s.pop(call_id, 0.0)

    @contextmanager
    def _noting_time(self, call_id: str) -> Generator[None]:
        began_s = self._deps.clock.elapsed()
        try:
            yield
        finally:
            passed_s = self._deps.clock.elapsed() - began_s
            self._asked_s[call_id] = self._asked_s.get(call_id, 0.0) + passed_s

    def foresees(self, call: Call | None) -> bool:
        """Whether a call with effects would run as things are, without a question to anybody."""
        if call is None or call.traits.read_only or call.traits.needs_person:
            return False
        return self._deps.policy.judge(call).ruling is Ruling.ALLOW

    def note_mode(self) -> None:
        """Tells of a mode that was switched since."""
        if (modes := self._deps.modes) is not None and modes.mode != self._mode:
            before, self._mode = self._mode, str(modes.mode)
            self._recorder.record(ModeChanged(mode=self._mode))
            self._recorder.emit(ModeSwitched(before=before, mode=self._mode))

    def _finds_held(self, call: Call) -> bool:
        return self._deps.settings is not None and self._deps.settings.find_held(call) is not None

    async def _ask_about_settings(self, call: Call) -> Verdict:
        """Settings that changed would decide this call otherwise: whether they count is asked once, whatever runs beside."""
        async with self._settings_turn:
            held = self._deps.settings.find_held(call) if self._deps.settings else None
            if held is not None:
                question = Verdict(ruling=Ruling.ASK, reason=CHANGED)
                answer = await self._put_in_turn(held.question, question)
                (held.agree if answer.ruling is Ruling.ALLOW else held.refuse)()
            return self._deps.policy.judge(call)

    async def _ask(self, call: Call, verdict: Verdict) -> Verdict:
        if not getattr(self._deps.approver, "one_at_a_time", False):
            return await self._put(call, verdict)
        async with self._turn:
            # The yes to another call may have answered this one, too.
            verdict = self._deps.policy.judge(call)
            return await self._put(call, verdict) if verdict.ruling is Ruling.ASK else verdict

    async def _put_in_turn(self, call: Call, verdict: Verdict) -> Verdict:
        async with self._turn if getattr(self._deps.approver, "one_at_a_time", False) else nullcontext():
            return await self._put(call, verdict)

    async def _put(self, call: Call, verdict: Verdict) -> Verdict:
        if self._deps.approver is None:
            return verdict
        call = msgspec.structs.replace(self._prepare(call), grave=verdict.grave)
        # Nothing is awaited between the event and the question: who sees the event knows that the approver is at it.
        self._recorder.emit(PermissionAsked(tool_use_id=call.id, name=call.name, reason=verdict.reason, line=call.line))
        answer = await self._deps.approver.approve(call, verdict.reason)
        if not isinstance(answer, Verdict):
            raise ApproverError(
                f"approver: approve() returned {answer!r:.60} for {call.name}; it must return a Verdict, "
                "such as Verdict(ruling=Ruling.ALLOW, reason='the person said yes')"
            )
        if answer.ruling is Ruling.ALLOW:
            self._take_over(answer)
        # What the person saw is what was judged: the yes is for that file, not for what its name leads to later.
        return msgspec.structs.replace(answer, judged=verdict.judged, by_person=True)

    def _prepare(self, call: Call) -> Call:
        """How a longer yes would look is planned only here: most calls never need it."""
        return self._deps.grants.prepare(call) if self._deps.grants else call

    def _take_over(self, answer: Verdict) -> None:
        """What the yes says beyond this call."""
        if answer.mode is not None and self._deps.modes is not None:
            self._deps.modes.switch(answer.mode)
            self.note_mode()
        if answer.grants and answer.scope is not Scope.ONCE and self._deps.grants is not None:
            problem = self._deps.grants.add(answer.grants, answer.scope)
            if problem:
                self._recorder.emit(Noticed(text=problem, level=Level.WARNING))

    def _deny(self, call: Call, verdict: Verdict) -> None:
        by = str(verdict.by or "")
        denial = Denial(
            tool_use_id=call.id,
            tool_name=call.name,
            tool_input=call.input,
            reason=verdict.reason,
            by=by,
            rules=next((offer.rules for offer in call.offers if offer.rules), ()),
            mode=next((offer.mode for offer in call.offers if offer.mode), ""),
        )
        self._recorder.record(record_denial(denial))
        self._denials.append(denial)
        self._recorder.emit(
            CallDenied(tool_use_id=call.id, name=call.name, reason=verdict.reason, by=by, line=call.line)
        )
