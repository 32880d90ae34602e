"""Results without a query: of a slash command, and of a prompt that was refused before it began."""

from collections.abc import AsyncIterable, AsyncIterator, Callable

from everturn.core.budget import Usage
from everturn.core.events import ResultEvent
from everturn.core.state import AbortCause, Exit, Reason
from everturn.frontends.commands import Cleared, CommandOutput, Reply
from everturn.frontends.engine_controls import EngineControls

SETUP_FAILED = "turn_setup_failed"
EXITS = {AbortCause.USER: Exit.INTERRUPTED, AbortCause.TERMINATED: Exit.TERMINATED}
"""Exit codes of a command that a person, or the system, broke off."""


async def command_result(
    replies: AsyncIterable[Reply], conversation: EngineControls, elapsed: Callable[[], float]
) -> AsyncIterator[Reply]:
    """Forwards the replies and sums them up: what the command said is the answer."""
    began_s = elapsed()
    said: list[CommandOutput] = []
    async for reply in replies:
        if isinstance(reply, Cleared):
            conversation = reply.conversation
        said += [reply] if isinstance(reply, CommandOutput) else []
        yield reply
    failed = any(words.is_error for words in said)
    text = "\n".join(words.text for words in said)
    interrupted = next((EXITS[words.cause] for words in said if words.cause in EXITS), None)
    reason = Reason.COMPLETED if interrupted is None else Reason.ABORTED_STREAMING
    yield ResultEvent(
        subtype="success" if interrupted is None else "error_during_execution",
        is_error=failed,
        duration_s=elapsed() - began_s,
        api_duration_s=0.0,
        num_turns=0,
        text=text,
        stop_reason=None,
        reason=reason,
        terminal_reason=reason,
        exit=interrupted or (Exit.ERROR if failed else Exit.OK),
        total_usd=conversation.total_usd,
        usage=Usage(),
        models=conversation.usage_by_model,
        denials=(),
        errors=(text,) if failed else (),
        session_id=conversation.session_id,
        structured_output=next((words.detail for words in said if words.detail is not None), None),
    )


def refused_result(session_id: str, text: str, *, exit_code: Exit) -> ResultEvent:
    return ResultEvent(
        subtype="error_during_execution",
        is_error=True,
        duration_s=0.0,
        api_duration_s=0.0,
        num_turns=0,
        text="",
        stop_reason=None,
        reason=Reason.MODEL_ERROR,
        terminal_reason=SETUP_FAILED,
        exit=exit_code,
        total_usd=0.0,
        usage=Usage(),
        models={},
        denials=(),
        errors=(text,),
        session_id=session_id,
    )
