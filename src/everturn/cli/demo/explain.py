"""Why the loop does what it does, in one sentence each: for newcomers who watch it."""

from everturn.core.events import Retracted, RetractionCause, RetryScheduled
from everturn.core.state import Transition

TRANSITIONS = {
    Transition.NEXT_TURN: "the calls ran, and the model gets their results",
    Transition.MAX_OUTPUT_TOKENS_ESCALATE: "asked again, with room for a long answer",
    Transition.MAX_OUTPUT_TOKENS_RECOVERY: "the model is asked to go on where it was cut",
    Transition.COLLAPSE_DRAIN_RETRY: "the context was too long; finished stretches were folded away",
    Transition.REACTIVE_COMPACT_RETRY: "the context was too long; it was summarised",
    Transition.STOP_HOOK_BLOCKING: "a hook found that the work is not done",
    Transition.TOKEN_BUDGET_CONTINUATION: "there is budget left for more work",
}

OVERLOADED = 529


def explain_retry(event: RetryScheduled) -> str:
    failed = {
        OVERLOADED: "The API is overloaded (HTTP 529)",
        None: "The connection broke off in mid-answer",
    }.get(event.status, event.text.rstrip("."))
    return f"{failed}. Attempt {event.attempt} of {event.max_tries}; next in {event.delay_s:.1f} s."


def explain_retraction(event: Retracted, *, half_call: str, cap: int) -> str:
    """`half_call`: the tool whose input was cut off, if one was."""
    match event.cause:
        case RetractionCause.RETRY:
            return "Taken back: it was half an answer, and nothing of it had run yet."
        case RetractionCause.ESCALATION if half_call:
            return f"Taken back: cut at {cap} tokens, inside this {half_call}. Half a call never runs."
        case RetractionCause.ESCALATION:
            return f"Taken back: cut at {cap} tokens."
        case _:
            return f"Taken back ({event.cause})."
