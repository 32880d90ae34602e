"""Questions to the small model in the stop phase: whether the answer waits for the person, and what the person may want to say next."""

from everturn.core.errors import ModelFault
from everturn.core.events import PromptSuggested
from everturn.core.jobs import JobState
from everturn.core.messages import Kind, Message, text_block
from everturn.engine import wording
from everturn.engine.turn import Turn
from everturn.ports.ask import Question

WITHIN_S = 10.0
MAX_ANSWER = 4_000
"""Characters from the end of an answer that the small model gets."""
MAX_SUGGESTED = 200


async def ask_whether_it_waits(turn: Turn) -> JobState:
    """The state that the small model finds; done, where it gives no clear answer."""
    said = await _ask(turn, "job_state", wording.job_question(turn.text[-MAX_ANSWER:]), 16)
    return JobState.NEEDS_INPUT if said.lower().startswith("wait") else JobState.DONE


async def suggest(turn: Turn) -> None:
    """Suggests the next prompt: as an event if the query still runs, and on the engine for frontends that ask later."""
    said = await _ask(turn, "suggestion", wording.suggestion_request(turn.text[-MAX_ANSWER:]), 64)
    if text := " ".join(said.split())[:MAX_SUGGESTED]:
        event = PromptSuggested(text=text)
        turn.parts.keep_suggestion(event)
        turn.recorder.emit(event)


async def _ask(turn: Turn, purpose: str, words: str, most: int) -> str:
    """The small model's answer; empty where there is none."""
    prompt = Message(id=turn.parts.deps.ids.new(), role="user", kind=Kind.HIDDEN, blocks=(text_block(words),))
    question = Question(
        purpose=purpose,
        messages=(prompt,),
        model=turn.parts.config.small_model,
        max_tokens=most,
        within_s=WITHIN_S,
    )
    try:
        return (await turn.asker().ask(question)).text.strip()
    except ModelFault:
        return ""
