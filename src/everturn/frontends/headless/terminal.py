"""Text on a terminal: the answer as it streams, a line for each tool call, and what happened on the way in dim."""

from collections.abc import Callable

from everturn.frontends.headless.view import Handlers
from everturn.frontends.screen import Screen
from everturn.frontends.transcript.answers import AnswerText
from everturn.frontends.transcript.calls import CallLines
from everturn.frontends.transcript.endings import Endings
from everturn.frontends.transcript.happenings import Happenings
from everturn.frontends.transcript.page import Page

FRAME_S = 0.05
"""Deltas and the status line are painted at most this often, however many come."""


class TerminalText:
    def __init__(
        self,
        screen: Screen,
        *,
        elapsed: Callable[[], float],
        asked_s: Callable[[], float] = lambda: 0.0,
        is_kept: Callable[[], bool] = lambda: True,
        only_managed: bool = False,
        strikes: bool = False,
    ) -> None:
        """`asked_s`: how long a person was waited for until now; no time that is shown includes it. `is_kept`: the session is on disk, to be gone on with. `only_managed`: only an administrator writes allow rules. `strikes`: words that are taken back stay, struck out."""
        self._page = page = Page(screen, elapsed=elapsed, asked_s=asked_s, frame_s=FRAME_S)
        answers = AnswerText(page, strikes=strikes)
        families = (
            answers,
            CallLines(page),
            Happenings(page, asked_for=lambda: answers.asked_for),
            Endings(page, is_kept=is_kept, only_managed=only_managed),
        )
        self.handlers: Handlers = {kind: show for family in families for kind, show in family.handlers.items()}
        self.say = page.say
        self.put_words = page.put_words

    def begin(self) -> None:
        self._page.waiting.begin("starting")
        self._page.plan_frame()

    def close(self) -> None:
        self._page.close()
