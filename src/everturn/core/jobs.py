"""The state of a session without a person (working, needs input, done, failed), for lists of sessions. Pure."""

from enum import StrEnum

import msgspec

from everturn.core.patterns import compile_late
from everturn.core.state import Reason

_QUESTION = compile_late(r"\?[\s\"'*_)\]`]*\Z")
_LAST = 600
"""Characters of an answer's end in which a question is looked for."""
WAITING = frozenset({Reason.ABORTED_STREAMING, Reason.ABORTED_TOOLS, Reason.STOP_HOOK_PREVENTED, Reason.HOOK_STOPPED})


class JobState(StrEnum):
    WORKING = "working"
    NEEDS_INPUT = "needs_input"
    DONE = "done"
    FAILED = "failed"


class JobReport(msgspec.Struct, frozen=True, kw_only=True):
    state: JobState
    session_id: str
    at: float
    reason: str = ""
    """Why the last query ended; empty while one is at work."""
    text: str = ""
    """The first line of the last answer, or what went wrong."""


def judge_answer(text: str) -> JobState | None:
    """By rule: an answer without a question is done, one whose last word is a question waits. None: it asks something on the way."""
    end = text.strip()[-_LAST:]
    if _QUESTION.search(end):
        return JobState.NEEDS_INPUT
    return None if "?" in end else JobState.DONE


def judge_ending(reason: Reason, *, is_error: bool, answered: JobState | None) -> JobState:
    """`answered`: what the answer was found to be, where the query ended with one."""
    if reason is Reason.COMPLETED and not is_error:
        return answered or JobState.DONE
    return JobState.NEEDS_INPUT if reason in WAITING else JobState.FAILED
