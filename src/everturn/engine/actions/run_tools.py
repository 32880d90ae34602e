"""RunTools: wait for the calls of the last answer, some of which began while it streamed, and add their results."""

from contextlib import suppress

import msgspec

from everturn.core.messages import Block, Kind
from everturn.core.outcomes import CallsFinished
from everturn.core.transcript import unanswered
from everturn.engine.deps import AgentContext
from everturn.engine.executor import Executor
from everturn.engine.found_tools import list_found
from everturn.engine.hook_calls import POST_BATCH, ask_after_batch, list_told
from everturn.engine.late_tools import list_late
from everturn.engine.sampling import switch_model
from everturn.engine.turn import Turn
from everturn.ports.abort import AbortedError
from everturn.ports.context import Change
from everturn.ports.hooks import NOTHING_SAID
from everturn.ports.tool import NewContext


async def perform(turn: Turn) -> CallsFinished:
    """Every call has a result afterwards, also after an abort. Raises `ApproverError`."""
    parts, attempt = turn.parts, turn.sampling.attempt
    executor = attempt.executor if attempt else parts.make_executor(turn.agent)
    if attempt is None:
        for use in unanswered(turn.recorder.transcript[-1:]):
            executor.add(use)
    results = await executor.finish()
    if executor.deferral is not None:
        turn.deferred = executor.deferral
        return CallsFinished(deferred=True)
    turn.carry(turn.recorder.add_user(Kind.RESULTS, *results, message_id=executor.message_id))
    if executor.fault is not None:
        raise executor.fault
    for context in executor.contexts:
        take_context(turn, context)
    if turn.agent.deferred:
        add_found_tools(turn)
    add_late_tools(turn)
    stopped_by = await hear_hooks(turn, executor, results)
    if stopped_by is not None:
        turn.notice(f"A hook stopped the query: {stopped_by}")
        return CallsFinished(stopped_by_hook=True)
    if not parts.signal.raised:
        for message in (*parts.contexts.attach_switch(), *parts.attachments.collect(turn.agent.source.address)):
            turn.carry(message)
        if parts.config.tool_summaries:
            turn.summaries = (*turn.summaries, parts.summaries.start(executor.uses, turn.asker()))
    return CallsFinished()


async def hear_hooks(turn: Turn, executor: Executor, results: list[Block]) -> str | None:
    """Adds texts of hooks about the calls to the transcript, then asks the hooks that judge all calls together.

    Returns why the query must not go on, if a hook said so.
    """
    hooks, told, stopped_by = turn.parts.deps.hooks, executor.take_told(), executor.stopped_by
    if stopped_by is None and not turn.parts.signal.raised and hooks.hears(POST_BATCH):
        asking = ask_after_batch(hooks, executor.calls, results, turn.parts.config.folder, turn.asker())
        try:
            said = await turn.parts.signal.guard(asking)
        except AbortedError:
            said = NOTHING_SAID
        told += list_told(POST_BATCH, msgspec.structs.replace(said, block=None))
        stopped_by = said.stop if said.block is None else said.block
    if not turn.parts.signal.raised:
        with suppress(AbortedError):
            seen = await turn.parts.signal.guard(hooks.look_around())
            stopped_by = seen if stopped_by is None else stopped_by
    for message in turn.parts.attachments.attach_said(told):
        turn.carry(message)
    return stopped_by


def add_found_tools(turn: Turn) -> None:
    """Lists tools that a search found from now on. Tools come first in a request, so everything cached is sent anew."""
    found = list_found(turn.agent, turn.recorder.notes)
    if found is not turn.agent:
        names = ", ".join(tool.name for tool in found.tools[len(turn.agent.tools) :])
        list_tools(turn, found, f"found {names}")


def add_late_tools(turn: Turn) -> None:
    """Lists tools that MCP servers have brought since."""
    agent, cause = list_late(turn.agent, turn.parts.deps.servers)
    if agent is not turn.agent:
        list_tools(turn, agent, cause)


def take_context(turn: Turn, context: NewContext) -> None:
    """Applies the tools and the model that a call chose, for the rest of the conversation. The mode was switched when the call ended."""
    before = turn.agent
    if context.tools is not None and context.tools != before.tools:
        listed = {tool.name for tool in context.tools}
        deferred = tuple(tool for tool in before.deferred if tool.name not in listed)
        list_tools(turn, msgspec.structs.replace(before, tools=context.tools, deferred=deferred), "a tool changed them")
    if context.model and context.model != before.model:
        switch_model(turn.recorder, before.model, context.model, cause="tool", told="a tool chose it")
        turn.agent = msgspec.structs.replace(turn.agent, model=context.model)
        turn.meter = None


def list_tools(turn: Turn, agent: AgentContext, cause: str) -> None:
    """Goes on with the tools of this agent context."""
    requests, before = turn.parts.requests, turn.agent
    turn.agent = agent
    sizes = requests.fixed_tokens(before), requests.fixed_tokens(agent)
    change = Change(stage="tools", cause=cause, tokens_before=sizes[0], tokens_after=sizes[1])
    turn.recorder.note_change(change)
    if turn.meter is not None:
        turn.meter = msgspec.structs.replace(turn.meter, tokens=turn.meter.tokens + sizes[1] - sizes[0])
