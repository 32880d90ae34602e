"""Decides whether a call runs: the policy first (rules and mode), then the person where the policy says ask. Denials are recorded."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import msgspec

from everturn.core.denials import Denial, DenialCause
from everturn.core.errors import ApproverError
from everturn.core.events import CallDenied, Level, ModeSwitched, Noticed, PermissionAsked
from everturn.core.modes import PermissionMode
from everturn.core.record_codec import record_denial
from everturn.core.records import ModeChanged
from everturn.engine import wording
from everturn.engine.crew import Crew
from everturn.engine.deps import Deps
from everturn.engine.hook_calls import ELICITATION, ELICITATION_RESULT, NOTIFICATION, REQUEST, call_fields
from everturn.engine.permission_changes import suggest_change, take_change
from everturn.engine.recorder import Recorder
from everturn.ports.abort import AbortedError, AbortSignal
from everturn.ports.elicitation import Elicitation, ElicitationAnswer
from everturn.ports.hooks import NOTHING_SAID, HookRuling, HookVerdict, Occasion
from everturn.ports.policy import (
    ELICITATION_QUESTION,
    HOST_QUESTION,
    SETTINGS_QUESTION,
    Call,
    Decider,
    Ruling,
    Scope,
    Verdict,
)
from everturn.ports.tool import Access, Confinement, Inquiry, PatchHunk, Traits

NOBODY = "nobody is here to approve it"
NOBODY_ANSWERS = "nobody is here to answer"
PERSON_SAID_NO = "the person said no"
OTHER_INPUT = "the yes was for another input, and the call has begun with its own"

CHANGED = "settings changed while the session runs, and would let more run; they count only if you agree"


Check = Callable[[Verdict], Awaitable[Sequence[PatchHunk]]]
Rewrite = Callable[[dict[str, Any]], Awaitable[Call]]
"""Replaces the input of the call. Raises where the tool does not accept it."""


class Gate:
    def __init__(
        self, deps: Deps, recorder: Recorder, denials: list[Denial], *, folder: str = "", background: Crew | None = None
    ) -> None:
        """`background`: runs hooks that are not awaited."""
        self._deps = deps
        self._folder = folder
        self._background = background or Crew()
        self.interrupted_by: str | None = None
        """Reason of a PermissionRequest hook that denied a call and ended the query."""
        self._recorder = recorder
        self._denials = denials
        self._mode = deps.modes.mode if deps.modes else ""
        self._turn = asyncio.Lock()
        # Read only here. An approver of the caller needs no other attribute than `approve`.
        self._asks_in_turn = bool(getattr(deps.approver, "one_at_a_time", False))
        self._settings_turn = asyncio.Lock()
        self._asked_s: dict[str, float] = {}

    async def admit(
        self,
        call: Call,
        signal: AbortSignal,
        check: Check | None = None,
        *,
        said: HookVerdict = NOTHING_SAID,
        rewrite: Rewrite | None = None,
    ) -> Verdict:
        """Returns a verdict that allows or denies. If the verdict has an `input`, the call runs with that one.

        Raises `AbortedError` when the query is interrupted while a person is asked. `check` raises where the
        call cannot work, so that nobody is asked about it. `said`: verdict of PreToolUse hooks. `rewrite`:
        replaces the input where a PermissionRequest hook gives another one.
        """
        verdict = self._deps.policy.judge(call)
        if (waiting := self._deps.policy.prepare(call)) is not None:
            await signal.guard(waiting)
            verdict = self._deps.policy.judge(call)
        if self._finds_held(call):
            # ConfigChange hooks may spare the person the question.
            stop = await signal.guard(self._deps.hooks.look_around())
            if stop is not None:
                self.interrupted_by = self.interrupted_by or stop
                return self._deny_for_hook(call, stop)
        if self._finds_held(call):
            with self._noting_time(call.id):
                verdict = await signal.guard(self._ask_about_settings(call))
        if said.ruling is not None:
            verdict = self._weigh(verdict, call, said)
        if verdict.ruling is Ruling.ASK and self._deps.approver is None:
            call = self._prepare(call)
            nobody = NOBODY_ANSWERS if call.traits.needs_person else NOBODY
            reason = f"{verdict.reason}, and {nobody}"
            verdict = Verdict(ruling=Ruling.DENY, reason=reason, by=verdict.by, cause=verdict.cause, unasked=True)
        elif verdict.ruling is Ruling.DENY:
            # Where the mode denies instead of asking, a rule would help; against a deny rule nothing does.
            call = self._prepare(call)
        elif verdict.ruling is Ruling.ASK:
            if check is not None and verdict.may_read:
                call = msgspec.structs.replace(call, patch=await check(verdict))
            with self._noting_time(call.id):
                verdict = await signal.guard(self._ask(call, verdict, said, rewrite))
        if verdict.ruling is not Ruling.ALLOW:
            self._deny(call, verdict)
            return msgspec.structs.replace(verdict, advice=self._advise(call, verdict))
        return verdict

    def judge_changed(self, call: Call, verdict: Verdict) -> Verdict:
        """Judges the input that the approver put in place of the model's: a deny rule holds for it, too; all else is approved."""
        judged = self._deps.policy.judge(call)
        if judged.ruling is not Ruling.DENY:
            return msgspec.structs.replace(verdict, judged=judged.judged)
        self._deny(call, judged)
        return msgspec.structs.replace(judged, advice=self._advise(call, judged))

    def _weigh(self, verdict: Verdict, call: Call, said: HookVerdict) -> Verdict:
        """Applies what a hook ruled: its ALLOW answers what the mode would ask; its ASK turns an allowed call into a question."""
        reason = f": {said.reason}" if said.reason else ""
        if said.ruling is HookRuling.ALLOW:
            answered = not call.traits.needs_person or said.input is not None
            if verdict.ruling is Ruling.ALLOW or not answered or call.traits.confinement is Confinement.LEAVES:
                return verdict
            allowed = self._deps.policy.judge_allowed(call)
            if allowed.ruling is not Ruling.ALLOW:
                return verdict
            return msgspec.structs.replace(allowed, reason=f"a hook allows it{reason}", by=Decider.HOOK)
        if said.ruling is HookRuling.ASK and verdict.ruling is Ruling.ALLOW:
            asks_nobody = self._deps.modes is not None and self._deps.modes.mode == PermissionMode.DONT_ASK
            ruling = Ruling.DENY if asks_nobody else Ruling.ASK
            return msgspec.structs.replace(
                verdict,
                ruling=ruling,
                reason=f"a hook wants a person to be asked{reason}",
                by=Decider.HOOK,
                cause=DenialCause.HOOK,
                holding=None,
            )
        return verdict

    def refuse(self, call: Call, reason: str) -> str:
        """Records the denial of a PreToolUse hook and returns its text for the model."""
        self._deny_for_hook(call, reason)
        return wording.hook_denied(reason)

    def _deny_for_hook(self, call: Call, reason: str) -> Verdict:
        verdict = deny_for_hook(reason)
        self._deny(call, verdict)
        return verdict

    def _advise(self, call: Call, verdict: Verdict) -> str:
        """Advice for the model after a denial; empty where a person or a hook denied the call, because they gave their own reason."""
        return "" if verdict.by_person or verdict.by is Decider.HOOK else self._deps.policy.advise(call)

    async def inquire(self, call_id: str, inquiry: Inquiry, signal: AbortSignal) -> str | None:
        """Asks about something that a running call wants (`ports.tool.Inquire`). Rules and mode can only refuse; only a person allows."""
        traits = Traits(access=inquiry.access, needs_person=True)
        call = Call(id=call_id, name=inquiry.name, input=inquiry.input, traits=traits, line=inquiry.line)
        verdict = self._deps.policy.judge(call)
        if verdict.ruling is Ruling.DENY or self._deps.approver is None:
            return verdict.reason
        question = msgspec.structs.replace(verdict, reason=inquiry.reason)
        with self._noting_time(call_id):
            answer = await signal.guard(self._put_in_turn(call, question))
        if answer.ruling is Ruling.ALLOW and answer.input is not None and answer.input != inquiry.input:
            return OTHER_INPUT
        return None if answer.ruling is Ruling.ALLOW else answer.reason

    async def elicit(self, call_id: str, asked: Elicitation, signal: AbortSignal) -> ElicitationAnswer:
        """Passes on a question of an MCP server to hooks, then to the person. Raises nothing but a cancellation."""
        try:
            answer = await signal.guard(self._hear_elicitation(asked))
            if answer is None:
                with self._noting_time(call_id):
                    answer = await signal.guard(self._put_elicitation(call_id, asked))
            return await signal.guard(self._hear_elicitation(asked, answer)) or answer
        except AbortedError:
            return ElicitationAnswer(action="cancel")

    async def _hear_elicitation(
        self, asked: Elicitation, answer: ElicitationAnswer | None = None
    ) -> ElicitationAnswer | None:
        """What hooks answer in place of the person, or of `answer`; None where they leave it."""
        event = ELICITATION if answer is None else ELICITATION_RESULT
        if not self._deps.hooks.hears(event):
            return None
        fields: dict[str, Any] = {"mcp_server_name": asked.server, "mode": asked.mode}
        if asked.elicitation_id:
            fields["elicitation_id"] = asked.elicitation_id
        if answer is not None:
            fields |= {"action": answer.action} | ({"content": answer.content} if answer.content is not None else {})
        else:
            fields |= {"message": asked.message}
            fields |= {"url": asked.url} if asked.mode == "url" else {"requested_schema": asked.schema or {}}
        said = await self._deps.hooks.ask(Occasion(event=event, fields=fields))
        if said.block is not None or said.stop is not None:
            return ElicitationAnswer(action="decline")
        return said.answered

    async def _put_elicitation(self, call_id: str, asked: Elicitation) -> ElicitationAnswer:
        about = {"url": asked.url} if asked.mode == "url" else {"requested_schema": asked.schema or {}}
        input_ = {"server": asked.server, "message": asked.message, **about}
        line = f"answer the MCP server {asked.server}"
        traits = Traits(access=Access.NETWORK, read_only=True, needs_person=True)
        call = Call(id=call_id, name=ELICITATION_QUESTION, input=input_, traits=traits, line=line)
        judged = self._deps.policy.judge(call)
        if judged.ruling is Ruling.DENY or self._deps.approver is None:
            told = f"The MCP server {asked.server} asked {asked.message!r:.200}, and {NOBODY_ANSWERS}. It was declined."
            self._recorder.emit(Noticed(text=told, level=Level.WARNING))
            return ElicitationAnswer(action="decline")
        question = msgspec.structs.replace(judged, reason=f"the MCP server {asked.server} asks: {asked.message}")
        answer = await self._put_in_turn(call, question)
        if answer.ruling is not Ruling.ALLOW:
            return ElicitationAnswer(action="decline")
        content = (answer.input or {}).get("content")
        content = content if isinstance(content, dict) else {}
        if missing := asked.list_missing(content):
            told = f"The MCP server {asked.server} needs {', '.join(missing)}, which nobody filled in. It was declined."
            self._recorder.emit(Noticed(text=told, level=Level.WARNING))
            return ElicitationAnswer(action="decline")
        return ElicitationAnswer(action="accept", content=content)

    def take_asked_s(self, call_id: str) -> float:
        """Returns the seconds that a call has waited for answers of a person, and forgets them."""
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
        """Whether a call with effects would run now without a question."""
        if call is None or call.traits.read_only or call.traits.needs_person:
            return False
        return self._deps.policy.judge(call).ruling is Ruling.ALLOW

    def note_mode(self) -> None:
        """Records and shows a permission mode that was switched since the last look."""
        if (modes := self._deps.modes) is not None and modes.mode != self._mode:
            before, self._mode = self._mode, str(modes.mode)
            self._recorder.record(ModeChanged(mode=self._mode))
            self._recorder.emit(ModeSwitched(before=before, mode=self._mode))

    def _finds_held(self, call: Call) -> bool:
        return self._deps.settings is not None and self._deps.settings.find_held(call) is not None

    async def _ask_about_settings(self, call: Call) -> Verdict:
        """Asks the person whether changed settings count, where these would decide this call differently. Concurrent calls ask once."""
        async with self._settings_turn:
            held = self._deps.settings.find_held(call) if self._deps.settings else None
            if held is not None:
                question = Verdict(ruling=Ruling.ASK, reason=CHANGED, cause=DenialCause.SETTINGS)
                answer = await self._put_in_turn(held.question, question)
                (held.agree if answer.ruling is Ruling.ALLOW else held.refuse)()
            return self._deps.policy.judge(call)

    async def _ask(self, call: Call, verdict: Verdict, said: HookVerdict, rewrite: Rewrite | None) -> Verdict:
        if not self._asks_in_turn:
            return await self._put(call, verdict, rewrite)
        async with self._turn:
            # An earlier answer may have covered this call, too; but not where a hook wants a person to be asked.
            verdict = self._weigh(self._deps.policy.judge(call), call, said)
            return await self._put(call, verdict, rewrite) if verdict.ruling is Ruling.ASK else verdict

    async def _put_in_turn(self, call: Call, verdict: Verdict) -> Verdict:
        async with self._turn if self._asks_in_turn else nullcontext():
            return await self._put(call, verdict)

    async def _put(self, call: Call, verdict: Verdict, rewrite: Rewrite | None = None) -> Verdict:
        if self._deps.approver is None:
            return verdict
        call = msgspec.structs.replace(self._prepare(call), grave=verdict.grave)
        if call.name not in {HOST_QUESTION, SETTINGS_QUESTION, ELICITATION_QUESTION} and self._deps.hooks.hears(
            REQUEST
        ):
            said = await self._hear_hooks(call)
            changed = _find_change(call, said)
            if changed is not None and rewrite is not None and not (call.traits.needs_person or verdict.grave):
                # The changed input is judged, too: this hook's ALLOW counts as much as that of any other hook.
                call = await rewrite(changed)
                verdict = self._deps.policy.judge_allowed(call)
                if verdict.ruling is Ruling.DENY:
                    return verdict
                call = msgspec.structs.replace(self._prepare(call), grave=verdict.grave)
                answer = self._take_answer(call, verdict, said) if verdict.ruling is Ruling.ALLOW else None
            else:
                # A call that has begun keeps its input.
                answer = None if changed is not None and rewrite is None else self._take_answer(call, verdict, said)
            if answer is not None:
                return answer
        self._notify(call)
        # Nothing is awaited between the event and the question, so a consumer of events knows that the approver is being asked.
        self._recorder.emit(PermissionAsked(tool_use_id=call.id, name=call.name, reason=verdict.reason, line=call.line))
        answer = await self._deps.approver.approve(call, verdict.reason)
        if not isinstance(answer, Verdict):
            raise ApproverError(
                f"approver: approve() returned {answer!r:.60} for {call.name}; it must return a Verdict, "
                "such as Verdict(ruling=Ruling.ALLOW)"
            )
        if answer.ruling is Ruling.ALLOW:
            self._take_over(answer)
        else:
            cause = answer.cause or DenialCause.PERSON
            answer = msgspec.structs.replace(answer, reason=answer.reason or PERSON_SAID_NO, cause=cause)
        # The answer is about the file that was judged, even if its name leads to another one later.
        return msgspec.structs.replace(answer, judged=verdict.judged, by_person=True)

    async def _hear_hooks(self, call: Call) -> HookVerdict:
        suggestions = [suggest_change(offer) for offer in call.offers if offer.rules or offer.mode]
        fields = call_fields(call, self._folder) | ({"permission_suggestions": suggestions} if suggestions else {})
        said = await self._deps.hooks.ask(Occasion(event=REQUEST, fields=fields, call=call))
        if said.stop is not None:
            return msgspec.structs.replace(said, ruling=HookRuling.DENY, reason=said.stop, interrupt=True)
        return said

    def _take_answer(self, call: Call, verdict: Verdict, said: HookVerdict) -> Verdict | None:
        """The verdict of PermissionRequest hooks, which may answer for the person; None where they do not, or where the call cannot be undone."""
        if said.ruling is HookRuling.DENY:
            self.interrupted_by = self.interrupted_by or (said.reason or "a hook said no" if said.interrupt else None)
            return deny_for_hook(said.reason)
        if said.ruling is not HookRuling.ALLOW or verdict.grave or (call.traits.needs_person and said.input is None):
            return None
        input_ = said.input if call.traits.needs_person else None
        answer = Verdict(ruling=Ruling.ALLOW, by=Decider.HOOK, input=input_, judged=verdict.judged)
        for change in said.permissions:
            answer = self._take_change(answer, change)
        self._take_over(answer)
        return answer

    def _take_change(self, answer: Verdict, change: dict[str, Any]) -> Verdict:
        if (taken := take_change(answer, change)) is not None:
            return taken
        told = f"A PermissionRequest hook asks for a change that hooks cannot make: {change!r:.200}"
        self._recorder.emit(Noticed(text=told, level=Level.WARNING))
        return answer

    def _notify(self, call: Call) -> None:
        if self._deps.hooks.hears(NOTIFICATION):
            fields = {
                "message": f"Permission is needed: {call.line}",
                "title": "Permission needed",
                "notification_type": "permission_prompt",
            }
            self._background.start(self._deps.hooks.ask(Occasion(event=NOTIFICATION, fields=fields)))

    def _prepare(self, call: Call) -> Call:
        """The call with offers for a longer yes; they are planned only when somebody is asked."""
        return self._deps.grants.prepare(call) if self._deps.grants else call

    def _take_over(self, answer: Verdict) -> None:
        """Applies what an allowing verdict says beyond this call: a mode, and rules."""
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
            cause=verdict.cause,
            unasked=verdict.unasked,
        )
        self._recorder.record(record_denial(denial))
        self._denials.append(denial)
        self._recorder.emit(
            CallDenied(
                tool_use_id=call.id,
                name=call.name,
                reason=verdict.reason,
                by=by,
                line=call.line,
                cause=verdict.cause,
                unasked=verdict.unasked,
            )
        )


def deny_for_hook(reason: str) -> Verdict:
    return Verdict(ruling=Ruling.DENY, reason=reason or "a hook said no", by=Decider.HOOK, cause=DenialCause.HOOK)


def _find_change(call: Call, said: HookVerdict) -> dict[str, Any] | None:
    """The changed input that an allowing hook gave; None where it changed nothing."""
    if said.ruling is not HookRuling.ALLOW or said.input is None:
        return None
    given = call.without_derived(said.input)
    return None if given == call.input else given
