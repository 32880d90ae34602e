"""The gate in front of every call: rules and mode first, then the person where they say ask. Denials are remembered."""

from everturn.core.events import CallDenied, Denial, ModeSwitched
from everturn.core.records import ModeChanged
from everturn.engine.deps import Deps
from everturn.engine.recorder import Recorder
from everturn.ports.abort import AbortSignal
from everturn.ports.policy import Call, Ruling, Verdict

NOBODY = "nobody is here to approve it"
NOBODY_ANSWERS = "nobody is here to answer"


class Gate:
    def __init__(self, deps: Deps, recorder: Recorder, denials: list[Denial]) -> None:
        self._deps = deps
        self._recorder = recorder
        self._denials = denials
        self._mode = deps.modes.mode if deps.modes else ""

    async def admit(self, call: Call, signal: AbortSignal) -> Verdict:
        """Allows or denies; never asks. An `input` in it is to run in place of the call's.

        An abort does not wait for the person: it raises `AbortedError`.
        """
        verdict = self._deps.policy.judge(call)
        if verdict.ruling is Ruling.ASK:
            verdict = await self._ask(call, verdict, signal)
        if verdict.ruling is Ruling.ALLOW:
            return verdict
        self._denials.append(
            Denial(tool_use_id=call.id, tool_name=call.name, tool_input=call.input, reason=verdict.reason)
        )
        self._recorder.emit(CallDenied(tool_use_id=call.id, name=call.name, reason=verdict.reason, line=call.line))
        return verdict

    def note_mode(self) -> None:
        """Tells of a mode that was switched since."""
        if (modes := self._deps.modes) is not None and modes.mode != self._mode:
            before, self._mode = self._mode, str(modes.mode)
            self._recorder.record(ModeChanged(mode=self._mode))
            self._recorder.emit(ModeSwitched(before=before, mode=self._mode))

    async def _ask(self, call: Call, verdict: Verdict, signal: AbortSignal) -> Verdict:
        if self._deps.approver is None:
            nobody = NOBODY_ANSWERS if call.traits.needs_person else NOBODY
            return Verdict(ruling=Ruling.DENY, reason=f"{verdict.reason}, and {nobody}")
        answer = await signal.guard(self._deps.approver.approve(call, verdict.reason))
        if answer.ruling is Ruling.ALLOW and answer.mode is not None and self._deps.modes is not None:
            self._deps.modes.switch(answer.mode)
            self.note_mode()
        return answer
