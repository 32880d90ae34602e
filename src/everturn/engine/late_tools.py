"""Tools that MCP servers bring while a session runs: listed after all others, so that only what comes behind them is read anew."""

import msgspec

from everturn.engine.deps import AgentContext
from everturn.ports.servers import Servers


def list_late(agent: AgentContext, servers: Servers | None) -> tuple[AgentContext, str]:
    """The agent with these tools, and what to say of it; the same agent where none have come."""
    change = servers.adopt(agent.tools, agent.deferred) if servers is not None else None
    if change is None:
        return agent, ""
    new = msgspec.structs.replace(agent, tools=change.tools, deferred=change.deferred)
    return new, f"MCP servers brought {', '.join(change.names)}"
