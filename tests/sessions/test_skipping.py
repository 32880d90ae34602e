"""Of a very large session only what is still needed is decoded, and what comes of it is what all of it would tell."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.contexts import Contexts
from everturn.core.errors import JournalError
from everturn.core.messages import Answer, Kind, Message, text_block
from everturn.core.notes import Notes
from everturn.core.record_codec import record_message
from everturn.core.records import (
    FORMAT,
    CallIntended,
    CallSettled,
    CollapseNoted,
    CommandChanged,
    CompactionTried,
    ContextAltered,
    ContextsKept,
    ErrorWithheld,
    FilesKnown,
    MessageRetracted,
    ModeChanged,
    ModelChanged,
    NotesKept,
    QueryBegan,
    QueryEnded,
    Rewound,
    SeenFile,
    SessionOpened,
    TransitionTaken,
    UsageCharged,
)
from everturn.core.state import Guards
from everturn.core.transcript import view_of
from everturn.sessions.blobs import BlobStore
from everturn.sessions.disk import LocalDisk
from everturn.sessions.line_reader import ReadProgress, tell_slow_reading
from everturn.sessions.lines import LineEncoder
from everturn.sessions.session_files import load_fold, load_session
from everturn.sessions.skip import find_start
from everturn.testing import MemoryDisk

PLACE = Path("/home/s.jsonl")


class Story:
    """A session as an engine could have written it."""

    def __init__(self):
        self.records = [SessionOpened(format=FORMAT, session_id="s", at=0.0, folder="/p", version="0")]
        self.ids = []

    def tell(self, step, number):
        getattr(self, step)(number)

    def say(self, id_, kind=Kind.PROMPT, role="user", words="x" * 300, **fields):
        message = Message(id=id_, role=role, kind=kind, blocks=(text_block(words),), **fields)
        self.records.append(record_message(message))
        self.ids.append(id_)

    def turn(self, number):
        model = f"model-{number % 3}"
        self.records.append(QueryBegan(query_id=f"q{number}", at=0.0, source="main", model=model, mode="default"))
        self.say(f"p{number}")
        charge = UsageCharged(
            purpose="main", model=model, usage=Usage(input=1, output=number), usd=0.5, request_id=f"a{number}"
        )
        self.records.append(charge)
        self.say(f"a{number}", Kind.ANSWER, "assistant", answer=Answer(model=model, usage=Usage(input=number + 1)))
        intent = CallIntended(tool_use_id=f"t{number}", name="Bash", input=msgspec.Raw(b"{}"))
        seen = SeenFile(path=f"/p/{number % 4}", size=number, mtime_ns=1, digest="d")
        transition = TransitionTaken(query_id="q", transition="next_turn", turn=2, guards=Guards(turn=number + 1))
        teller = None if number % 2 else f"r{number}"
        self.records += [intent, FilesKnown(seen=(seen,), message=teller, changed={seen.path: f"t{number}"})]
        self.say(f"r{number}", Kind.RESULTS, words="z" * (200_000 if number % 5 == 1 else 10))
        self.records += [CallSettled(tool_use_id=f"t{number}", is_error=False), transition]

    def end(self, number):
        self.records += [ErrorWithheld(kind="x", text="y"), QueryEnded(query_id=f"q{number}", reason="completed")]

    def note(self, number):
        self.records += [NotesKept(notes=Notes(plan=str(number))), ModeChanged(mode=f"mode-{number}")]

    def learn(self, number):
        """Of a context; every third time the message that tells of it is lost."""
        contexts = Contexts(user={"rules": str(number)})
        self.records += [ContextsKept(contexts=contexts), ContextsKept(contexts=contexts, message=f"k{number}")]
        if number % 3:
            self.say(f"k{number}", Kind.ATTACHMENT)

    def switch(self, number):
        self.records.append(ModelChanged(before="", model=f"model-{number}", cause="x"))

    def queue(self, number):
        self.records.append(CommandChanged(id=f"c{number}", state="queued", text=f"words {number}"))

    def take(self, number):
        self.records.append(CommandChanged(id=f"d{number}", state="started", text=f"started {number}"))
        if number % 2:
            self.say(f"h{number}", Kind.HIDDEN, words=f"They said: started {number}")

    def retract(self, _):
        """An answer or a prompt; nobody takes back a summary."""
        if self.ids and self.ids[-1][0] not in "bs":
            self.records.append(MessageRetracted(id=self.ids.pop(), cause="x"))

    def compact(self, number):
        keeps = tuple(self.ids[-(number % 3) :]) if number % 3 else ()
        self.records.append(CollapseNoted(id=f"c{number}", first="a", last="b", summary="s", state="staged"))
        self.say(f"b{number}", Kind.BOUNDARY, keeps=keeps)
        self.say(f"s{number}", Kind.SUMMARY)
        change = ContextAltered(stage="compact", cause="full", tokens_before=9, tokens_after=1)
        self.records += [CompactionTried(failures=0, count=number), change, FilesKnown(cleared=bool(number % 2))]

    def half_compact(self, number):
        self.say(f"x{number}", Kind.BOUNDARY)

    def rewind(self, number):
        if self.ids:
            del self.ids[len(self.ids) // 2 + 1 :]
            self.records.append(Rewound(to=self.ids[-1]))
        self.turn(number + 1_000)

    def write(self, disk):
        encoder = LineEncoder("s", now=lambda: 0.0)
        disk.make_folder(PLACE.parent)
        handle = disk.open(PLACE, create=True)
        disk.write(handle, b"".join(map(encoder.encode, self.records)))
        return handle


USUAL = (
    "turn",
    "turn",
    "turn",
    "end",
    "end",
    "note",
    "learn",
    "switch",
    "queue",
    "take",
    "retract",
    "compact",
    "compact",
)
stories = st.lists(st.sampled_from((*USUAL, "half_compact", "rewind")), min_size=4, max_size=40)


@given(stories)
@settings(max_examples=150, deadline=None)
def test_it_is_the_session_that_all_lines_tell(steps):
    story, disk = Story(), MemoryDisk()
    for number, step in enumerate(steps):
        story.tell(step, number)
    handle = story.write(disk)
    blobs = BlobStore(disk, Path("/home/s/blobs"))

    whole, tail = load_fold(disk, handle, "s", blobs)
    skimmed, same = load_fold(disk, handle, "s", blobs, most_held=0)

    assert same == tail
    left, right = whole.replay("s"), skimmed.replay("s")
    assert view_of(left.messages) == view_of(right.messages)
    nothing = {"messages": ()}
    if left.query is not None:
        # Where calls are looked for that were repeated: not among those that nobody sees any more.
        nothing["query"] = msgspec.structs.replace(left.query, began_with=right.query.began_with)
    assert msgspec.structs.replace(left, **nothing) == msgspec.structs.replace(right, messages=())
    assert (whole.last_message, whole.last_time) == (skimmed.last_message, skimmed.last_time)


@given(stories, st.integers(300, 4_000))
@settings(max_examples=60, deadline=None)
def test_where_reading_begins_does_not_depend_on_the_pieces(steps, piece):
    story, disk = Story(), MemoryDisk()
    for number, step in enumerate(steps):
        story.tell(step, number)
    handle = story.write(disk)
    starts = {find_start(disk, handle, ReadProgress(0), most=1 << 30, piece=size) for size in (piece, 1 << 20)}
    # A way back that stands before the boundary is seen in a large piece, and met later in a small one.
    assert len(starts - {0}) <= 1
    assert all(disk.pread(handle, 14, start) == b'{"parentUuid":' for start in starts - {0})


def test_a_boundary_that_a_tool_was_given_as_its_input_is_none():
    disk, story = MemoryDisk(), Story()
    story.turn(1)
    told = text_block("x").raw.replace(b'"x"', b'"x","input":{"subtype":"compact_boundary"}')
    story.records.append(
        msgspec.structs.replace(story.records[2], id="odd", blocks=(msgspec.Raw(told), msgspec.Raw(told)))
    )
    assert find_start(disk, story.write(disk), ReadProgress(0), most=1 << 30) == 0


def test_what_nobody_could_go_on_with_is_refused_before_it_is_read(tmp_path):
    disk, story = LocalDisk(), Story()
    for number in range(40):
        story.say(f"m{number}", words="y" * 50_000)
    path = tmp_path / "s.jsonl"
    encoder = LineEncoder("s", now=lambda: 0.0)
    path.write_bytes(b"".join(map(encoder.encode, story.records)))
    handle = disk.open_for_reading(path)
    with pytest.raises(JournalError, match="everturn sessions export s --output FILE"):
        load_fold(disk, handle, "s", BlobStore(disk, tmp_path), most_held=0, most_in_view=1_000_000)
    disk.close(handle)
    assert len(load_session(path)[0].messages) == 40


def test_a_long_reading_is_told_of_now_and_then():
    told, clock = [], iter([0.0, 1.9, 2.1, 7.0, 7.2])
    tell_slow_reading(told.append)
    progress = ReadProgress(5_000_000_000, now=lambda: next(clock))
    for done in (1, 2, 3, 4):
        progress.note(done * 1_000_000_000)
    assert told == ["Reading 5,000 MB of sessions: 40 %", "Reading 5,000 MB of sessions: 80 %"]
