"""Runs the calls of one response: readers together, writers alone, each with exactly one result, in order."""

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Any

import msgspec

from everturn.core.commands import DENIED
from everturn.core.errors import ApproverError, EverturnError, InputFault, ToolFault
from everturn.core.events import CallBegan, CallEnded, CallProgressed, ContextChanged, TaskBegan, TaskEnded
from everturn.core.marks import tool_error
from everturn.core.messages import Block, Kind, Message, ToolUse, result_block
from everturn.core.records import CallIntended, ResultSpilled
from everturn.core.stream import INVALID_JSON, is_invalid, parse_input
from everturn.engine import wording
from everturn.engine.crew import Crew
from everturn.engine.deps import Config, Deps
from everturn.engine.gate import Gate
from everturn.engine.recorder import Recorder
from everturn.ports.abort import AbortedError, AbortSignal
from everturn.ports.ask import Ask
from everturn.ports.files import FileStates
from everturn.ports.model import ModelCard
from everturn.ports.notes import Notepad
from everturn.ports.policy import Call, Ruling, Verdict
from everturn.ports.tasks import Tasks
from everturn.ports.tool import Inquire, Inquiry, Tool, ToolContext, ToolResult


class Refusal(Exception):
    """The call cannot run; the text is its error result."""


class _Slot:
    """One call from its arrival to its result."""

    def __init__(self, use: ToolUse, index: int) -> None:
        self.use = use
        self.index = index
        self.tool: Tool | None = None
        self.parsed: Any = None
        self.call: Call | None = None
        self.refusal: str | None = None
        self.input_changed = False
        self.running = False
        self.began = False
        """Its `tool_start` was shown."""
        self.announced = False
        """Its intent is on the disk, written with that of a call before it."""
        self.result: Block | None = None
        self.files: tuple[str, ...] = ()
        """Whose content the result shows."""
        self.task: asyncio.Task[None] | None = None

    @property
    def concurrent(self) -> bool:
        return self.call is None or self.call.traits.concurrent

    @property
    def has_effects(self) -> bool:
        return self.running and self.call is not None and not self.call.traits.read_only

    @property
    def may_be_announced(self) -> bool:
        return not (self.running or self.announced or self.refusal is not None or self.result is not None)


class Executor:
    """`add` calls as they are completed, then `finish`; where `eager`, a call starts when it is added.

    A safe call may join running safe calls; any other waits for all before it and holds back all after it.
    """

    def __init__(
        self,
        *,
        deps: Deps,
        config: Config,
        recorder: Recorder,
        gate: Gate,
        signal: AbortSignal,
        files: FileStates,
        tools: tuple[Tool, ...],
        crew: Crew,
        eager: bool,
        window: int = ModelCard(id="").window,
        ask: Ask | None = None,
        tasks: Tasks | None = None,
        deferred: Collection[str] = (),
    ) -> None:
        self._deps = deps
        self._config = config
        self._recorder = recorder
        self._gate = gate
        self._signal = signal
        self._known_files = files
        self._files = files.fork()
        self._notepad = Notepad(recorder.notes)
        self._tools = {tool.name: tool for tool in tools}
        self._deferred = deferred
        self._crew = crew
        self._eager = eager
        self._window = window
        self._ask = ask
        self._tasks = tasks or Tasks()
        self._slots: list[_Slot] = []
        self._ids: set[str] = set()
        self._scheduled = 0
        self._claimed = 0
        self._noted = 0
        self._group: list[asyncio.Task[None]] = []
        self._barrier: asyncio.Task[None] | None = None
        self._places = asyncio.Semaphore(config.limits.tool_concurrency)
        self._waiter: asyncio.Future[None] | None = None
        """Of whoever waits for the last call."""
        self._said_no = False
        """The person has refused a call of this response."""
        self.stopped_by: str | None = None
        """What a post-tool hook said when it forbade going on."""
        self.fault: ApproverError | None = None
        """Nobody could be asked, by a mistake of whoever started the query: it must not go on."""
        self._message_id = ""

    @property
    def message_id(self) -> str:
        """Of the message that will carry the results; each is told under it when its call ends."""
        if not self._message_id:
            self._message_id = self._deps.ids.new()
        return self._message_id

    @property
    def has_effects(self) -> bool:
        """A call that is not read-only has started: the response that asked for it must be kept."""
        return any(slot.has_effects for slot in self._slots)

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        return tuple(slot.use for slot in self._slots)

    def has(self, use: ToolUse) -> bool:
        return use.id in self._ids

    def add(self, use: ToolUse) -> None:
        self._ids.add(use.id)
        slot = _Slot(use, len(self._slots))
        try:
            self._prepare(slot)
        except Exception as error:  # noqa: BLE001 (a tool that raises never ends the loop)
            slot.refusal = describe(error)
        self._slots.append(slot)
        if self._eager:
            self._schedule()

    async def finish(self) -> list[Block]:
        """Waits for all calls; on abort they get a grace, then they are cancelled. Every call has a result then."""
        self._schedule()
        tasks = {slot.task for slot in self._slots if slot.task is not None and not slot.task.done()}
        try:
            await self._wait(tasks)
        except BaseException:
            await self._cancel(tasks)
            raise
        for slot in self._slots:
            if slot.result is None:
                failed = failure(wording.CALL_INTERRUPTED)
                self._settle(slot, failed, encode_result(slot.use, failed), 0.0, wording.CALL_INTERRUPTED)
        await self._fit()
        self._known_files.adopt(self._files)
        self._recorder.keep_notes(self._notepad.notes)
        results = [slot.result for slot in self._slots if slot.result is not None]
        for use, block in zip(self.uses[self._noted :], results[self._noted :], strict=True):
            self._deps.ledger.note_call(use.name, bytes(use.input), block.raw.replace(use.id.encode(), b""))
        self._noted = len(results)
        return results

    async def _fit(self) -> None:
        """Before the results enter the transcript, the context pipeline has its say on their size."""
        slots = self._slots[self._noted :]
        blocks = tuple(slot.result for slot in slots if slot.result is not None)
        tool_limits = {slot.use.id: slot.tool.result_limit for slot in slots if slot.tool is not None}
        fitted = await self._deps.pipeline.fit_results(
            blocks, tool_limits, limits=self._config.limits, window=self._window
        )
        shown = {slot.use.id: slot.files for slot in slots}
        for record in fitted.spilled:
            self._recorder.record(record)
            for path in shown.get(record.tool_use_id, ()):
                self._files.note_cut(path)
        if fitted.change is not None:
            self._recorder.emit(ContextChanged(**msgspec.structs.asdict(fitted.change)))
        for slot, block in zip(slots, fitted.blocks, strict=True):
            slot.result = block

    def _hide_credentials(self, slot: _Slot, block: Block) -> Block:
        """Before anybody sees it. What is too large goes into a file later, where our credentials have no place either."""
        made = Message(id="", role="user", kind=Kind.RESULTS, blocks=(block,))
        where = f"the result of {slot.call.line if slot.call else slot.use.name}"
        [hidden] = self._recorder.hide_credentials(made, where).blocks
        return hidden

    async def discard(self) -> None:
        """Cancels what runs and drops all results. Never called once a call has effects."""
        await self._cancel({slot.task for slot in self._slots if slot.task is not None})
        self._slots.clear()
        self._ids.clear()
        self._deps.ledger.release_calls(self._claimed)
        self._claimed = 0

    def _prepare(self, slot: _Slot) -> None:
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
        input_ = settle(tool, parse_input(bytes(use.input).decode()), self._config.folder)
        self._take_input(slot, input_, tool.parse(input_))

    def _take_input(self, slot: _Slot, input_: dict[str, Any], parsed: Any) -> Call:
        tool, use = slot.tool, slot.use
        if tool is None:
            raise Refusal(wording.CALL_NOT_RUN)
        slot.parsed = parsed
        slot.call = Call(id=use.id, name=use.name, input=input_, traits=tool.traits(parsed), line=tool.line(parsed))
        return slot.call

    def _schedule(self) -> None:
        for slot in self._slots[self._scheduled :]:
            if slot.concurrent:
                before = [self._barrier] if self._barrier else []
                slot.task = self._crew.start(self._run(slot, before))
                self._group.append(slot.task)
            else:
                before = [*self._group, self._barrier] if self._barrier else list(self._group)
                slot.task = self._barrier = self._crew.start(self._run(slot, before))
                self._group = []
        self._scheduled = len(self._slots)

    async def _run(self, slot: _Slot, before: list[asyncio.Task[None]]) -> None:
        if before:
            await asyncio.wait(before)
        async with self._places:
            started = self._deps.clock.elapsed()
            try:
                result = await self._perform(slot)
                block = encode_result(slot.use, result)
                line = describe_done(slot.tool, result)
            except Exception as error:  # noqa: BLE001 (a tool that raises never ends the loop)
                if isinstance(error, ApproverError):
                    self.fault, error = self.fault or error, Refusal(wording.CALL_NOT_RUN)
                line = describe(error)
                result = failure(line)
                block = encode_result(slot.use, result)
            worked_s = self._deps.clock.elapsed() - started - self._gate.take_asked_s(slot.use.id)
            self._settle(slot, result, block, worked_s, line)

    async def _perform(self, slot: _Slot) -> ToolResult:
        # Counted before it is judged: a model that asks for ever for what it may not have must end, too.
        self._claimed += 1
        if not self._deps.ledger.claim_call() or self._signal.raised or self.fault is not None:
            raise Refusal(wording.CALL_NOT_RUN)
        if slot.refusal is not None:
            raise Refusal(slot.refusal)
        tool, call = slot.tool, slot.call
        if tool is None or call is None:
            raise Refusal(wording.CALL_NOT_RUN)
        if self._said_no and not (call.traits.read_only or call.traits.needs_person):
            # What the model planned to do after the call that was refused may no longer be wanted.
            raise Refusal(wording.CALL_AFTER_NO)
        # A question that the person has seen is an effect already: it must not be asked again because a stream broke.
        slot.running = call.traits.needs_person
        try:
            verdict = await self._gate.admit(call, self._signal, partial(self._check, slot, call))
        except AbortedError:
            raise Refusal(wording.CALL_NOT_RUN) from None
        if verdict.ruling is not Ruling.ALLOW:
            self._said_no = self._said_no or verdict.by_person
            raise Refusal(" ".join(filter(None, (f"{DENIED} {verdict.reason}.", verdict.advice))))
        input_ = slot.use.input
        if verdict.input is not None:
            slot.input_changed = verdict.input != call.input
            call = self._take_input(slot, verdict.input, parse_approved(tool, verdict.input))
            input_ = msgspec.Raw(msgspec.json.encode(verdict.input))
        if self._signal.raised:
            raise Refusal(wording.CALL_NOT_RUN)
        slot.running = True
        if not call.traits.read_only:
            self._recorder.record(CallIntended(tool_use_id=call.id, name=call.name, input=input_))
            if not slot.announced or slot.input_changed:
                await self._announce(slot)
            if self._signal.raised:
                raise Refusal(wording.CALL_NOT_RUN)
        slot.began = True
        self._recorder.emit(CallBegan(tool_use_id=call.id, name=call.name, line=call.line))
        context = self._context(slot, call, verdict)
        result = await tool.run(slot.parsed, context)
        if context.hiding.count:
            self._recorder.note_hidden(f"the result of {call.line}")
        self._gate.note_mode()
        self._tell_tasks()
        said = await self._deps.hooks.post_tool(call, result)
        self.stopped_by = self.stopped_by or said.stop
        return add_note(result, said.note)

    async def _check(self, slot: _Slot, call: Call, verdict: Verdict) -> None:
        """A call that cannot work is answered with the reason, and no person is bothered with it."""
        if (check := getattr(slot.tool, "check", None)) is not None:
            await check(slot.parsed, self._context(slot, call, verdict))

    async def _announce(self, slot: _Slot) -> None:
        """One flush for this call and for all that are known to follow it: they need not wait for the disk again.

        Nobody is asked ahead of time, and each is judged anew when its turn has come.
        """
        following = self._slots[self._slots.index(slot) + 1 :]
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

    def _context(self, slot: _Slot, call: Call, verdict: Verdict) -> ToolContext:
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
            modes=self._deps.modes,
            inquire=self._inquire_for(call) if self._deps.approver else None,
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
            # A question about something that the call has come to, such as a host, is not one about the call.
            self._said_no = self._said_no or (why_not is not None and inquiry.name == call.name)
            return why_not

        return inquire

    def _settle(self, slot: _Slot, result: ToolResult, block: Block, duration_s: float, line: str) -> None:
        use = slot.use
        slot.result = block = self._hide_credentials(slot, block)
        slot.files = result.files
        self._recorder.emit(
            CallEnded(
                tool_use_id=use.id,
                name=use.name,
                is_error=result.is_error,
                duration_s=duration_s,
                shown=result.shown,
                line=line.partition("\n")[0],
                began=slot.began,
                call_line=slot.call.line if slot.call else "",
                block=block,
                message_id=self.message_id,
                index=slot.index,
            )
        )
        self._wake()

    async def _wait(self, tasks: set[asyncio.Task[None]]) -> None:
        if not tasks:
            return
        try:
            await self._signal.guard(self._wait_settled(tasks))
        except AbortedError:
            _, pending = await asyncio.wait(tasks, timeout=self._config.limits.abort_grace_s)
            await self._cancel(pending)

    async def _wait_settled(self, tasks: set[asyncio.Task[None]]) -> None:
        """The last call wakes us itself: by way of its task it would take two more rounds of the event loop."""
        self._waiter = asyncio.get_running_loop().create_future()
        for task in tasks:
            # One that is cancelled before it began settles nothing.
            task.add_done_callback(self._wake)
        await self._waiter

    def _wake(self, _: object = None) -> None:
        if self._waiter is None or self._waiter.done():
            return
        if all(slot.result is not None or (slot.task is not None and slot.task.done()) for slot in self._slots):
            self._waiter.set_result(None)

    async def _cancel(self, tasks: set[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def settle(tool: Tool, input_: dict[str, Any], folder: str) -> dict[str, Any]:
    """As it is meant: hooks and policy judge the same input that runs. Raises `InputFault`."""
    if (own := getattr(tool, "settle", None)) is not None:
        settled: dict[str, Any] = own(input_, folder)
        return settled
    from everturn.core.inputs import settle_input

    return settle_input(tool.schema, input_)


def parse_approved(tool: Tool, input_: dict[str, Any]) -> Any:
    """Some fields are the person's alone: a tool that has such reads what comes from the model in another way."""
    parse = getattr(tool, "parse_approved", tool.parse)
    return parse(input_)


def describe(error: Exception) -> str:
    """Our own errors speak for themselves; of any other the kind is told, too."""
    own = isinstance(error, Refusal | EverturnError)
    return str(error) if own else f"{type(error).__name__}: {error}"


def describe_done(tool: Tool | None, result: ToolResult) -> str:
    """Not every tool tells it. One that cannot has done its work all the same."""
    done = getattr(tool, "done", None)
    try:
        return str(done(result)) if done else ""
    except Exception:  # noqa: BLE001 (a line for people is worth no failure)
        return ""


def failure(text: str) -> ToolResult:
    return ToolResult(content=tool_error(text), is_error=True)


def encode_result(use: ToolUse, result: ToolResult) -> Block:
    """Raises where the content is nothing that the API takes: every later request would be refused."""
    content: Any = result.content
    parts = content if isinstance(content, list) else [content]
    fits = isinstance(content, str) or all(isinstance(part, dict) and part.get("type") for part in parts)
    if not fits:
        raise ToolFault(f"{use.name} returned content that is neither text nor a list of blocks.")
    return result_block(use.id, result.content, is_error=result.is_error)


def add_note(result: ToolResult, note: str) -> ToolResult:
    """A hook's note comes last."""
    content = result.content
    if note and isinstance(content, str):
        content = f"{content}\n{note}"
    elif note:
        content = [*content, {"type": "text", "text": note}]
    return msgspec.structs.replace(result, content=content or "(no output)")
