"""How a query or a command ended: errors, the goal, what would have been allowed, and the figures."""

from collections.abc import Callable

from everturn.core import events as ev
from everturn.frontends.ansi import DIM, RED, YELLOW
from everturn.frontends.commands import CommandOutput
from everturn.frontends.figures import render_count, render_duration, render_usage, render_usd
from everturn.frontends.headless.advice import advise, advise_denials
from everturn.frontends.headless.text import INTERRUPTED, answer_of, render_interruption
from everturn.frontends.headless.view import Handlers
from everturn.frontends.transcript.page import Page


class Endings:
    def __init__(
        self,
        page: Page,
        *,
        is_kept: Callable[[], bool] = lambda: True,
        only_managed: bool = False,
        render_interrupted: Callable[..., str] = render_interruption,
    ) -> None:
        """`is_kept`: the session is on disk, to be gone on with. `only_managed`: only an administrator writes allow rules."""
        self._page = page
        self._is_kept = is_kept
        self._only_managed = only_managed
        self._render_interrupted = render_interrupted
        self._error_said = False
        self._asked_before_s = 0.0
        """How long the person was waited for until the end of the query before."""

    @property
    def handlers(self) -> Handlers:
        return {ev.ErrorReleased: self._error, CommandOutput: self._said, ev.ResultEvent: self._result}

    def _error(self, event: ev.ErrorReleased) -> None:
        self._error_said = True
        self._page.put_words(event.problem.text, RED)
        if advice := advise(event.problem):
            self._page.put_words(advice, DIM, kind="line")

    def _said(self, said: CommandOutput) -> None:
        page = self._page
        if said.paint is not None:
            page.end_text()
            page.open_paragraph("text")
            page.screen.put(said.paint(page.screen.style, page.screen.columns))
        else:
            page.put_words(said.text, RED if said.is_error else "")
        self._error_said = True

    def _result(self, event: ev.ResultEvent) -> None:
        page = self._page
        page.end_text()
        page.waiting.end()
        error_said, self._error_said = self._error_said, False
        if not error_said:
            for error in event.errors:
                page.put_words(error, RED)
        if event.goal:
            from everturn.frontends.headless.goal_lines import render_goal

            for line in render_goal(event):
                page.put_words(line, YELLOW if event.goal_files else DIM, kind="line")
        if advice := advise_denials(event.new_denials, only_managed=self._only_managed):
            page.put_words(advice, DIM, kind="line")
        is_interrupted = event.reason in INTERRUPTED and not event.errors
        if is_interrupted:
            page.put_words(self._render_interrupted(is_kept=self._is_kept()), DIM, kind="line")
        asked_s = page.asked_s() - self._asked_before_s
        self._asked_before_s += asked_s
        if event.num_turns:
            has_said_why = is_interrupted or (answer_of(event) and not event.is_error)
            stopped = "" if has_said_why else f"{event.terminal_reason} · "
            page.put_words(f"— {stopped}{render_figures(event, asked_s)}", DIM, kind="closing")


def render_figures(event: ev.ResultEvent, asked_s: float) -> str:
    """`asked_s`: how long the person was waited for meanwhile."""
    rounds, worked = render_count(event.rounds, "round"), render_duration(event.duration_s - asked_s)
    return " · ".join((rounds, render_usage(event.usage), render_usd(event.total_usd), worked))
