"""What the run came to: counted from its events, and said at the end."""

from collections import Counter

from everturn.cli.demo.lines import Line, Span, Style, joined, line, wrap
from everturn.cli.demo.repository import Tested
from everturn.cli.demo.results import render_changes, telling_lines
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

_LABEL = 13


class Tally:
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


def render_summary(tally: Tally, result: ResultEvent, width: int, *, requests: int, refused: int) -> list[Line]:
    usage = result.usage
    refusals = "none of them refused by the strict server" if not refused else f"{refused} refused"
    rows = {
        "ended": result.terminal_reason,
        "turns": f"{tally.turns}, with {requests} HTTP requests ({refusals})",
        "went on by": render_counts(tally.transitions),
        "recovered": f"retries: {render_counts(tally.retries)} · answers taken back: {render_counts(tally.retractions)}",
        "tools": render_counts(tally.tools),
        "tokens": joined(
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
    return [row for label, text in rows.items() for row in render_row(label, text, width)]


def render_row(label: str, text: str, width: int) -> list[Line]:
    (_, first), *rest = wrap(text, width, rest=" " * (_LABEL + 2))
    return [line("  ", Span(label.ljust(_LABEL), Style.FAINT), first), *rest]


def render_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{many} {name}" for name, many in counts.items()) or "none"


def cache_share(usage: Usage) -> float:
    prompt = usage.input + usage.cache_write + usage.cache_read
    return usage.cache_read / prompt if prompt else 0.0


def render_diff_section(diff: str, width: int, *, by_git: bool) -> list[Line]:
    title = "The diff (git diff)" if by_git else "The diff (made without git)"
    return [(), *heading(title, width), *(render_changes(diff) if diff else [line("  nothing was changed")])]


def render_tests_section(tested: Tested, width: int) -> list[Line]:
    title: list[Line] = [(), *heading("The tests, run once more by the demo itself (python -m unittest)", width)]
    if tested.passed:
        mark, said = Span("  ✓ ", Style.GOOD), f"all {tested.count} pass, {tested.duration_s:.2f} s"
        return [*title, line(mark, said)]
    return [
        *title,
        line(Span("  ✗ ", Style.BAD), "they do not pass"),
        *(line("    ", Span(text, Style.FAINT)) for text in telling_lines(tested.output)),
    ]


def heading(text: str, width: int) -> list[Line]:
    return wrap(text, width, Style.STRONG)
