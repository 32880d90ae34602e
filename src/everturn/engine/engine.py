"""One conversation: owns the transcript, the totals, the denials and the abort signal; runs one query at a time."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, Self

import msgspec

from everturn.core.budget import Prices
from everturn.core.commands import MAIN, QueuedCommand
from everturn.core.contexts import Contexts
from everturn.core.errors import BusyError, ClosedError, OptionError
from everturn.core.events import (
    BlockBegan,
    BlockFinished,
    CallBegan,
    CallProgressed,
    Denial,
    Event,
    InputDelta,
    Level,
    MessageBegan,
    ModelSwitched,
    ModelUsage,
    Noticed,
    RequestStarted,
    TextDelta,
    ThinkingDelta,
    UserAdded,
)
from everturn.core.messages import Block, Kind, Message
from everturn.core.notes import Notes
from everturn.core.records import QueryBegan
from everturn.core.state import AbortCause, Guards
from everturn.core.tokens import Meter, estimate_bytes
from everturn.core.view import View
from everturn.core.window import WindowUse
from everturn.engine.commands import CommandQueue
from everturn.engine.context_watch import ContextWatch
from everturn.engine.crew import Crew
from everturn.engine.deps import AgentContext, Config, Deps, Prompting
from everturn.engine.found_tools import list_found
from everturn.engine.iteration import Iteration
from everturn.engine.open_calls import close_calls
from everturn.engine.outbox import Outbox
from everturn.engine.prompts import Prompt, prompt_blocks
from everturn.engine.query import run_query
from everturn.engine.recorder import Recorder
from everturn.engine.requests import Requests
from everturn.engine.restoring import decode_files, is_open, list_calls, plan_meter, plan_task_budget, takes_more
from everturn.engine.resulting import plan_result
from everturn.engine.state import State
from everturn.engine.taking_up import take_up
from everturn.engine.workshop import Workshop, build_workshop
from everturn.ports.abort import AbortedError, AbortSignal
from everturn.ports.context import Tracking
from everturn.ports.files import FileStates
from everturn.ports.ledger import Ledger
from everturn.ports.store import OpenQuery, Replay
from everturn.ports.tasks import Tasks

_LIGHT = frozenset(
    {TextDelta, ThinkingDelta, InputDelta, MessageBegan, BlockBegan, BlockFinished, CallBegan, CallProgressed}
)
"""Events that come in crowds, and with which nothing is spent."""
PINS_SHARE = 4
"""Of the window, one part in so many is what pinned notes may take together."""
A_MOMENT_S = 0.001
"""So that rounding cannot make a wait of nothing at all."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What a side question needs to fork from the present context with a warm cache."""

    messages: tuple[Message, ...]
    agent: AgentContext


class Engine:
    """`submit` a prompt and iterate its events; the last is exactly one `ResultEvent`. Close it when done."""

    def __init__(
        self, *, deps: Deps, config: Config, prompting: Prompting, agent: AgentContext, replay: Replay | None = None
    ) -> None:
        self._deps = deps
        self._config = config
        self._agent = agent
        self._fallbacks, self._task_budget = agent.fallbacks, agent.task_budget
        self._outbox: Outbox | None = None
        self._signal = AbortSignal()
        self._busy = False
        self._closed = False
        self._tracking = Tracking()
        self._meter: Meter | None = None
        self._background = Crew()
        self._denials: list[Denial] = []
        self._num_turns = 0
        self._notices: list[str] = []
        self._unpinned: list[str] = []
        """Notes that were taken back since the model heard last."""
        self._gone: tuple[str, ...] = ()
        """Files with large results that were not there when the session was resumed, until the model is told."""
        self._gone_scratch = replay.notes.scratch if replay else ""
        """The folder for temporary files that went with an earlier program, until the model is told."""
        self.files = FileStates(config.limits.file_states)
        self._recorder = Recorder(deps, self._emit, replay.messages if replay else (), self.files)
        self._queue = CommandQueue(self._recorder.record, self._emit)
        self._requests = Requests(deps, config, prompting)
        self._contexts = ContextWatch(deps, self._recorder, prompting, replay, model=lambda: self._agent.model)
        self._unfinished: OpenQuery | None = None
        self.tasks = Tasks()
        """What runs in the background; ends with the engine."""
        deps.ledger.watch(reached=self._ask_ledger, charged=self._recorder.note_charge_below)
        self.snapshot: Snapshot | None = None
        """Kept at each stop of the main thread."""
        if replay is not None:
            self._restore(replay)

    @property
    def session_id(self) -> str:
        return self._config.session_id

    @property
    def transcript(self) -> tuple[Message, ...]:
        """Whole, whatever was compacted."""
        return tuple(self._recorder.transcript)

    @property
    def model(self) -> str:
        return self._agent.model

    @property
    def total_usd(self) -> float:
        return self._deps.ledger.session_usd

    @property
    def usage_by_model(self) -> dict[str, ModelUsage]:
        return self._deps.ledger.models

    def price_lists(self, model: str) -> tuple[Prices, ...]:
        """What a model may be charged at: the usual prices, then those of fast mode where it has one."""
        card = self._deps.catalog.card(model)
        return (card.prices,) if card.fast_prices is None else (card.prices, card.fast_prices)

    @property
    def ledger(self) -> Ledger:
        """Its `child` is the ledger of an engine that works for this one."""
        return self._deps.ledger

    @property
    def denials(self) -> tuple[Denial, ...]:
        return tuple(self._denials)

    @property
    def notes(self) -> Notes:
        """The list of tasks, the approved plan, the tools that were found: kept with the session."""
        return self._recorder.notes

    @property
    def queued(self) -> tuple[QueuedCommand, ...]:
        """Commands that no tool round took: a frontend may submit them next."""
        return self._queue.waiting

    @property
    def interrupted(self) -> tuple[QueuedCommand, ...]:
        """Commands that the model had heard when the session was cut off; `resume_query` completes them."""
        return self._queue.interrupted

    @property
    def is_unfinished(self) -> bool:
        """The next word is the model's: `resume_query` can go on without a prompt."""
        return is_open(self._recorder.view, self._unfinished)

    def window(self) -> WindowUse:
        """What the next request would take of the model's window, and what it is made of."""
        from everturn.engine.windowing import measure_window

        view = self._deps.pipeline.project(self._recorder.view)
        self._requests.put_before(self._contexts.first)
        return measure_window(self._requests, self._agent, view, self._meter, self._config.limits)

    @property
    def told_before(self) -> tuple[Contexts, dict[str, bytes]]:
        """What stands before the messages: the contexts, and the tools by name as they are sent."""
        return self._contexts.first, self._requests.encode_tools(self._agent.tools)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def submit(self, prompt: Prompt) -> AsyncGenerator[Event]:
        """Raises `BusyError` while another prompt is at work, `OptionError` for a prompt that is empty or no content.

        Also `ClosedError` after `aclose`, and `ApproverError` where the approver answers with something that is no verdict.
        """
        return self._work(lambda: self._query(prompt_blocks(prompt)))

    def resume_query(self) -> AsyncGenerator[Event]:
        """Goes on where the last query was cut off, without a prompt. Raises `OptionError` where nothing is left open."""
        return self._work(self._go_on)

    def compact(self, instructions: str = "") -> AsyncGenerator[Event]:
        """Summarises the conversation now. The last event is a notice that says what came of it."""
        return self._work(lambda: self._compact(instructions))

    def abort(self, cause: AbortCause = AbortCause.USER) -> None:
        """Ends the query under way; does nothing when there is none."""
        if self._busy:
            self._signal.abort(cause)

    @property
    def interruption(self) -> AbortCause | None:
        """Why the last work was broken off, if it was."""
        return self._signal.cause

    def enqueue(self, text: str, *, address: str = MAIN) -> str:
        """Hands words to the query under way; they are added after its next tool round. Gives the command's id."""
        command = QueuedCommand(id=self._deps.ids.new(), text=text, address=address)
        self._queue.put(command)
        return command.id

    def take_queued(self, address: str = MAIN) -> list[QueuedCommand]:
        """Starts what still waits, for a frontend that submits it as the next prompt."""
        return self._queue.take(address)

    def pin(self, text: str) -> None:
        """A note that no compaction may lose; the model hears it with the next prompt. Raises `BusyError`, `OptionError`."""
        if not text.strip():
            raise OptionError("pin", "it is empty")
        pins = (*self.notes.pins, text.strip())
        taken = sum(estimate_bytes(len(pin.encode(errors="replace"))) for pin in pins)
        if taken > self._requests.card(self._agent).window // PINS_SHARE:
            raise OptionError("pin", "it is too long to be pinned; write it into a file, and pin the file's path")
        self._keep_pins(pins)

    def unpin(self, number: int) -> str:
        """The note, counted from 1, that is kept no longer. Raises `BusyError`, `OptionError`."""
        pins = self.notes.pins
        if not 1 <= number <= len(pins):
            raise OptionError("pin", f"there is no note {number} (there are {len(pins)})")
        self._keep_pins((*pins[: number - 1], *pins[number:]))
        self._unpinned.append(pins[number - 1])
        return pins[number - 1]

    def _keep_pins(self, pins: tuple[str, ...]) -> None:
        if self._busy:
            raise BusyError("The engine is at work; notes are pinned between two prompts.")
        self._recorder.keep_notes(msgspec.structs.replace(self.notes, pins=pins))

    def note(self, text: str) -> None:
        """Shown as a notice at the start of the next query."""
        self._notices.append(text)

    async def aclose(self) -> None:
        """Ends the query under way and what runs in the background, then lets go of journal and connection.

        Safe to call twice, also at once: the query's ending is on disk when it returns.
        """
        self._closed = True
        self._signal.abort(AbortCause.TERMINATED)
        if self._outbox is not None:
            await self._outbox.wait_closed()
        await self._background.end()
        await self.tasks.aclose()
        collapses, changes = self._deps.pipeline.take_news()
        for collapse in collapses:
            self._recorder.record(collapse)
        for change in changes:
            self._recorder.note_change(change)
        self._deps.ledger.close()
        self._deps.journal.close()
        await self._deps.model.aclose()

    async def _work(self, begin: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[Event]:
        """Runs it beside its consumer and yields what is emitted; a consumer that leaves cancels it."""
        with self._at_work() as outbox:
            task, events = asyncio.create_task(begin()), outbox.events
            task.add_done_callback(lambda _: outbox.close())
            try:
                while await outbox.wait():
                    while events:
                        yield events.popleft()
            finally:
                task.cancel()
                await asyncio.wait({task})
            task.result()

    @contextmanager
    def _at_work(self) -> Generator[Outbox]:
        """One thing at a time, each with its own signal and its own way out."""
        if self._closed:
            raise ClosedError("The engine is closed.")
        if self._busy:
            raise BusyError("The engine is at work on another prompt; abort it, or queue the words with `enqueue`.")
        self._busy = True
        self._signal = AbortSignal()
        self._outbox = Outbox()
        try:
            yield self._outbox
        finally:
            self._busy = False
            self._outbox = None

    async def _compact(self, instructions: str) -> None:
        self._deps.ledger.begin_query(self._config.limits, self._deps.clock.elapsed())
        self._requests.put_before(self._contexts.begin(goes_on=True))
        shop = self._workshop(self._deps.ids.new(), self._signal)
        iteration = Iteration(shop, self._state())
        try:
            prepared = await shop.signal.guard(iteration.compact(cause="manual", instructions=instructions))
        except AbortedError:
            iteration.notice("The compaction was interrupted; nothing changed.", Level.WARNING)
            return
        self._learn(iteration)
        said = f"Nothing was compacted: {prepared.problem}"
        if prepared.compacted and not prepared.problem:
            before, after = prepared.changes[0].tokens_before, prepared.changes[-1].tokens_after
            said = f"Compacted from about {before:,} to {after:,} tokens."
        iteration.notice(said)
        await self._recorder.sync(end=True)

    def _state(self, guards: Guards = Guards()) -> State:  # noqa: B008 (frozen)
        self._agent = list_found(self._agent, self._recorder.notes)
        return State(
            messages=View(self._recorder.view),
            tool_context=self._agent,
            guards=guards,
            compaction=self._tracking,
            meter=self._meter,
        )

    def _go_on(self) -> Coroutine[Any, Any, None]:
        if not self.is_unfinished:
            raise OptionError(
                "prompt", "there is nothing to go on with: the last answer is complete, so say what is next"
            )
        return self._query((), self._unfinished or OpenQuery())

    async def _query(self, blocks: tuple[Block, ...], unfinished: OpenQuery | None = None) -> None:
        """A prompt, or a query that was left unfinished."""
        clock, query_id, signal = self._deps.clock, self._deps.ids.new(), self._signal
        started_s, api_s = clock.elapsed(), self._recorder.api_s
        self._num_turns, denied_before = 0, len(self._denials)
        self._agent = msgspec.structs.replace(
            self._agent,
            fallbacks=tuple(model for model in self._fallbacks if model != self._agent.model),
            task_budget=plan_task_budget(self._task_budget, unfinished or OpenQuery()),
        )
        self._deps.ledger.begin_query(self._config.limits, started_s, unfinished.spent if unfinished else None)
        for call in list_calls(self._recorder.transcript, unfinished.began_with) if unfinished else ():
            self._deps.ledger.note_call(*call)
        contexts = self._contexts.begin(goes_on=unfinished is not None)
        self._requests.put_before(contexts)
        self._recorder.record(
            QueryBegan(
                query_id=query_id,
                at=clock.now(),
                source=self._agent.source,
                model=self._agent.model,
                mode=str(self._deps.modes.mode) if self._deps.modes else "",
                goes_on=unfinished is not None,
                plain=contexts == Contexts(),
            )
        )
        self._unfinished = None
        closed = self._open_query()
        shop, guards = self._workshop(query_id, signal), Guards()
        if unfinished is None:
            self._recorder.add_user(Kind.PROMPT, *blocks)
            self._attach_news(shop)
            shop.attachments.collect_finished()
        else:
            self._queue.take_up()
            guards = take_up(shop, unfinished, self._agent.address, closed=closed)
            if takes_more(self._recorder.view):
                self._attach_news(shop)
        last: list[Iteration] = []
        has_time_limit = self._deps.ledger.time_left(started_s) is not None
        timer = asyncio.create_task(self._watch_time(signal)) if has_time_limit else None
        try:
            terminated = await run_query(shop, self._state(guards), queue=self._queue, on_end=last.append)
        finally:
            if timer is not None:
                timer.cancel()
            if last:
                self._learn(last[0])
        self._emit(
            plan_result(
                terminated,
                last[0] if last else None,
                self._deps.ledger,
                duration_s=clock.elapsed() - started_s,
                api_duration_s=self._recorder.api_s - api_s,
                num_turns=self._num_turns,
                denials=self.denials,
                denied_before=denied_before,
                session_id=self.session_id,
            )
        )
        if self._outbox is not None:
            # Nothing is told after the result: what comes now waits for the next query.
            self._outbox.close()
        if last and last[0].fault is not None:
            raise last[0].fault

    def _attach_news(self, shop: Workshop) -> None:
        """What a query begins with and the model has not heard of yet."""
        shop.attachments.attach_gone(self._gone)
        shop.attachments.attach_pins(self._unpinned)
        self._unpinned.clear()
        self._gone = ()
        if self._gone_scratch:
            shop.attachments.attach_gone_scratch(self._gone_scratch)
            self._recorder.keep_notes(msgspec.structs.replace(self.notes, scratch=""))
            self._gone_scratch = ""
        self._contexts.attach_changes()
        shop.attachments.attach_hidden()

    def _workshop(self, query_id: str, signal: AbortSignal) -> Workshop:
        return build_workshop(
            deps=self._deps,
            config=self._config,
            query_id=query_id,
            requests=self._requests,
            recorder=self._recorder,
            signal=signal,
            queue=self._queue,
            files=self.files,
            tasks=self.tasks,
            denials=self._denials,
            background=self._background,
            keep_snapshot=self._keep_snapshot,
            turn=lambda: self._num_turns,
            contexts=self._contexts,
        )

    def _emit(self, event: Event) -> None:
        """Every event passes here, after its record: it is shown, then the ledger is checked."""
        if self._outbox is not None:
            self._outbox.put(event)
        if type(event) in _LIGHT:
            return
        if isinstance(event, UserAdded) and event.message.kind in {Kind.PROMPT, Kind.RESULTS}:
            self._num_turns += 1
        elif isinstance(event, ModelSwitched):
            # Noted at once: an abort, or a consumer who leaves, must not undo what the journal says.
            self._agent = msgspec.structs.replace(self._agent, model=event.model)
        elif isinstance(event, RequestStarted):
            self._deps.ledger.note_turn(event.turn)
        self._ask_ledger()

    def _ask_ledger(self) -> None:
        if self._busy:
            self._check_limits()

    def _check_limits(self) -> None:
        if not self._signal.raised and (limit := self._deps.ledger.tripped(self._deps.clock.elapsed())) is not None:
            self._signal.trip(*limit)

    async def _watch_time(self, signal: AbortSignal) -> None:
        clock, ledger = self._deps.clock, self._deps.ledger
        while (left := ledger.time_left(clock.elapsed())) is not None and left > 0:
            await clock.sleep(max(left, A_MOMENT_S))
        if self._signal is signal:
            self._check_limits()

    def _open_query(self) -> bool:
        """A transcript that was left open (a crash, a closed iterator) is mended before the prompt follows.

        Whether there were calls without a result.
        """
        for text in self._notices:
            self._emit(Noticed(text=text, level=Level.WARNING))
        self._notices.clear()
        closed = close_calls(self._recorder)
        self._num_turns = 0
        return closed

    def _restore(self, replay: Replay) -> None:
        recorder, pipeline = self._recorder, self._deps.pipeline
        if model := replay.model or replay.asked_model:
            self._agent = msgspec.structs.replace(self._agent, model=model)
        recorder.notes = replay.notes
        self._denials += replay.denials
        self._agent = list_found(self._agent, replay.notes)
        for plan in replay.mended:
            recorder.take_mending(plan)
        self.files.restore(decode_files(replay.files), replay.changed_files)
        pipeline.restore(replay.collapses, cleared=replay.cleared, messages=recorder.transcript, facts=replay.facts)
        if (tried := replay.compaction) is not None:
            self._tracking = Tracking(failures=tried.failures, count=tried.count)
        recorder.cache.restore(replay.warmth)
        self._meter = plan_meter(replay.counted, pipeline.project(recorder.view))
        heard = tuple(command for command in replay.interrupted if command not in replay.unheard)
        self._queue.restore((*replay.unheard, *replay.waiting), heard)
        recorder.unsettled |= {intent.tool_use_id: intent for intent in replay.unsettled}
        self._unfinished, self._gone = replay.query, replay.gone
        if replay.unsettled and close_calls(self._recorder) and replay.query is not None:
            self._unfinished = msgspec.structs.replace(replay.query, tools_ran=True)

    def _learn(self, last: Iteration) -> None:
        """What outlives the query besides the model: the agent's other settings, the compaction's memory, the last count."""
        self._agent = msgspec.structs.replace(last.agent, model=self._agent.model)
        self._tracking, self._meter = last.tracking, last.meter

    def _keep_snapshot(self, messages: tuple[Message, ...], agent: AgentContext) -> None:
        self.snapshot = Snapshot(messages=messages, agent=agent)
