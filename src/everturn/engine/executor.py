"""Runs the calls of one response: readers together, writers alone, each with exactly one result, in order."""

import asyncio
from collections.abc import Collection

import msgspec

from everturn.core.errors import ApproverError
from everturn.core.events import CallEnded, ContextChanged
from everturn.core.messages import Block, Kind, Message, ToolUse
from everturn.engine import wording
from everturn.engine.call_results import describe, describe_done, encode_result, failure
from everturn.engine.call_round import CallRound, CallSlot, DeferredError, Refusal
from everturn.engine.call_runner import CallRunner
from everturn.engine.crew import Crew
from everturn.engine.deps import Config, Deps
from everturn.engine.gate import Gate
from everturn.engine.recorder import Recorder
from everturn.ports.abort import AbortedError, AbortSignal
from everturn.ports.ask import Ask
from everturn.ports.files import FileStates
from everturn.ports.model import ModelCard
from everturn.ports.policy import Call
from everturn.ports.resources import Resources
from everturn.ports.tasks import Tasks
from everturn.ports.tool import NewContext, Notepad, Tool, ToolResult


class Executor:
    """Runs the calls of one answer: `add` each when it is complete, then `finish`. If `eager`, a call starts when it is added.

    A concurrent call may join running concurrent calls. Any other waits for all calls before it and holds back all
    after it.
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
        background: Crew | None = None,
        running: dict[str, None] | None = None,
        resources: Resources | None = None,
    ) -> None:
        """`background`: runs hooks that are not awaited."""
        self._deps = deps
        self._config = config
        self._recorder = recorder
        self._gate = gate
        self._signal = signal
        self._known_files = files
        self._files = files.fork()
        self._notepad = Notepad(recorder.notes)
        self._crew = crew
        self._eager = eager
        self._window = window
        self._round = CallRound()
        self._slots = self._round.slots
        self._runner = CallRunner(
            self._round,
            deps=deps,
            config=config,
            recorder=recorder,
            gate=gate,
            signal=signal,
            files=self._files,
            notepad=self._notepad,
            tools=tools,
            deferred=deferred,
            ask=ask,
            tasks=tasks or Tasks(),
            background=background or crew,
            running={} if running is None else running,
            resources=resources or Resources(),
        )
        self._ids: set[str] = set()
        self._scheduled = 0
        self._noted = 0
        self._group: list[asyncio.Task[None]] = []
        self._barrier: asyncio.Task[None] | None = None
        self._places = asyncio.Semaphore(config.limits.tool_concurrency)
        self._waiter: asyncio.Future[None] | None = None
        """Set while `finish` waits for the last call."""
        self._message_id = ""

    @property
    def message_id(self) -> str:
        """Id of the message that will hold the results; the event of each call names it already."""
        if not self._message_id:
            self._message_id = self._deps.ids.new()
        return self._message_id

    @property
    def has_effects(self) -> bool:
        """A call that is not read-only has started: the response that asked for it must be kept."""
        return any(slot.has_effects for slot in self._slots)

    @property
    def deferral(self) -> ToolUse | None:
        """The call that a hook deferred; it is the only call of its answer."""
        return next((slot.use for slot in self._slots if slot.deferred), None)

    def take_told(self) -> list[str]:
        """Returns the texts of hooks about the calls, in the order of the calls, and forgets them."""
        told = [text for slot in self._slots for text in slot.told]
        for slot in self._slots:
            slot.told.clear()
        return told

    @property
    def stopped_by(self) -> str | None:
        """Reason of a hook that ended the query; None where there is none."""
        return self._round.stopped_by

    @property
    def fault(self) -> ApproverError | None:
        """Error in the approver that the caller gave: it ends the query."""
        return self._round.fault

    @property
    def contexts(self) -> tuple[NewContext, ...]:
        """Changes of model, mode and tools that the calls asked for, in their order."""
        return tuple(slot.context for slot in self._slots if slot.context is not None)

    @property
    def calls(self) -> tuple[tuple[ToolUse, Call | None], ...]:
        """Each call with what it became: a hook or a person may have replaced its input."""
        return tuple((slot.use, slot.call) for slot in self._slots)

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        return tuple(slot.use for slot in self._slots)

    def has(self, use: ToolUse) -> bool:
        return use.id in self._ids

    def add(self, use: ToolUse) -> None:
        self._ids.add(use.id)
        slot = CallSlot(use, len(self._slots))
        try:
            self._runner.prepare(slot)
        except Exception as error:  # noqa: BLE001 (a tool that raises never ends the loop)
            slot.refusal = describe(error)
        self._slots.append(slot)
        if self._eager:
            self._schedule()

    async def finish(self) -> list[Block]:
        """Waits for all calls and returns their results. On abort each gets some seconds to end; then it is cancelled, and its result says so."""
        self._schedule()
        self._round.all_known.set()
        tasks = {slot.task for slot in self._slots if slot.task is not None and not slot.task.done()}
        try:
            await self._wait(tasks)
        except BaseException:
            await self._cancel(tasks)
            raise
        for slot in self._slots:
            if slot.result is None and not slot.deferred:
                failed = failure(wording.CALL_INTERRUPTED)
                self._settle(slot, failed, encode_result(slot.use, failed), 0.0, wording.CALL_INTERRUPTED)
        await self._fit()
        self._known_files.adopt(self._files)
        self._recorder.keep_notes(self._notepad.notes)
        results = [slot.result for slot in self._slots if slot.result is not None]
        uses = [slot.use for slot in self._slots if slot.result is not None]
        for use, block in zip(uses[self._noted :], results[self._noted :], strict=True):
            self._deps.ledger.note_call(use.name, bytes(use.input), block.raw.replace(use.id.encode(), b""))
        self._noted = len(results)
        return results

    async def _fit(self) -> None:
        """Lets the context pipeline put results that are too large into files, before they enter the transcript."""
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
        for slot, block in zip([slot for slot in slots if slot.result is not None], fitted.blocks, strict=True):
            slot.result = block

    def _hide_credentials(self, slot: CallSlot, block: Block) -> Block:
        """Removes our credentials from a result before it is shown, kept, or put into a file."""
        made = Message(id="", role="user", kind=Kind.RESULTS, blocks=(block,))
        where = f"the result of {slot.call.line if slot.call else slot.use.name}"
        [hidden] = self._recorder.hide_credentials(made, where).blocks
        return hidden

    async def discard(self) -> None:
        """Cancels what runs and drops all results. Never called once a call has effects."""
        await self._cancel({slot.task for slot in self._slots if slot.task is not None})
        self._slots.clear()
        self._ids.clear()
        self._deps.ledger.release_calls(self._round.claimed)
        self._round.claimed = 0

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

    async def _run(self, slot: CallSlot, before: list[asyncio.Task[None]]) -> None:
        if before:
            await asyncio.wait(before)
        async with self._places:
            started = self._deps.clock.elapsed()
            try:
                result = await self._runner.run(slot)
                block = encode_result(slot.use, result)
                line = describe_done(slot.tool, result)
            except DeferredError:
                slot.deferred = True
                self._wake()
                return
            except Exception as error:  # noqa: BLE001 (a tool that raises never ends the loop)
                if isinstance(error, ApproverError):
                    self._round.fault, error = self._round.fault or error, Refusal(wording.CALL_NOT_RUN)
                line = describe(error)
                result = failure(line)
                block = encode_result(slot.use, result)
            worked_s = self._deps.clock.elapsed() - started - self._gate.take_asked_s(slot.use.id)
            self._settle(slot, result, block, worked_s, line)

    def _settle(self, slot: CallSlot, result: ToolResult, block: Block, duration_s: float, line: str) -> None:
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
        """Returns when every call is settled. The last call wakes us directly: waiting for its task would take two more rounds of the event loop."""
        self._waiter = asyncio.get_running_loop().create_future()
        for task in tasks:
            # A task that is cancelled before it begins settles nothing.
            task.add_done_callback(self._wake)
        await self._waiter

    def _wake(self, _: object = None) -> None:
        if self._waiter is None or self._waiter.done():
            return
        if all(
            slot.result is not None or slot.deferred or (slot.task is not None and slot.task.done())
            for slot in self._slots
        ):
            self._waiter.set_result(None)

    async def _cancel(self, tasks: set[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
