"""One turn of a query: the state that its actions share and change."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from everturn.core.errors import ApproverError, ModelFault
from everturn.core.events import CompactionBegan, CompactionEnded, Level, Noticed, RetractionCause
from everturn.core.messages import Kind, Message, ToolUse
from everturn.core.outcomes import Problem
from everturn.core.tokens import Meter
from everturn.engine.asker import Asker
from everturn.engine.query_parts import QueryParts
from everturn.engine.replies import answer_text
from everturn.engine.sampling import Sampling
from everturn.engine.state import State
from everturn.ports.context import Situation

if TYPE_CHECKING:
    from everturn.core.jobs import JobState

OVERFLOW = "The conversation no longer fits the model's context window. Start a new session, or send less at once."


class Turn:
    """The one value that the actions of a turn share. Only its own fields change."""

    def __init__(self, parts: QueryParts, state: State) -> None:
        self.parts = parts
        self.state = state
        """State with which the turn began."""
        self.recorder = parts.recorder
        self.messages = state.messages
        self.agent = state.tool_context
        self.tracking = state.compaction
        self.meter = state.meter
        self.summaries = state.pending_summary
        self.sampling = Sampling(
            deps=parts.deps,
            config=parts.config,
            requests=parts.requests,
            recorder=parts.recorder,
            make_executor=parts.make_executor,
        )
        self.truncated: Message | None = None
        """An answer that hit the output cap; None once it is committed or made again."""
        self.stop_reason: str | None = None
        self.answered = False
        """The model stopped by itself, and its answer is in the transcript."""
        self.structured: Any = None
        self.job: JobState | None = None
        """What the answer means for a list of sessions; None where there is no such list."""
        self.stop_errors: tuple[str, ...] = ()
        """Texts with which the stop phase sends the model back to work."""
        self.withheld = Problem(text=OVERFLOW, kind="too_long")
        """The last error that recovery may still mend."""
        self.blamed: tuple[str, ...] = ()
        """Names of the images and documents that the last refusal is about."""
        self.deferred: ToolUse | None = None
        """The call that a hook deferred."""
        self.fault: ApproverError | None = None
        """Error in the approver of the engine's caller, who gets it raised."""
        self._compacting = False

    @property
    def number(self) -> int:
        return self.state.guards.turn

    @property
    def text(self) -> str:
        return answer_text(self.messages)

    @property
    def staged(self) -> int:
        """Collapses that wait for room to be needed."""
        return self.parts.deps.pipeline.staged if self.parts.config.collapse else 0

    def carry(self, message: Message) -> None:
        self.messages = self.messages.plus(message)

    def say(self, *texts: str) -> None:
        """Adds texts for the model that the person is not shown."""
        self.carry(self.recorder.add_user(Kind.HIDDEN, *texts))

    def notice(self, text: str, level: Level = Level.INFO) -> None:
        self.recorder.emit(Noticed(text=text, level=level))

    def commit(self, message: Message) -> None:
        """Adds the response to the transcript, unless it is empty."""
        if message.blocks:
            self.carry(self.recorder.add(message))
        else:
            self.retract(RetractionCause.WITHHELD)
        answer = message.answer
        if answer is not None and answer.counted:
            self.meter = Meter(tokens=answer.counted, messages=len(self.messages))

    def commit_truncated(self) -> None:
        if self.truncated is not None:
            self.commit(self.truncated)
            self.truncated = None

    def retract(self, cause: RetractionCause) -> None:
        """Retracts what was shown of the last response, if anything was."""
        attempt = self.sampling.attempt
        if attempt is not None and attempt.shown:
            self.recorder.retract(attempt.message_id, cause)

    def withhold(self, problem: Problem) -> None:
        self.withheld = problem
        self.recorder.withhold(problem)

    def begin_compaction(self, cause: str) -> None:
        self._compacting = True
        self.recorder.emit(CompactionBegan(cause=cause))

    def end_compaction(self) -> None:
        if self._compacting:
            self._compacting = False
            worked = self.tracking.count != self.state.compaction.count
            self.recorder.emit(CompactionEnded(id=self.tracking.id if worked else ""))

    def situation(self) -> Situation:
        """The facts that the context pipeline gets with the messages."""
        requests, config = self.parts.requests, self.parts.config
        return Situation(
            card=requests.card(self.agent),
            limits=config.limits,
            fixed_tokens=requests.fixed_tokens(self.agent),
            output_cap=requests.output_cap(self.agent, self.state.guards.max_output_override),
            meter=self.meter,
            tracking=self.tracking,
            is_cold=self.recorder.cache.is_cold(requests.cache_ttl, self.parts.deps.clock.now()),
            collapse=config.collapse,
            is_compaction=self.agent.source.is_compaction,
            notes=self.recorder.notes,
            session_id=config.session_id,
            folder=config.folder,
            small_model=config.small_model,
            tools=tuple([tool.name for tool in self.agent.tools]),
            recent_files=self.parts.files.recent(2 * config.limits.restored_files),
            changed_files=self.parts.files.changed,
            on_compaction=self.begin_compaction,
            count=self._count,
        )

    def asker(self) -> Asker:
        """Returns what asks a model beside the conversation, with the present settings."""
        return Asker(
            deps=self.parts.deps,
            limits=self.parts.config.limits,
            requests=self.parts.requests,
            recorder=self.recorder,
            agent=self.agent,
            turn=self.number,
        )

    async def _count(self, view: Sequence[Message]) -> int | None:
        requests, agent = self.parts.requests, self.agent
        request = requests.build(view, agent, max_tokens=requests.output_cap(agent, None))
        try:
            return await self.parts.deps.model.count_tokens(request)
        except ModelFault:
            return None
