"""What the narrator says of events that the demo's own run does not bring."""

import io

import pytest

from everturn.cli.demo.explain import TRANSITIONS
from everturn.cli.demo.narrator import Narrator
from everturn.cli.demo.screen import Screen
from everturn.core.events import (
    BlockBegan,
    CallDenied,
    CallEnded,
    ErrorReleased,
    Noticed,
    Retracted,
    RetractionCause,
    RetryScheduled,
    TextDelta,
)
from everturn.core.outcomes import Problem
from everturn.core.state import Transition

SAID = [BlockBegan(message_id="m", index=0, kind="text"), TextDelta(message_id="m", index=0, text="Half an ans")]


def told(*events):
    out = io.StringIO()
    narrator = Narrator(Screen(out, live=False, width=80, height=24), shorten=str.strip, cap=100)
    for event in events:
        narrator.tell(event)
    return out.getvalue()


def retracted(cause):
    return Retracted(message_id="m", cause=cause)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (CallDenied(tool_use_id="t", name="Bash", reason="mode plan"), "✗ Bash was not allowed: mode plan.\n"),
        (Noticed(text="This session is not saved."), "· This session is not saved.\n"),
        (ErrorReleased(problem=Problem(text="Nothing helped.")), "✗ Nothing helped.\n"),
        (
            RetryScheduled(attempt=2, max_tries=10, delay_s=1, status=500, error="server", text="Broken."),
            "↻ Broken. Attempt 2 of 10; next in 1.0 s.\n",
        ),
        (CallEnded(tool_use_id="t", name="Bash", is_error=True, duration_s=0), ""),
    ],
)
def test_everything_that_matters_gets_a_line(event, line):
    assert told(event) == line


@pytest.mark.parametrize(
    ("cause", "line"),
    [
        (RetractionCause.ESCALATION, "↶ Taken back: cut at 100 tokens.\n"),
        (RetractionCause.FALLBACK, "↶ Taken back (fallback).\n"),
    ],
)
def test_what_is_taken_back_is_struck_out_and_explained(cause, line):
    assert told(*SAID, retracted(cause)) == f"  ~~Half an ans~~\n{line}"


def test_every_transition_has_its_sentence():
    assert set(TRANSITIONS) == set(Transition)
