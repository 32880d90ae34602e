"""State that outlives a query: the transcript and its recorder, the agent, the counts, and what the model must still be told."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from everturn.core.contexts import Contexts
from everturn.core.denials import Denial
from everturn.core.errors import OptionError
from everturn.core.events import ModelSwitched, PromptSuggested, RequestStarted, UserAdded
from everturn.core.messages import Block, Kind, Message
from everturn.core.notes import Goal
from everturn.core.outcomes import Problem
from everturn.core.records import QueryBegan
from everturn.core.state import Guards
from everturn.core.tokens import Meter
from everturn.core.view import View
from everturn.engine import wording
from everturn.engine.asker import Asker
from everturn.engine.attachments import Attachments
from everturn.engine.command_queue import CommandQueue
from everturn.engine.context_watch import ContextWatch
from everturn.engine.crew import Crew
from everturn.engine.deps import AgentContext, EngineParts
from everturn.engine.executor import Executor
from everturn.engine.found_tools import list_found
from everturn.engine.gate import Gate
from everturn.engine.hook_calls import FILES, INSTRUCTIONS, PROMPT, SESSION_END, SESSION_START
from everturn.engine.late_tools import list_late
from everturn.engine.limit_watch import LimitWatch
from everturn.engine.open_calls import close_calls
from everturn.engine.pins import Pins
from everturn.engine.query_parts import QueryParts
from everturn.engine.recorder import Recorder
from everturn.engine.requests import Requests
from everturn.engine.resumed_session import (
    decode_files,
    has_answered,
    list_calls,
    plan_meter,
    plan_task_budget,
    takes_more,
)
from everturn.engine.state import State
from everturn.engine.summaries import Summaries
from everturn.engine.turn import Turn
from everturn.ports.abort import AbortSignal
from everturn.ports.context import Change, Tracking
from everturn.ports.files import FileStates
from everturn.ports.store import OpenQuery, Replay

if TYPE_CHECKING:
    from everturn.engine.goals import GoalWork
    from everturn.ports.goal import Verifier


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The context as it was sent last, so that a side question can continue it and read the prompt cache."""

    messages: Sequence[Message]
    """Shared with the conversation, not copied: it does not change here."""
    agent: AgentContext


async def admit_nothing() -> None:
    """Stands for `QueryParts.admit` where there is no prompt, as in `/compact`."""


class Conversation:
    """Its fields change between queries or when an event is emitted, never in the middle of an action."""

    def __init__(self, parts: EngineParts) -> None:
        self.deps, self.config, self.notices = parts.deps, parts.config, parts.notices
        self.tasks, self.background, self.resources = parts.tasks, parts.background, parts.resources
        replay = parts.replay
        self.agent = parts.agent
        self._first_agent = parts.agent
        """The agent context with which each query begins: all fallback models and the whole task budget."""
        self._goal = parts.goal
        self._worked_goal: Goal | None = None
        """The goal of the last query."""
        self._began_at = parts.deps.clock.now()
        self.verifier: Verifier | None = None
        """Runs the commands of goals; None until there is a goal."""
        self.files = FileStates(self.config.limits.file_states)
        self.recorder = Recorder(self.deps, replay.messages if replay else (), self.files)
        self.queue = CommandQueue(self.recorder.record, self.recorder.emit)
        self.requests = Requests(self.deps, self.config, parts.prompting)
        self.contexts = ContextWatch(self.deps, self.recorder, parts.prompting, replay, model=lambda: self.agent.model)
        self.pins = Pins(self.recorder, window=lambda: self.requests.card(self.agent).window)
        self.limits = LimitWatch(self.deps)
        self.recorder.steps = {
            UserAdded: self.count_message,
            ModelSwitched: self.follow_model,
            RequestStarted: self.limits.count_turn,
        }
        self.recorder.check_limits = self.limits.check
        self.deps.ledger.watch(reached=self.limits.check, charged=self.recorder.note_charge_below)
        self.denials: list[Denial] = []
        self.user_messages = 0
        """Prompts and rounds of results in the present query: the `num_turns` of its result."""
        self.tracking = Tracking()
        self.meter: Meter | None = None
        self.unfinished: OpenQuery | None = None
        """The query that a crash cut off; None once it is resumed or another prompt comes."""
        self.gone: tuple[str, ...] = ()
        """Files with large results that no longer existed when the session was resumed; emptied when the model is told."""
        self.gone_scratch = ""
        """The scratch folder of the earlier process, which no longer exists; emptied when the model is told."""
        self.source = parts.source
        """How the session begins, for SessionStart hooks; empty once they were asked."""
        self.has_begun = False
        """SessionStart hooks, if there are any, were asked."""
        self.list_instructions = parts.list_instructions
        self.running: dict[str, None] = {}
        """Ids of the calls that run now, the oldest first."""
        self.suggestion = ""
        """A prompt that the person may want to send next; empty once they sent one."""
        self.snapshot: Snapshot | None = None
        """Context of the main conversation as of the last request."""
        if replay is not None:
            self._restore(replay)

    # The steps that follow an event: see `Recorder.steps`.

    def count_message(self, event: UserAdded) -> None:
        if event.message.kind in {Kind.PROMPT, Kind.RESULTS}:
            self.user_messages += 1

    def follow_model(self, event: ModelSwitched) -> None:
        """Takes over another model at once, so that an interruption leaves conversation and journal in agreement."""
        self.agent = msgspec.structs.replace(self.agent, model=event.model)

    def begin_query(
        self, signal: AbortSignal, started_s: float, blocks: tuple[Block, ...], unfinished: OpenQuery | None
    ) -> QueryParts:
        """Makes the parts of a new query and records its beginning."""
        deps, query_id = self.deps, self.deps.ids.new()
        self.user_messages, self.suggestion = 0, ""
        self.agent = msgspec.structs.replace(
            self.agent,
            fallbacks=tuple(model for model in self._first_agent.fallbacks if model != self.agent.model),
            task_budget=plan_task_budget(self._first_agent.task_budget, unfinished or OpenQuery()),
        )
        deps.ledger.begin_query(self.config.limits, started_s, unfinished.spent if unfinished else None)
        for call in list_calls(self.recorder.transcript, unfinished.began_with) if unfinished else ():
            deps.ledger.note_call(*call)
        contexts = self.contexts.begin(goes_on=unfinished is not None)
        self.requests.put_before(contexts)
        self.recorder.record(
            QueryBegan(
                query_id=query_id,
                at=deps.clock.now(),
                source=str(self.agent.source),
                model=self.agent.model,
                mode=str(deps.modes.mode) if deps.modes else "",
                goes_on=unfinished is not None,
                plain=contexts == Contexts(),
            )
        )
        self.unfinished = None
        parts = self.query_parts(query_id, signal)
        if (goal := self.goal) is not None:
            parts = msgspec.structs.replace(parts, goal=self._plan_goal(self._take_up(goal), query_id))
        return msgspec.structs.replace(
            parts,
            admit=partial(self.admit, parts, None if unfinished else blocks),
            deferred=unfinished is not None and unfinished.deferred,
        )

    async def admit(self, parts: QueryParts, blocks: tuple[Block, ...] | None) -> Problem | None:
        """Adds the prompt, and news that the model must be told, to the transcript. Returns why a hook refused the prompt, or None.

        `blocks` are None where a query goes on without a prompt.
        """
        told: list[str] = []
        prompt_id = ""
        if self._may_hear_prompts:
            from everturn.engine.prompt_hooks import hear_prompt

            told, problem, prompt_id = await hear_prompt(self, parts, blocks)
            if problem is not None:
                return problem
        if blocks is not None:
            self.recorder.add_user(Kind.PROMPT, *blocks, message_id=prompt_id)
        if blocks is not None or takes_more(self.recorder.view):
            self.attach_news(parts)
            parts.attachments.attach_said(told)
        if blocks is not None:
            parts.attachments.collect_finished()
        return None

    @property
    def _may_hear_prompts(self) -> bool:
        hooks = self.deps.hooks
        return any(map(hooks.hears, (PROMPT, SESSION_START, SESSION_END, INSTRUCTIONS, FILES)))

    @property
    def goal(self) -> Goal | None:
        """Goal of the next query: the caller's, else the session's."""
        return self._goal or self.recorder.notes.goal

    def keep_goal(self, goal: Goal | None) -> None:
        """Keeps the goal in the session until it is met; None removes it."""
        self.recorder.keep_notes(msgspec.structs.replace(self.recorder.notes, goal=goal))

    def _take_up(self, goal: Goal) -> Goal:
        """The goal as the session keeps it: with the time at which the work on it began."""
        kept = self.recorder.notes.goal
        if kept is not None and (kept.text, kept.command) == (goal.text, goal.command):
            return kept
        self._worked_goal = None
        self.keep_goal(began := msgspec.structs.replace(goal, since=self.deps.clock.now()))
        return began

    def refuse_denied_goal(self) -> None:
        """Raises `OptionError` where a rule denies the goal's command: such a query does not begin."""
        if (goal := self.goal) is not None:
            from everturn.engine.goals import refuse_denied

            refuse_denied(self.deps.policy, goal.command)

    @property
    def awaits_verification(self) -> bool:
        """Whether the model had stopped and the session was cut off before the goal was verified."""
        return self.unfinished is not None and self.goal is not None and has_answered(self.recorder.view)

    def _plan_goal(self, goal: Goal, query_id: str) -> "GoalWork":
        from everturn.engine.goals import GoalWork

        if self.verifier is None:
            if self.deps.make_verifier is None:
                raise OptionError("goal", "nothing here can verify it")
            self.verifier = self.deps.make_verifier()
        goes_on, self._worked_goal = goal == self._worked_goal, goal
        return GoalWork(
            goal,
            self.verifier,
            deps=self.deps,
            config=self.config,
            recorder=self.recorder,
            query_id=query_id,
            since=goal.since if goal.since < self._began_at else 0.0,
            goes_on=goes_on,
        )

    def mend(self, *, deferred: bool = False) -> bool:
        """Closes calls that a crash or a closed iterator left without a result, and returns whether there were any.

        `deferred`: the last call is not closed, because it runs now.
        """
        self.notices.show(self.recorder.emit)
        closed = not deferred and close_calls(self.recorder)
        self.user_messages = 0
        return closed

    def attach_news(self, parts: QueryParts) -> None:
        """Adds messages about what the model does not know yet when a query begins."""
        attachments = parts.attachments
        attachments.attach_gone(self.gone)
        attachments.attach_pins(self.pins.take_removed())
        self.gone = ()
        if self.gone_scratch:
            attachments.attach_gone_scratch(self.gone_scratch)
            self.recorder.keep_notes(msgspec.structs.replace(self.recorder.notes, scratch=""))
            self.gone_scratch = ""
        self.contexts.attach_changes()
        attachments.attach_said(tuple(map(wording.hook_async, self.deps.hooks.take_context())))
        attachments.attach_goal()
        attachments.attach_hidden()

    def state(self, guards: Guards = Guards()) -> State:  # noqa: B008 (frozen)
        """The state in which the first turn begins."""
        self.adopt_late_tools()
        self.agent = list_found(self.agent, self.recorder.notes)
        return State(
            messages=View(self.recorder.view),
            tool_context=self.agent,
            guards=guards,
            compaction=self.tracking,
            meter=self.meter,
        )

    def adopt_late_tools(self) -> None:
        """Lists tools that MCP servers have brought since the last look."""
        before = self.agent
        self.agent, cause = list_late(before, self.deps.servers)
        if self.agent is not before and self.recorder.transcript:
            sizes = self.requests.fixed_tokens(before), self.requests.fixed_tokens(self.agent)
            self.recorder.note_change(Change(stage="tools", cause=cause, tokens_before=sizes[0], tokens_after=sizes[1]))

    def learn(self, last: Turn) -> None:
        """Takes over what outlives the query: settings of the agent except its model, the state of compactions, the last count."""
        self.agent = msgspec.structs.replace(last.agent, model=self.agent.model, source=self.agent.source)
        self.tracking, self.meter = last.tracking, last.meter

    def query_parts(self, query_id: str, signal: AbortSignal) -> QueryParts:
        deps, config, recorder, crew = self.deps, self.config, self.recorder, Crew()
        return QueryParts(
            deps=deps,
            config=config,
            query_id=query_id,
            requests=self.requests,
            recorder=recorder,
            signal=signal,
            attachments=Attachments(deps=deps, recorder=recorder, queue=self.queue, files=self.files, tasks=self.tasks),
            contexts=self.contexts,
            summaries=Summaries(recorder=recorder, ids=deps.ids, model=config.small_model, crew=crew),
            files=self.files,
            admit=admit_nothing,
            deferred=False,
            make_executor=self._plan_executor(signal, crew),
            keep_snapshot=self._keep_snapshot,
            keep_suggestion=self._keep_suggestion,
            crew=crew,
            background=self.background,
            resources=self.resources,
        )

    def _plan_executor(self, signal: AbortSignal, crew: Crew) -> Callable[[AgentContext], Executor]:
        """Returns a function that makes the executor of one answer."""
        deps, config, requests, recorder = self.deps, self.config, self.requests, self.recorder
        gate = Gate(deps, recorder, self.denials, folder=config.folder, background=self.background)

        def make_executor(agent: AgentContext) -> Executor:
            asker = Asker(
                deps=deps,
                limits=config.limits,
                requests=requests,
                recorder=recorder,
                agent=agent,
                turn=self.user_messages,
            )
            return Executor(
                deps=deps,
                config=config,
                recorder=recorder,
                gate=gate,
                signal=signal,
                files=self.files,
                tools=agent.tools,
                crew=crew,
                eager=config.streaming_tools,
                window=requests.card(agent).window,
                tasks=self.tasks,
                ask=asker,
                deferred=tuple(tool.name for tool in agent.deferred),
                background=self.background,
                running=self.running,
                resources=self.resources,
            )

        return make_executor

    def _keep_suggestion(self, event: PromptSuggested) -> None:
        self.suggestion = event.text

    def _keep_snapshot(self, messages: Sequence[Message], agent: AgentContext) -> None:
        self.snapshot = Snapshot(messages=messages, agent=agent)

    def _restore(self, replay: Replay) -> None:
        recorder, pipeline = self.recorder, self.deps.pipeline
        if model := replay.model or replay.asked_model:
            self.agent = msgspec.structs.replace(self.agent, model=model)
        recorder.notes = replay.notes
        self.gone_scratch = replay.notes.scratch
        self.denials += replay.denials
        self.agent = list_found(self.agent, replay.notes)
        for plan in replay.mended:
            recorder.take_mending(plan)
        self.files.restore(decode_files(replay.files), replay.changed_files)
        pipeline.restore(replay.collapses, cleared=replay.cleared, messages=recorder.transcript, facts=replay.facts)
        if (tried := replay.compaction) is not None:
            self.tracking = Tracking(
                failures=tried.failures, count=tried.count, id=tried.id, turns_since=replay.turns_since_compaction
            )
        recorder.cache.restore(replay.warmth)
        self.meter = plan_meter(replay.counted, pipeline.project(recorder.view))
        heard = tuple(command for command in replay.interrupted if command not in replay.unheard)
        self.queue.restore((*replay.unheard, *replay.waiting), heard)
        recorder.unsettled |= {intent.tool_use_id: intent for intent in replay.unsettled}
        self.unfinished, self.gone = replay.query, replay.gone
        if replay.unsettled and close_calls(recorder) and replay.query is not None:
            self.unfinished = msgspec.structs.replace(replay.query, tools_ran=True)
