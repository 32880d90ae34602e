"""What the run came to: counted from its events, and said at the end."""

from collections import Counter

from everturn.cli.demo.narrator import find_telling_lines, render_changes
from everturn.cli.demo.page import DemoScreen
from everturn.cli.demo.repository import DemoTests
from everturn.core.budget import Usage
from everturn.core.events import (
    CallBegan,
    CallEnded,
    Continued,
    Event,
    RequestStarted,
    ResultEvent,
    Retracted,
    RetryScheduled,
)
from everturn.frontends.ansi import BOLD, DIM, GREEN, RED


class DemoTally:
    """Counts what passes by."""

    def __init__(self) -> None:
        self.turns = 0
        self.transitions = Counter[str]()
        self.retries = Counter[str]()
        self.retractions = Counter[str]()
        self.tools = Counter[str]()
        self.tools_s = 0.0
        self.result: ResultEvent | None = None

    def note(self, event: Event) -> None:
        match event:
            case RequestStarted(turn=turn):
                self.turns = max(self.turns, turn)
            case Continued(transition=transition):
                self.transitions[transition] += 1
            case RetryScheduled(error=error):
                self.retries[error] += 1
            case Retracted(cause=cause):
                self.retractions[cause] += 1
            case CallBegan(name=name):
                self.tools[name] += 1
            case CallEnded(duration_s=seconds):
                self.tools_s += seconds
            case ResultEvent():
                self.result = event


def put_summary(page: DemoScreen, tally: DemoTally, result: ResultEvent, *, requests: int, refused: int) -> None:
    usage = result.usage
    refusals = "none of them refused by the strict server" if not refused else f"{refused} refused"
    rows = {
        "ended": result.terminal_reason,
        "goal": f"{result.goal}, by verification {result.goal_attempts}",
        "turns": f"{tally.turns}, with {requests} HTTP requests ({refusals})",
        "went on by": render_counts(tally.transitions),
        "recovered": f"retries: {render_counts(tally.retries)} · answers taken back: {render_counts(tally.retractions)}",
        "tools": render_counts(tally.tools),
        "tokens": " · ".join(
            (
                f"input {usage.input:,}",
                f"cache write {usage.cache_write:,}",
                f"cache read {usage.cache_read:,}",
                f"output {usage.output:,}",
            )
        ),
        "cache share": f"{cache_share(usage):.0%} of the prompt tokens were read from the cache",
        "cost": f"${result.total_usd:.4f} at the catalogue's prices for {', '.join(result.models)}, "
        "what was taken back included; paid: nothing",
        "time": f"{result.duration_s:.1f} s: {result.api_duration_s:.1f} s with the model, {tally.tools_s:.1f} s in tools",
    }
    put_heading(page, "Summary")
    for label, text in rows.items():
        page.put_row(label, text)


def render_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{many} {name}" for name, many in counts.items()) or "none"


def cache_share(usage: Usage) -> float:
    prompt = usage.input + usage.cache_write + usage.cache_read
    return usage.cache_read / prompt if prompt else 0.0


def put_diff(page: DemoScreen, diff: str, *, by_git: bool) -> None:
    put_heading(page, "The diff (git diff)" if by_git else "The diff (made without git)")
    if not diff:
        page.put_line("  nothing was changed")
    for text, codes in render_changes(diff):
        page.put_line(f"  {text}" if text.strip() else "", codes)


def put_tests(page: DemoScreen, tested: DemoTests) -> None:
    put_heading(page, "The tests, run once more by the demo itself (python -m unittest)")
    if tested.passed:
        page.put_line(f"  ✓ all {tested.count} pass, {tested.duration_s:.2f} s", GREEN)
        return
    page.put_line("  ✗ they do not pass", RED)
    for text in find_telling_lines(tested.output):
        page.put_line(f"    {text}", DIM)


def put_heading(page: DemoScreen, text: str) -> None:
    page.put_line("")
    page.put(text, BOLD)
