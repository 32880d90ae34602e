"""What happens between the words: retries, other models, compactions, the stop phase, notices."""

from collections.abc import Callable

from everturn.core import events as ev
from everturn.core.state import Transition
from everturn.frontends.ansi import DIM, GREEN, YELLOW
from everturn.frontends.figures import render_duration
from everturn.frontends.harmless import make_line
from everturn.frontends.headless.view import Handlers
from everturn.frontends.transcript.page import Page


class Happenings:
    def __init__(self, page: Page, *, asked_for: Callable[[], str]) -> None:
        """`asked_for`: what is waited for when a compaction has ended."""
        self._page = page
        self._asked_for = asked_for

    @property
    def handlers(self) -> Handlers:
        return {
            ev.RetryScheduled: self._retry,
            ev.ModelSwitched: self._switched,
            ev.Continued: self._continued,
            ev.ModeSwitched: self._mode,
            ev.ContextChanged: self._context,
            ev.CompactionBegan: self._compaction_began,
            ev.CompactionEnded: self._compaction_ended,
            ev.StopPhaseProgressed: self._stop_phase,
            ev.VerificationBegan: self._verification_began,
            ev.VerificationEnded: self._verification_ended,
            ev.Noticed: self._notice,
        }

    def _retry(self, event: ev.RetryScheduled) -> None:
        wait = f"again in {render_duration(event.delay_s)} ({event.attempt}/{event.max_tries})"
        self._page.say_with_ending(f"↻ {make_line(event.text).rstrip('.')}", wait, DIM)
        self._page.waiting.begin("waiting to try again")

    def _switched(self, event: ev.ModelSwitched) -> None:
        self._page.say(f"⇄ {make_line(event.model)} answers instead of {make_line(event.before)}", DIM)

    def _continued(self, event: ev.Continued) -> None:
        """The ordinary next turn needs no word."""
        if event.transition is not Transition.NEXT_TURN:
            self._page.say(f"→ {event.transition}", DIM)

    def _mode(self, event: ev.ModeSwitched) -> None:
        self._page.say(f"⇄ permission mode {event.mode} (before: {event.before})", DIM)

    def _context(self, event: ev.ContextChanged) -> None:
        if event.tokens_before:
            sizes = f"{event.tokens_before:,} → {event.tokens_after:,} tokens"
            self._page.say(f"⊟ {event.stage}: {sizes} ({event.cause})", DIM)

    def _compaction_began(self, _event: ev.CompactionBegan) -> None:
        self._page.waiting.begin("compacting")
        self._page.plan_frame()

    def _compaction_ended(self, _event: ev.CompactionEnded) -> None:
        self._page.waiting.begin(self._asked_for())

    def _stop_phase(self, event: ev.StopPhaseProgressed) -> None:
        self._page.say(f"{make_line(event.step)}: {make_line(event.text)}", DIM)

    def _verification_began(self, event: ev.VerificationBegan) -> None:
        self._page.waiting.begin(f"verifying the goal: {make_line(event.command)}")
        self._page.plan_frame()

    def _verification_ended(self, event: ev.VerificationEnded) -> None:
        from everturn.frontends.headless.goal_lines import render_verification

        self._page.say(make_line(render_verification(event)), GREEN if event.passed else YELLOW)

    def _notice(self, event: ev.Noticed) -> None:
        if event.level is ev.Level.WARNING:
            # What protects somebody, and the way out at its end, must not fall off the edge.
            self._page.put_words(f"! {make_line(event.text)}", YELLOW, kind="line")
        else:
            self._page.say(f"! {make_line(event.text)}", DIM)
