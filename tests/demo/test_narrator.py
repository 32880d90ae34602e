"""What the narrator says of events that the demo's own run does not bring."""

import io

import pytest

from everturn.cli.demo.narrator import TRANSITIONS, Narrator
from everturn.cli.demo.page import DemoScreen
from everturn.core.events import (
    BlockBegan,
    CallDenied,
    CallEnded,
    Continued,
    ErrorReleased,
    Noticed,
    Retracted,
    RetractionCause,
    RetryScheduled,
    TextDelta,
)
from everturn.core.outcomes import Problem
from everturn.core.state import Transition
from everturn.frontends.ansi import Style
from everturn.frontends.headless.sink import Sink

SAID = [BlockBegan(message_id="m", index=0, kind="text"), TextDelta(message_id="m", index=0, text="Half an ans")]


def told(*events, live=False):
    out = io.BytesIO()
    page = DemoScreen(Sink(out), Style(colour=live, control=live), lambda: (80, 24), ascii_only=False)
    narrator = Narrator(page, shorten=str.strip, cap=100)
    for event in events:
        narrator.tell(event)
    narrator.close()
    return out.getvalue().decode()


def retracted(cause):
    return Retracted(message_id="m", cause=cause)


@pytest.mark.parametrize(
    ("events", "line"),
    [
        (
            [
                CallDenied(tool_use_id="t", name="Bash", reason="mode plan"),
                CallEnded(tool_use_id="t", name="Bash", is_error=True, duration_s=0),
            ],
            "✗ Bash: not allowed (mode plan)\n",
        ),
        ([Noticed(text="This session is not saved.")], "! This session is not saved.\n"),
        ([ErrorReleased(problem=Problem(text="Nothing helped."))], "Nothing helped.\n"),
        (
            [RetryScheduled(attempt=2, max_tries=10, delay_s=1, status=500, error="server", text="Broken.")],
            "↻ Broken  again in 1.0 s (2/10)\n",
        ),
        (
            [Continued(transition=Transition.STOP_HOOK_BLOCKING, turn=2)],
            "→ stop_hook_blocking: a hook found that the work is not done.\n",
        ),
    ],
)
async def test_everything_that_matters_gets_a_line(events, line):
    assert told(*events) == line


@pytest.mark.parametrize(
    ("cause", "why"),
    [
        (RetractionCause.ESCALATION, "It was cut at 100 tokens."),
        (RetractionCause.FALLBACK, "The cause: fallback."),
    ],
)
async def test_what_is_taken_back_is_explained(cause, why):
    shown = told(*SAID, retracted(cause))

    assert shown == f"Half an ans\n\n↶ taken back ({cause}): the words above no longer count\n  {why}\n"


async def test_on_a_terminal_what_is_taken_back_is_struck_out():
    assert "\x1b[2;9mHalf\x1b[0m" in told(*SAID, retracted(RetractionCause.RETRY), live=True)


def test_every_transition_has_its_sentence():
    assert set(TRANSITIONS) == set(Transition)
