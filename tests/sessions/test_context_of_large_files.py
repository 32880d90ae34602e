"""Of a session whose oldest messages stay on the disk, what they told that must not be forgotten is known all the same."""

from tests.context.transcripts import called, note, prompt

from everturn.context.fact_tracker import FactTracker
from everturn.core.messages import Kind
from everturn.core.record_codec import record_message
from everturn.core.records import ResultsCleared, ResultSpilled
from everturn.sessions.lines import LineEncoder
from everturn.sessions.replay import ReplayFold


def test_facts_lines_and_files_outlive_the_messages_that_are_left_out():
    talk = [
        prompt("p"),
        *called(1, "Write", {"file_path": "/p/a"}),
        *called(2, "Bash", {"command": "make"}, "no", is_error=True),
    ]
    known = FactTracker()
    known.take(talk)
    boundary, summary = note("b", Kind.BOUNDARY, keeps=("p",)), note("s", Kind.SUMMARY)
    records = [
        *(record_message(message) for message in talk),
        ResultSpilled(tool_use_id="t1", path="/s/results/1", characters=9),
        ResultsCleared(lines={"t1": "[cleared]"}),
        known.keep(),
        *(record_message(message) for message in (boundary, summary, *called(3, "Edit", {"file_path": "/p/b"}))),
    ]
    encoder, fold = LineEncoder("s"), ReplayFold(most_held=1)
    for record in records:
        fold.read(encoder.encode(record))
    replay = fold.replay("s")

    assert [message.id for message in replay.messages] == ["p", "b", "s", "a3", "r3"]
    assert (replay.cleared, replay.spilled) == ({"t1": "[cleared]"}, ("/s/results/1",))
    again = FactTracker()
    again.restore(replay.messages, replay.facts)
    assert again.facts.changed_files == ("/p/a", "/p/b")
    assert [failing.command for failing in again.facts.failing] == ["make"]
