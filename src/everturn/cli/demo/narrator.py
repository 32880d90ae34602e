"""What happens, as the program itself shows it on a terminal, with a sentence where the loop does what a newcomer would not expect."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from everturn.cli.demo.page import DemoScreen
from everturn.core.events import (
    AnswerAdded,
    BlockBegan,
    CallBegan,
    CallEnded,
    Continued,
    Event,
    RequestStarted,
    ResultEvent,
    Retracted,
    RetractionCause,
)
from everturn.core.state import Transition
from everturn.frontends.ansi import BOLD, CYAN, DIM, GREEN, RED, YELLOW
from everturn.frontends.headless.terminal import TerminalText
from everturn.tools.result_types import BashShown, EditShown, GrepShown

TRANSITIONS = {
    Transition.NEXT_TURN: "the calls ran, and the model gets their results",
    Transition.MAX_OUTPUT_TOKENS_ESCALATE: "asked again, with room for a long answer",
    Transition.MAX_OUTPUT_TOKENS_RECOVERY: "the model is asked to go on where it was cut",
    Transition.COLLAPSE_DRAIN_RETRY: "the context was too long; finished stretches were folded away",
    Transition.REACTIVE_COMPACT_RETRY: "the context was too long; it was summarised",
    Transition.STOP_HOOK_BLOCKING: "a hook found that the work is not done",
    Transition.GOAL_RETRY: "the goal is not met, and the model is told what its command printed",
    Transition.TOKEN_BUDGET_CONTINUATION: "there is budget left for more work",
}
MAX_RESULT_LINES = 8
"""Lines of a result; of a command's output, the last ones."""
_CHANGES = {"+": GREEN, "-": RED}


class Narrator:
    def __init__(self, page: DemoScreen, *, shorten: Callable[[str], str], cap: int) -> None:
        """`shorten` takes out of a line what only this machine is interested in; `cap` is the cap on an answer's output."""
        self._view = TerminalText(page.screen, elapsed=time.monotonic, strikes=True)
        self._handlers = self._view.handlers
        self._shorten = shorten
        self._cap = cap
        self._turn = 0
        self._half_call = ""
        """The tool whose call the model is writing."""

    def tell(self, event: Event) -> None:
        match event:
            case RequestStarted(turn=turn) if turn != self._turn:
                self._turn = turn
                self._view.put_words(f"turn {turn}", BOLD)
            case BlockBegan(kind=kind, name=name):
                self._half_call = name if kind == "tool_use" else self._half_call
            case AnswerAdded():
                self._half_call = ""
            case CallBegan():
                event = msgspec.structs.replace(event, line=self._shorten(event.line))
            case CallEnded():
                event = msgspec.structs.replace(event, call_line=self._shorten(event.call_line))
            case Continued(transition=transition):
                self._view.put_words(f"→ {transition}: {TRANSITIONS[transition]}.", CYAN, kind="line")
                return
            case ResultEvent():
                # The summary says more.
                return
        if (handle := self._handlers.get(type(event))) is not None:
            handle(event)
        match event:
            case Retracted():
                why = explain_retraction(event, half_call=self._half_call, cap=self._cap)
                self._view.put_words(f"  {why}", YELLOW, kind="line")
                self._half_call = ""
            case CallEnded(shown=shown):
                for text, codes in render_result(shown, self._shorten):
                    self._view.say(f"  │ {text}", codes)

    def close(self) -> None:
        self._view.close()


def explain_retraction(event: Retracted, *, half_call: str, cap: int) -> str:
    """`half_call`: the tool whose input was cut off, if one was."""
    match event.cause:
        case RetractionCause.RETRY:
            return "It was half an answer, and nothing of it had run yet."
        case RetractionCause.ESCALATION if half_call:
            return f"It was cut at {cap} tokens, inside this {half_call}. Half a call never runs."
        case RetractionCause.ESCALATION:
            return f"It was cut at {cap} tokens."
        case _:
            return f"The cause: {event.cause}."


def render_result(shown: Any, shorten: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """What a tool brought, in a few lines, each with how it is painted."""
    match shown:
        case BashShown(stdout=output):
            yield from ((shorten(text), DIM) for text in find_telling_lines(output))
        case GrepShown(content=str(content)):
            yield from ((text, DIM) for text in content.splitlines()[:MAX_RESULT_LINES])
        case EditShown(structured_patch=hunks):
            changed = (text for hunk in hunks for text in hunk.lines if text[:1] in _CHANGES)
            yield from ((text, _CHANGES[text[:1]]) for text in changed)


def find_telling_lines(output: str) -> list[str]:
    """The end of the output without its rules and blanks; from the last error on, where one is named."""
    rows = [text for text in output.splitlines() if text.strip(" -=")]
    errors = [at for at, text in enumerate(rows) if text.split(":")[0].endswith("Error")]
    return rows[errors[-1] :][:MAX_RESULT_LINES] if errors else rows[-MAX_RESULT_LINES:]


def render_changes(diff: str) -> Iterator[tuple[str, str]]:
    for text in diff.splitlines():
        is_head = text.startswith(("diff ", "index ", "--- ", "+++ ", "@@"))
        yield text, DIM if is_head else _CHANGES.get(text[:1], "")
