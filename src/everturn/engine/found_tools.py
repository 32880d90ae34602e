"""Deferred tools that a search has found: from then on they are listed, after all others."""

import msgspec

from everturn.core.notes import Notes
from everturn.engine.deps import AgentContext


def list_found(agent: AgentContext, notes: Notes) -> AgentContext:
    """The agent with found tools added to those listed, in the order of finding, so that a resumed session sends the same list."""
    waiting = {tool.name: tool for tool in agent.deferred}
    found = tuple(waiting.pop(name) for name in notes.found_tools if name in waiting)
    if not found:
        return agent
    return msgspec.structs.replace(agent, tools=(*agent.tools, *found), deferred=tuple(waiting.values()))
