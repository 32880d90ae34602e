"""The gate in front of every call: rules and mode first, then the person where they say ask. Denials are remembered."""

from everturn.core.events import CallDenied, Denial
from everturn.engine.deps import Deps
from everturn.engine.recorder import Recorder
from everturn.ports.policy import Call, Ruling, Verdict

NOBODY = "nobody is here to approve it"


class Gate:
    def __init__(self, deps: Deps, recorder: Recorder, denials: list[Denial]) -> None:
        self._deps = deps
        self._recorder = recorder
        self._denials = denials

    async def admit(self, call: Call) -> str | None:
        """None when the call may run now; else the reason why not, for the model."""
        verdict = self._deps.policy.judge(call)
        if verdict.ruling is Ruling.ASK:
            verdict = await self._ask(call, verdict)
        if verdict.ruling is Ruling.ALLOW:
            return None
        self._denials.append(
            Denial(tool_use_id=call.id, tool_name=call.name, tool_input=call.input, reason=verdict.reason)
        )
        self._recorder.emit(CallDenied(tool_use_id=call.id, name=call.name, reason=verdict.reason))
        return verdict.reason

    async def _ask(self, call: Call, verdict: Verdict) -> Verdict:
        if self._deps.approver is None:
            return Verdict(ruling=Ruling.DENY, reason=f"{verdict.reason}, and {NOBODY}")
        return await self._deps.approver.approve(call, verdict.reason)
