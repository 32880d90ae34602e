"""Text to a pipe: the final answer and nothing else; what went wrong is said on standard error."""

from collections.abc import Callable

from everturn.core.denials import Denial
from everturn.core.events import ErrorReleased, ResultEvent
from everturn.core.state import Reason
from everturn.frontends.headless.complaints import Complaints
from everturn.frontends.headless.sink import Sink
from everturn.frontends.headless.view import Handlers

INTERRUPTED = frozenset({Reason.ABORTED_STREAMING, Reason.ABORTED_TOOLS})


class PipeText:
    """Deltas have no handler here: an answer costs the same whether it came in one piece or in thousands."""

    def __init__(
        self, out: Sink, err: Sink, *, is_kept: Callable[[], bool] = lambda: True, only_managed: bool = False
    ) -> None:
        """`is_kept`: the session is on disk, to be gone on with. `only_managed`: only an administrator writes allow rules."""
        self._out = out
        self._complaints = Complaints(err)
        self._is_kept = is_kept
        self._only_managed = only_managed
        self._advice = ""

    @property
    def handlers(self) -> Handlers:
        return {**self._complaints.handlers, ErrorReleased: self._error, ResultEvent: self._result}

    def begin(self) -> None:
        pass

    def close(self) -> None:
        self._complaints.close()

    def _error(self, event: ErrorReleased) -> None:
        """Its text comes with the result."""
        from everturn.frontends.headless.advice import advise

        self._advice = advise(event.problem)

    def _result(self, event: ResultEvent) -> None:
        if text := answer_of(event):
            self._out.write_text(text if text.endswith("\n") else f"{text}\n")
        if denials := event.new_denials:
            from everturn.frontends.headless.advice import advise_denials

            self._complaints.say(render_denials(denials))
            if advice := advise_denials(denials, only_managed=self._only_managed):
                self._complaints.say(advice)
        for error in event.errors:
            self._complaints.say(error)
        if event.goal:
            from everturn.frontends.headless.goal_lines import render_goal

            for line in render_goal(event):
                self._complaints.say(line)
        if self._advice:
            self._complaints.say(self._advice)
        if event.reason in INTERRUPTED and not event.errors:
            self._complaints.say(render_interruption(is_kept=self._is_kept()))


def answer_of(event: ResultEvent) -> str:
    """The model's words; a query that was cut off has no answer, and one that only repeats its error neither."""
    if event.subtype != "success" and not event.answered:
        return ""
    return "" if event.text in event.errors else event.text


def render_interruption(*, is_kept: bool) -> str:
    kept = "The session is kept: go on with --continue." if is_kept else "The session is not kept."
    return f"Interrupted. {kept}"


def render_denials(denials: tuple[Denial, ...]) -> str:
    names = ", ".join(dict.fromkeys(denial.tool_name for denial in denials))
    if len(denials) == 1:
        return f"1 tool call was not allowed: {names} ({denials[0].reason})"
    return f"{len(denials)} tool calls were not allowed: {names} (the last: {denials[-1].reason})"
