"""Back to an earlier prompt of the conversation: it is chosen from a menu and can be changed; what followed it is left behind."""

from collections.abc import Sequence

from everturn.core.messages import Kind, Message
from everturn.frontends.terminal.live_engine import LiveEngine
from everturn.frontends.terminal.menu import MenuItem
from everturn.frontends.terminal.program import TerminalProgram

TITLE = "go back to before which prompt? Files stay as they are; Enter takes one, Esc leaves"
TOLD = "The conversation goes on before this prompt; what followed is in the session before."


def list_prompts(transcript: Sequence[Message]) -> list[MenuItem]:
    """The last one first; the value of each is its place."""
    prompts = [(at, message) for at, message in enumerate(transcript) if message.kind is Kind.PROMPT]
    return [MenuItem(str(at), message.text) for at, message in reversed(prompts)]


async def open_before(agent: LiveEngine, at: int, program: TerminalProgram) -> LiveEngine:
    """The conversation as it was before the message at this place. The other one stays as a session of its own."""
    before = agent.transcript[:at]
    if not before:
        return agent.clear()  # type: ignore[return-value]  # as the one before
    engine = await program.open_session(agent.session_id, fork=True, until=before[-1].id)
    await program.leave_session(agent)
    return engine
