"""The terminal as a device: what it can do is asked once, what it answers counts whenever it comes, and in the end it is as it was."""

import time
from collections.abc import Callable, Mapping

import msgspec

from everturn.frontends.terminal.inputs import AnswerKind, TerminalAnswer
from everturn.frontends.terminal.live_screen import LiveScreen
from everturn.frontends.terminal.palette import Palette, choose_palette, find_depth
from everturn.frontends.terminal.reports import (
    ProgressState,
    TerminalChoices,
    ask_terminal,
    begin_session,
    choose_features,
    copy,
    end_session,
    is_light,
    link,
    notify,
    set_title,
    show_progress,
)

ANSWER_PATIENCE_S = 1.0
"""A terminal behind a slow line has answered after so long, or never will."""


class TerminalDevice:
    def __init__(self, screen: LiveScreen, env: Mapping[str, str], choices: TerminalChoices) -> None:
        self._screen = screen
        self._env = env
        self._choices = choices
        self._answers: list[TerminalAnswer] = []
        self._features = choose_features(env, (), choices)
        self._is_ours = False
        self._asked_s: float | None = None
        self._title = ""
        self._progress = ProgressState.NONE
        self.changed: Callable[[], None] = lambda: None
        """Called when the colours have changed."""

    @property
    def palette(self) -> Palette:
        return choose_palette(find_depth(self._env), light=is_light(self._env, self._answers, self._choices))

    def begin(self) -> None:
        """The terminal is ours; what it can do is asked the first time."""
        self._is_ours = True
        asked = "" if self._answers else ask_terminal(self._env)
        self._asked_s = time.monotonic() if asked else self._asked_s
        self._screen.send(begin_session(self._features) + asked)
        if self._title:
            self._screen.send(set_title(self._features, self._title))

    @property
    def patience_s(self) -> float:
        """How long an answer may still be on its way."""
        return 0.0 if self._asked_s is None else max(self._asked_s + ANSWER_PATIENCE_S - time.monotonic(), 0.0)

    def end(self) -> None:
        if self._is_ours:
            self._is_ours = False
            self._screen.send(end_session(self._features))

    def receive(self, answer: TerminalAnswer) -> None:
        """The last answer is the one that every terminal gives: then it is known what there is."""
        self._answers.append(answer)
        if answer.kind is not AnswerKind.ATTRIBUTES:
            return
        known = choose_features(self._env, self._answers, self._choices)
        self._screen.synchronized = known.synchronized
        if known != self._features and self._is_ours:
            self._screen.send(end_session(self._features))
            self._features = known
            self._screen.send(begin_session(known))
        self._features = known
        self.changed()

    def choose_theme(self, theme: str) -> None:
        """`light` or `dark`; empty: as the background is."""
        self._choices = msgspec.structs.replace(self._choices, theme=theme)
        self.changed()

    def link(self, painted: str, address: str) -> str:
        """The text as it is where the terminal opens no addresses."""
        return link(self._features, painted, address)

    def copy(self, text: str) -> bool:
        """False where the terminal has no clipboard for us, or not for so much."""
        sequence = copy(self._features, text)
        self._screen.send(sequence)
        return bool(sequence)

    def notify(self, title: str, body: str) -> None:
        self._screen.send(notify(self._features, title, body))

    def show_title(self, title: str) -> None:
        if title != self._title:
            self._title = title
            self._screen.send(set_title(self._features, title))

    def show_progress(self, state: ProgressState) -> None:
        if state is not self._progress:
            self._progress = state
            self._screen.send(show_progress(self._features, state))
