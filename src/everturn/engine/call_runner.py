"""Runs one call of an answer: parses its input, asks hooks and the gate, writes the intent, runs the tool, and gives the result to hooks."""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from everturn.core.errors import ApproverError, InputFault
from everturn.core.events import CallBegan, CallProgressed, Level, Noticed, TaskBegan, TaskEnded
from everturn.core.received_json import INVALID_JSON, is_invalid, parse_input
from everturn.core.records import CallIntended, ResultSpilled
from everturn.engine import wording
from everturn.engine.call_results import add_note, describe
from everturn.engine.call_round import CallRound, CallSlot, DeferredError, Refusal
from everturn.engine.crew import Crew
from everturn.engine.deps import Config, Deps
from everturn.engine.gate import Gate
from everturn.engine.hook_calls import CWD, POST_FAILURE, POST_TOOL, PRE_TOOL, ask_after, ask_before, list_told
from everturn.engine.recorder import Recorder
from everturn.ports.abort import AbortedError, AbortSignal
from everturn.ports.ask import Ask
from everturn.ports.files import FileStates
from everturn.ports.hooks import NOTHING_SAID, HookRuling, HookVerdict, Occasion
from everturn.ports.policy import Call, Ruling, Verdict
from everturn.ports.resources import Resources
from everturn.ports.tasks import Tasks
from everturn.ports.tool import Inquire, Inquiry, Notepad, PatchHunk, Tool, ToolContext, ToolResult


class CallRunner:
    """Runs single calls of one answer. When a call runs is decided by the executor."""

    def __init__(
        self,
        round_: CallRound,
        *,
        deps: Deps,
        config: Config,
        recorder: Recorder,
        gate: Gate,
        signal: AbortSignal,
        files: FileStates,
        notepad: Notepad,
        tools: tuple[Tool, ...],
        deferred: Collection[str],
        ask: Ask | None,
        tasks: Tasks,
        background: Crew,
        running: dict[str, None],
        resources: Resources,
    ) -> None:
        """`deferred`: names of tools that ToolSearch would find. `background`: runs hooks that are not awaited.

        `running`: ids of the calls that run now, those of other answers included.
        """
        self._round = round_
        self._deps = deps
        self._config = config
        self._recorder = recorder
        self._gate = gate
        self._signal = signal
        self._files = files
        self._notepad = notepad
        self._tools = {tool.name: tool for tool in tools}
        self._deferred = deferred
        self._ask = ask
        self._tasks = tasks
        self._background = background
        self._running = running
        self._resources = resources

    def prepare(self, slot: CallSlot) -> None:
        use = slot.use
        if is_invalid(use):
            parse_input(msgspec.json.decode(use.input)[INVALID_JSON])
            raise InputFault("The input could not be read.")
        tool = self._tools.get(use.name)
        if tool is None and use.name in self._deferred:
            raise Refusal(f"{use.name} is not listed yet: call ToolSearch with the query `select:{use.name}` first.")
        if tool is None:
            raise Refusal(f"There is no tool named {use.name}. The tools are: {', '.join(self._tools)}.")
        slot.tool = tool
        input_ = tool.settle(parse_input(bytes(use.input).decode()), self._config.folder)
        self._take_input(slot, input_, tool.parse(input_))

    def _take_input(self, slot: CallSlot, input_: dict[str, Any], parsed: Any) -> Call:
        tool, use = slot.tool, slot.use
        if tool is None:
            raise Refusal(wording.CALL_NOT_RUN)
        slot.parsed = parsed
        slot.call = Call(
            id=use.id,
            name=use.name,
            input=input_,
            traits=tool.traits(parsed),
            line=tool.line(parsed),
            derived=tool.derive(parsed),
        )
        return slot.call

    async def run(self, slot: CallSlot) -> ToolResult:
        # Counted before it is judged: a model that keeps asking for a denied call must reach the limit, too.
        self._round.claimed += 1
        if not self._deps.ledger.claim_call() or self._signal.raised or self._round.fault is not None:
            raise Refusal(wording.CALL_NOT_RUN)
        if slot.refusal is not None:
            raise Refusal(slot.refusal)
        tool, call = slot.tool, slot.call
        if tool is None or call is None:
            raise Refusal(wording.CALL_NOT_RUN)
        if self._round.said_no and not (call.traits.read_only or call.traits.needs_person):
            # The model planned this call to follow the refused one, so it may no longer be wanted.
            raise Refusal(wording.CALL_AFTER_NO)
        try:
            said = await self._ask_before(slot, call)
            call = slot.call or call
            # A question that the person has seen counts as an effect: a broken stream must not make it come again.
            slot.running = call.traits.needs_person
            verdict = await self._gate.admit(
                call,
                self._signal,
                partial(self._check, slot),
                said=said,
                rewrite=partial(self._change_input, slot, call),
            )
            call = slot.call or call
        except AbortedError:
            raise Refusal(wording.CALL_NOT_RUN) from None
        self._round.stopped_by = self._round.stopped_by or self._gate.interrupted_by
        if verdict.ruling is not Ruling.ALLOW:
            self._round.said_no = self._round.said_no or verdict.by_person
            raise Refusal(wording.call_denied(verdict.reason, verdict.advice))
        input_ = msgspec.Raw(msgspec.json.encode(call.input)) if slot.rewritten else slot.use.input
        if verdict.input is not None:
            given = call.without_derived(verdict.input)
            slot.input_changed = given != call.input
            call = self._take_input(slot, given, tool.parse_approved(given))
            input_ = msgspec.Raw(msgspec.json.encode(given))
            if slot.input_changed and not call.traits.needs_person:
                verdict = self._gate.judge_changed(call, verdict)
                if verdict.ruling is not Ruling.ALLOW:
                    raise Refusal(wording.call_denied(verdict.reason, verdict.advice))
        if self._signal.raised:
            raise Refusal(wording.CALL_NOT_RUN)
        slot.running = True
        if not call.traits.read_only:
            self._recorder.record(CallIntended(tool_use_id=call.id, name=call.name, input=input_))
            if not slot.announced or slot.input_changed or slot.rewritten:
                await self._announce(slot)
            if self._signal.raised:
                raise Refusal(wording.CALL_NOT_RUN)
        slot.began = True
        self._recorder.emit(CallBegan(tool_use_id=call.id, name=call.name, line=call.line, derived=call.derived))
        context = self._context(slot, call, verdict)
        began_s, place = self._deps.clock.elapsed(), self._notepad.notes.shell_folder
        self._running[call.id] = None
        try:
            result = await tool.run(slot.parsed, context)
            self._take_context(slot, result)
        except Exception as error:
            if not isinstance(error, ApproverError):
                failed = ToolResult(content=describe(error), is_error=True)
                await self._ask_after(slot, call, failed, self._deps.clock.elapsed() - began_s)
            raise
        finally:
            self._running.pop(call.id, None)
        if context.hiding.count:
            self._recorder.note_hidden(f"the result of {call.line}")
        self._gate.note_mode()
        self._tell_tasks()
        ran_s = self._deps.clock.elapsed() - began_s
        await self._tell_folder(place)
        noted = await self._deps.hooks.post_tool(call, result)
        self._round.stopped_by = self._round.stopped_by or noted.stop
        return add_note(await self._ask_after(slot, call, result, ran_s), noted.note)

    def _take_context(self, slot: CallSlot, result: ToolResult) -> None:
        """Takes over what the result changes; a permission mode counts at once. Raises `OptionError` for an unknown mode."""
        if result.context is None:
            return
        if result.context.mode and self._deps.modes is not None:
            self._deps.modes.switch(result.context.mode)
        slot.context = result.context

    async def _tell_folder(self, before: str) -> None:
        """Asks CwdChanged hooks, if the call changed the shell's folder."""
        now, project = self._notepad.notes.shell_folder, self._config.folder
        if now == before or not self._deps.hooks.hears(CWD):
            return
        fields = {"old_cwd": before or project, "new_cwd": now or project}
        with suppress(AbortedError):
            said = await self._signal.guard(self._deps.hooks.ask(Occasion(event=CWD, fields=fields)))
            self._round.stopped_by = self._round.stopped_by or said.stop

    async def _ask_before(self, slot: CallSlot, call: Call) -> HookVerdict:
        """Raises `Refusal` where PreToolUse hooks say no, `AbortedError`."""
        if not self._deps.hooks.hears(PRE_TOOL):
            return NOTHING_SAID
        said = await self._signal.guard(ask_before(self._deps.hooks, call, self._config.folder, self._ask))
        slot.told += list_told(PRE_TOOL, said, call.line)
        self._round.stopped_by = self._round.stopped_by or said.stop
        if said.ruling is HookRuling.DENY:
            raise Refusal(self._gate.refuse(call, said.reason))
        if said.stop is not None:
            raise Refusal(wording.CALL_STOPPED_BY_HOOK)
        if said.ruling is HookRuling.DEFER:
            await self._defer(slot)
        if said.input is not None and (given := call.without_derived(said.input)) != call.input:
            await self._change_input(slot, call, given)
        return said

    async def _defer(self, slot: CallSlot) -> None:
        """Puts the call off, if there is no approver and it is the only call of the answer; the latter is known when the answer is complete."""
        await self._signal.guard(self._round.all_known.wait())
        if len(self._round.slots) == 1 and self._deps.approver is None:
            raise DeferredError
        why = "a person can be asked" if self._deps.approver is not None else "the answer has other calls, too"
        told = f"A PreToolUse hook defers {slot.use.name}, which is not possible: {why}. The rules and the mode decide."
        self._recorder.emit(Noticed(text=told, level=Level.WARNING))

    async def _change_input(self, slot: CallSlot, call: Call, input_: dict[str, Any]) -> Call:
        """Replaces the whole input by that of a hook. The new input is judged like any other."""
        tool = slot.tool
        if tool is None:
            raise Refusal(wording.CALL_NOT_RUN)
        try:
            if call.traits.needs_person:
                changed = self._take_input(slot, input_, tool.parse_approved(input_))
            else:
                input_ = tool.settle(input_, self._config.folder)
                changed = self._take_input(slot, input_, tool.parse(input_))
        except Exception as error:
            raise Refusal(wording.hook_wrong_input(slot.use.name, describe(error))) from error
        slot.rewritten = True
        if call.traits.concurrent and not changed.traits.concurrent:
            # It was started together with others; the calls before it must end first.
            before = [
                each.task for each in self._round.slots[: slot.index] if each.task is not None and not each.task.done()
            ]
            if before:
                await asyncio.wait(before)
        return changed

    async def _ask_after(self, slot: CallSlot, call: Call, result: ToolResult, duration_s: float) -> ToolResult:
        """Asks PostToolUse or PostToolUseFailure hooks. They are not awaited once the query is aborted."""
        hooks = self._deps.hooks
        if not hooks.hears(POST_FAILURE if result.is_error else POST_TOOL):
            return result
        interrupted = self._signal.raised
        asking = ask_after(
            hooks,
            call,
            self._config.folder,
            self._ask,
            result=result,
            duration_s=duration_s,
            interrupted=interrupted,
        )
        if interrupted:
            self._background.start(asking)
            return result
        try:
            said = await self._signal.guard(asking)
        except AbortedError:
            return result
        event = POST_FAILURE if result.is_error else POST_TOOL
        slot.told += list_told(event, said, call.line)
        self._round.stopped_by = self._round.stopped_by or said.stop
        return result if said.output is None else msgspec.structs.replace(result, content=said.output)

    async def _check(self, slot: CallSlot, verdict: Verdict) -> Sequence[PatchHunk]:
        """What would become of a file. Raises where the call cannot work, so that no person is asked about it."""
        if slot.tool is None or (call := slot.call) is None:
            return ()
        return await slot.tool.check(slot.parsed, self._context(slot, call, verdict))

    async def _announce(self, slot: CallSlot) -> None:
        """Writes the intents of this call and of the calls known to follow it, with one flush of the disk for all of them.

        No person is asked ahead of time: each call is judged again when it begins.
        """
        following = self._round.slots[self._round.slots.index(slot) + 1 :]
        ahead = [each for each in following if each.may_be_announced and self._gate.foresees(each.call)]
        for each in ahead:
            use = each.use
            self._recorder.record(CallIntended(tool_use_id=use.id, name=use.name, input=use.input, ahead=True))
        await self._recorder.sync()
        for each in ahead:
            each.announced = True

    def _tell_tasks(self) -> None:
        for report in self._tasks.take_began():
            self._recorder.emit(
                TaskBegan(
                    task_id=report.id,
                    tool_use_id=report.tool_use_id,
                    kind=report.kind,
                    description=report.description,
                )
            )
        for report in self._tasks.take_told():
            self._recorder.emit(
                TaskEnded(
                    task_id=report.id,
                    tool_use_id=report.tool_use_id,
                    status=report.status,
                    summary=f"{report.description}: {report.summary}",
                    output_path=report.output_path,
                )
            )

    def _context(self, slot: CallSlot, call: Call, verdict: Verdict) -> ToolContext:
        return ToolContext(
            folder=self._config.folder,
            tool_use_id=call.id,
            abort=self._signal,
            files=self._files,
            progress=lambda text: self._recorder.emit(CallProgressed(tool_use_id=call.id, text=text)),
            abort_grace_s=self._config.limits.abort_grace_s,
            ask=self._ask,
            tasks=self._tasks,
            notepad=self._notepad,
            resources=self._resources,
            tools=tuple(self._tools.values()),
            list_running=lambda: tuple(self._running),
            modes=self._deps.modes,
            inquire=self._inquire_for(call) if self._deps.approver else None,
            elicit=lambda asked: self._gate.elicit(call.id, asked, self._signal),
            traits=call.traits,
            judged=None if slot.input_changed else verdict.judged,
            holding=verdict.holding,
            input_changed=slot.input_changed,
            added=self._deps.list_added(),
            hiding=self._recorder.make_hiding(),
            note_output=lambda path, size: self._recorder.record(
                ResultSpilled(tool_use_id=call.id, path=path, characters=size)
            ),
        )

    def _inquire_for(self, call: Call) -> Inquire:
        async def inquire(inquiry: Inquiry) -> str | None:
            why_not = await self._gate.inquire(call.id, inquiry, self._signal)
            # A question about, for example, a host that the call wants to reach is not a question about the call.
            self._round.said_no = self._round.said_no or (why_not is not None and inquiry.name == call.name)
            return why_not

        return inquire
