"""One conversation as its caller sees it: prompts in, events out, one query at a time."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any, Self

import msgspec

from everturn.core.budget import Prices
from everturn.core.commands import MAIN, QueuedCommand
from everturn.core.contexts import Contexts
from everturn.core.denials import Denial
from everturn.core.errors import BusyError, ClosedError, OptionError
from everturn.core.events import Event, ModelUsage, ResultEvent
from everturn.core.messages import Block, Message, ToolResult
from everturn.core.notes import Goal, Notes
from everturn.core.state import AbortCause
from everturn.core.window import LastCompaction, WindowUse
from everturn.engine.conversation import Conversation, Snapshot
from everturn.engine.deps import EngineParts
from everturn.engine.hook_calls import SESSION_END
from everturn.engine.outbox import Outbox
from everturn.engine.prompts import Prompt, prompt_blocks
from everturn.engine.query import run_compaction, run_query
from everturn.engine.resumed_session import is_open
from everturn.engine.sampling import switch_model
from everturn.ports.abort import AbortSignal
from everturn.ports.context import Collapses
from everturn.ports.files import FileStates
from everturn.ports.ledger import Ledger
from everturn.ports.model import Effort, ModelCard
from everturn.ports.policy import Policy
from everturn.ports.servers import ServerReport
from everturn.ports.store import OpenQuery
from everturn.ports.tasks import Tasks
from everturn.ports.tool import Tool

if TYPE_CHECKING:
    from typing import Unpack

    from everturn.compose.keywords import Keywords
    from everturn.engine.aside import SideAnswer
    from everturn.settings.options import Options

Work = Callable[[], Coroutine[Any, Any, None]]


class Engine:
    """`async with Engine(max_turns=5) as engine`, then `engine.run(prompt)`, or iterate `engine.submit(prompt)`.

    The last event of a prompt is exactly one `ResultEvent`. Close the engine when you are done.
    """

    def __init__(
        self, options: "Options | None" = None, *, parts: EngineParts | None = None, **named: "Unpack[Keywords]"
    ) -> None:
        """`options` is an `Options`; each of them can be given by its name as well, and beats the one in `options`.

        Besides, by name: `model` may be a client in place of the name of a model; `env` stands in for the environment,
        `disk` and `clock` for the machine's own. `ledger` is a child of another engine's ledger: what is spent here counts there,
        and the limits there hold here; it is closed with the engine.

        Raises `OptionError` that names the field, `JournalError` where the session's file cannot be opened.
        """
        if parts is None:
            # By way of the front door: `everturn.compose.engine.assemble` knows every room, and this room none of the others.
            from everturn import assemble

            parts = assemble(options, **named)
        self._parts, self._deps = parts, parts.deps
        self._conversation = Conversation(parts)
        self._outbox: Outbox | None = None
        self._signal = AbortSignal()
        self._closed = False
        self._successor: Engine | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # Work: one thing at a time.

    async def run(self, prompt: Prompt) -> ResultEvent:
        """Runs a prompt to its end and returns the result: `.text`, `.usd`, `.reason`, `.ok` and more."""
        result: ResultEvent | None = None
        async with aclosing(self.submit(prompt)) as events:
            async for event in events:
                if isinstance(event, ResultEvent):
                    result = event
        assert result is not None  # noqa: S101 (the contract of `submit`)
        return result

    def submit(self, prompt: Prompt) -> AsyncGenerator[Event]:
        """Yields the events of a prompt. Raises `BusyError` while another prompt runs, `OptionError` for a prompt that is empty or no content.

        Also `ClosedError` after `aclose`, and `ApproverError` where the approver returns something other than a `Verdict`.
        """
        return self._work(lambda: self._query(prompt_blocks(prompt)))

    def resume_query(self) -> AsyncGenerator[Event]:
        """Goes on where the last query was cut off, without a prompt. Raises `OptionError` where nothing is left open."""
        return self._work(self._go_on)

    def compact(self, instructions: str = "") -> AsyncGenerator[Event]:
        """Summarises the conversation now. Yields events; the last one is a notice that says how it ended."""
        return self._work(lambda: run_compaction(self._conversation, self._signal, instructions))

    async def ask_aside(self, question: str) -> "SideAnswer":
        """A side question, also while a prompt is at work: `.text` is the answer. It runs no tools and never enters the conversation.

        Raises `OptionError` for no question, `ClosedError`, and `ModelFault` where there is no answer.
        """
        if self._closed:
            raise ClosedError("The engine is closed.")
        from everturn.engine.aside import run_aside

        return await run_aside(self._conversation, question)

    def abort(self, cause: AbortCause = AbortCause.USER) -> None:
        """Ends the running query. Does nothing where none runs."""
        if self.is_busy:
            self._signal.abort(cause)

    @property
    def is_busy(self) -> bool:
        return self._outbox is not None

    @property
    def interruption(self) -> AbortCause | None:
        """Why the last query was interrupted; None where it was not."""
        return self._signal.cause

    def enqueue(self, text: str, *, address: str = MAIN) -> str:
        """Hands words to the query under way; they are added after its next tool round. Returns the command's id."""
        command = QueuedCommand(id=self._deps.ids.new(), text=text, address=address)
        self._conversation.queue.put(command)
        return command.id

    def take_queued(self, address: str = MAIN) -> list[QueuedCommand]:
        """Starts what still waits, for a frontend that submits it as the next prompt."""
        return self._conversation.queue.take(address)

    def withdraw(self, command_id: str) -> str:
        """Takes back a queued message that the model has not read, and returns its words; empty where it has."""
        return self._conversation.queue.withdraw(command_id)

    def switch_model(self, model: str) -> None:
        """Another model from the next prompt on, for the rest of the session. Raises `BusyError`."""
        self._refuse_while_busy("the model is switched between two prompts")
        if model != self.model:
            switch_model(self._conversation.recorder, self.model, model, cause="person", told="the person chose it")

    @property
    def effort(self) -> Effort | None:
        """How hard the model thinks, where it can be told; it may be set between two prompts."""
        return self._conversation.agent.effort

    @effort.setter
    def effort(self, effort: Effort | None) -> None:
        self._refuse_while_busy("the effort is set between two prompts")
        self._conversation.agent = msgspec.structs.replace(self._conversation.agent, effort=effort)

    @property
    def folders(self) -> tuple[str, ...]:
        """The working folders; the one that the session began in comes first."""
        return (self._parts.config.folder, *self._deps.list_added())

    def add_folder(self, path: str) -> str:
        """Another working folder from the next prompt on, also after `clear`; the model is told. Returns its real path.

        A relative path starts in the working folder. Raises `BusyError`, `OptionError`.
        """
        self._refuse_while_busy("a folder is added between two prompts")
        if self._deps.add_folder is None:
            raise OptionError("add_dirs", "nothing here tells folders apart")
        return self._deps.add_folder(path)

    def note(self, text: str) -> None:
        """Shows the text as a notice at the start of the next query."""
        self._parts.notices.add(text)

    def tell(self, text: str) -> None:
        """Shows the text as a notice, now or with the next query."""
        self._parts.notices.tell(text)

    def pin(self, text: str) -> None:
        """Pins a note: every summary keeps it, and the model is told with the next prompt. Raises `BusyError`, `OptionError`."""
        self._refuse_while_busy("notes are pinned between two prompts")
        self._conversation.pins.add(text)

    def unpin(self, number: int) -> str:
        """Removes a pinned note by its number, from 1, and returns it. Raises `BusyError`, `OptionError`."""
        self._refuse_while_busy("notes are pinned between two prompts")
        return self._conversation.pins.remove(number)

    @property
    def goal(self) -> Goal | None:
        """What must hold before the work of the next prompt counts as done."""
        return self._conversation.goal

    async def set_goal(self, text: str, command: str) -> Goal:
        """Holds from the next prompt on, until it is met. Raises `BusyError`, `OptionError`.

        The command is judged like one of the model's: where no rule allows it, the approver is asked.
        """
        self._refuse_while_busy("a goal is set between two prompts")
        self._refuse_beside_given_goal()
        from everturn.engine.goals import permit_goal

        goal = await permit_goal(text, command, self._deps, self._parts.config.folder)
        goal = msgspec.structs.replace(goal, since=self._deps.clock.now())
        self._conversation.keep_goal(goal)
        return goal

    def clear_goal(self) -> Goal | None:
        """Removes the session's goal and returns it, met or not. Raises `BusyError`, `OptionError` where the options have set one."""
        self._refuse_while_busy("a goal is removed between two prompts")
        self._refuse_beside_given_goal()
        before = self.notes.goal
        self._conversation.keep_goal(None)
        return before

    def _refuse_beside_given_goal(self) -> None:
        """A prompt can come from anywhere: none takes away what the caller wants to be verified."""
        if (given := self._parts.goal) is not None:
            raise OptionError("goal", f"the one that Everturn was started with stays: {given.text}")

    def rename(self, title: str) -> str:
        """Gives the session a title, and returns it on one line. Raises `JournalError`."""
        return self._parts.session_file.rename(title)

    def export(self, file: str = "") -> str:
        """Writes the conversation to a file (Markdown, `.html` or `.json`) and returns its path. Raises `JournalError`."""
        return self._parts.session_file.export(file, model=self.model, usd=self.total_usd)

    def clear(self) -> "Engine":
        """An engine with a new, empty conversation: same options, connection and permission mode. This one is done with.

        What runs in the background goes on there. Closing this engine closes that one. Raises `BusyError`, `ClosedError`.
        """
        if self._closed:
            raise ClosedError("The engine is closed.")
        self._refuse_while_busy("abort it before clearing the conversation")
        self._parts.background.start(self._end_hooks("clear"))
        new = Engine(parts=self._parts.renew())
        self._deps.journal.close()
        self._closed, self._successor = True, new
        return new

    async def aclose(self) -> None:
        """Ends the query under way and what runs in the background, then lets go of journal and connection.

        Safe to call twice, also at once: the query's ending is on disk when it returns.
        """
        if self._successor is not None:
            await self._successor.aclose()
            return
        self._closed = True
        self._signal.abort(AbortCause.TERMINATED)
        if self._outbox is not None:
            await self._outbox.wait_closed()
        await self._end_hooks("other")
        await self._parts.background.end()
        await self.tasks.aclose()
        if self._conversation.verifier is not None:
            await self._conversation.verifier.aclose()
        collapses, changes = self._deps.pipeline.take_news()
        for collapse in collapses:
            self._conversation.recorder.record(collapse)
        for change in changes:
            self._conversation.recorder.note_change(change)
        self._deps.ledger.close()
        self._deps.journal.close()
        await self._deps.model.aclose()
        if self._deps.servers is not None:
            await self._deps.servers.aclose()
        for close in self._parts.closers:
            close()

    async def _end_hooks(self, reason: str) -> None:
        if self._deps.hooks.hears(SESSION_END):
            from everturn.engine.prompt_hooks import end_session

            await end_session(self._conversation, reason)
        await self._deps.hooks.aclose()

    # What is known of the conversation.

    @property
    def session_id(self) -> str:
        return self._parts.config.session_id

    @property
    def is_kept(self) -> bool:
        """Whether the session is kept on disk."""
        return self._deps.journal.is_kept

    @property
    def session_path(self) -> str:
        """Path of the session's file; empty where it has none, or none yet."""
        return str(self._deps.journal.path or "")

    @property
    def transcript(self) -> tuple[Message, ...]:
        """All messages of the conversation, including those that a summary replaces."""
        return tuple(self._conversation.recorder.transcript)

    @property
    def model(self) -> str:
        return self._conversation.agent.model

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model sees, then those that it can find by ToolSearch."""
        agent = self._conversation.agent
        return (*agent.tools, *agent.deferred)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools that the model sees."""
        return tuple(tool.name for tool in self._conversation.agent.tools)

    @property
    def permission_mode(self) -> str:
        """The permission mode. It may be set while a query runs, and counts from the next call on."""
        return str(self._deps.modes.mode) if self._deps.modes else ""

    @permission_mode.setter
    def permission_mode(self, mode: str) -> None:
        if self._deps.modes is not None:
            self._deps.modes.switch(mode)

    @property
    def policy(self) -> Policy:
        return self._deps.policy

    @property
    def total_usd(self) -> float:
        return self._deps.ledger.session_usd

    @property
    def usage_by_model(self) -> dict[str, ModelUsage]:
        return self._deps.ledger.models

    @property
    def ledger(self) -> Ledger:
        """What was spent, and the limits. Its method `child` makes the ledger of an engine that works for this one."""
        return self._deps.ledger

    def card_of(self, model: str) -> ModelCard:
        """What the catalogue knows about a model."""
        return self._deps.catalog.card(model)

    def price_lists(self, model: str) -> tuple[Prices, ...]:
        """Prices of a model: the usual ones, then those of fast mode where it has one."""
        card = self.card_of(model)
        return (card.prices,) if card.fast_prices is None else (card.prices, card.fast_prices)

    @property
    def denials(self) -> tuple[Denial, ...]:
        return tuple(self._conversation.denials)

    @property
    def notes(self) -> Notes:
        """The list of tasks, the approved plan, the tools that were found: kept with the session."""
        return self._conversation.recorder.notes

    @property
    def files(self) -> FileStates:
        """Files that the model has read or written."""
        return self._conversation.files

    @property
    def tasks(self) -> Tasks:
        """Commands and agents in the background. They end with the engine."""
        return self._parts.tasks

    async def call_tool(self, name: str, input_: dict[str, Any]) -> ToolResult:
        """Runs a tool as if the model had asked for it: the same hooks, rules, person and limits. Raises `BusyError`, `ClosedError`.

        The result does not enter the conversation. A call that may not run, or that fails, has an error result.
        """
        from everturn.engine.lone_call import run_lone_call

        with self._at_work():
            return await run_lone_call(self._conversation, self._signal, name, input_)

    @property
    def servers(self) -> tuple[ServerReport, ...]:
        """The MCP servers of the session, and how they stand."""
        return self._deps.servers.list_reports() if self._deps.servers is not None else ()

    async def start_servers(self) -> None:
        """Starts the MCP servers now instead of with the first prompt, and waits as that would. Raises `BusyError`."""
        self._refuse_while_busy("the servers run already")
        if self._deps.servers is not None:
            self._deps.servers.start()
            await self._deps.servers.settle()
            self._conversation.adopt_late_tools()

    async def fill_prompt(self, name: str, arguments: str) -> str:
        """The text of a prompt of an MCP server, named `mcp__server__prompt`. Raises `EverturnError`."""
        if self._deps.servers is None:
            raise OptionError("prompt", f"there is no prompt {name!r:.80}: no MCP server is configured")
        return await self._deps.servers.fill_prompt(name, arguments)

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the calls that run now, oldest first."""
        return tuple(self._conversation.running)

    @property
    def resources(self) -> tuple[str, ...]:
        """What tools hold that only one session can have at a time, in words."""
        return self._parts.resources.names

    @property
    def collapses(self) -> Collapses:
        """Stage finished stretches of work here; they are committed when room is needed."""
        return self._deps.pipeline.collapses

    @property
    def snapshot(self) -> Snapshot | None:
        """The context of the main conversation, as the model was asked last."""
        return self._conversation.snapshot

    @property
    def suggestion(self) -> str:
        """What the person may want to say next, with the option `prompt_suggestions`; empty where nothing is known."""
        return self._conversation.suggestion

    @property
    def queued(self) -> tuple[QueuedCommand, ...]:
        """Queued messages that the model has not read. A frontend may submit them as the next prompt."""
        return self._conversation.queue.waiting

    @property
    def interrupted(self) -> tuple[QueuedCommand, ...]:
        """Queued messages that the model had read when the session was cut off; `resume_query` completes them."""
        return self._conversation.queue.interrupted

    @property
    def is_unfinished(self) -> bool:
        """The last query was cut off, so `resume_query` can go on without a prompt."""
        conversation = self._conversation
        return conversation.awaits_verification or is_open(conversation.recorder.view, conversation.unfinished)

    def window(self) -> WindowUse:
        """How much of the model's window the next request would use, and for what."""
        from everturn.engine.window_use import measure_window

        conversation = self._conversation
        view = self._deps.pipeline.project(conversation.recorder.view)
        conversation.requests.put_before(conversation.contexts.first)
        use = measure_window(
            conversation.requests, conversation.agent, view, conversation.meter, self._parts.config.limits
        )
        if not (tracking := conversation.tracking).count:
            return use
        last = LastCompaction(id=tracking.id, count=tracking.count, turns_since=tracking.turns_since)
        return msgspec.structs.replace(use, compaction=last)

    @property
    def told_before(self) -> tuple[Contexts, dict[str, bytes]]:
        """What comes before the messages: the contexts, and the tools by name as they are sent."""
        conversation = self._conversation
        return conversation.contexts.first, conversation.requests.encode_tools(conversation.agent.tools)

    # How work is done.

    async def _work(self, begin: Work) -> AsyncGenerator[Event]:
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
        self._refuse_while_busy("abort it, or queue the words with `enqueue`", at="at work on another prompt")
        conversation, notices = self._conversation, self._parts.notices
        self._signal, self._outbox = AbortSignal(), Outbox()
        conversation.limits.begin(self._signal)
        conversation.recorder.show = self._outbox.put
        notices.emit = conversation.recorder.emit
        try:
            yield self._outbox
        finally:
            conversation.limits.end()
            conversation.recorder.show = notices.emit = self._outbox = None

    async def _query(self, blocks: tuple[Block, ...], unfinished: OpenQuery | None = None) -> None:
        fault = await run_query(self._conversation, self._signal, blocks, unfinished)
        if self._outbox is not None:
            # Nothing is told after the result: what comes now waits for the next query.
            self._outbox.close()
        if fault is not None:
            raise fault

    def _go_on(self) -> Coroutine[Any, Any, None]:
        if not self.is_unfinished:
            raise OptionError(
                "prompt", "there is nothing to go on with: the last answer is complete, so say what is next"
            )
        return self._query((), self._conversation.unfinished or OpenQuery())

    def _refuse_while_busy(self, instead: str, *, at: str = "at work") -> None:
        if self.is_busy:
            raise BusyError(f"The engine is {at}; {instead}.")
