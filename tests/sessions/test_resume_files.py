"""Whatever a session learned and forgot of files, its records tell the same, in the same order."""

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from everturn.core.records import FilesKnown, QueryBegan, SeenFile
from everturn.engine.resumed_session import decode_files, encode_news
from everturn.ports.files import FileState, FileStates, Stamp
from everturn.sessions.replayed_state import ReplayedState

MAX_COUNT = 4
PATHS = st.sampled_from("abcdef")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("see"), PATHS, st.integers(0, 3)),
        st.tuples(st.just("forget"), PATHS, st.just(0)),
        st.tuples(st.just("change"), PATHS, st.integers(0, 3)),
        st.tuples(st.just("clear"), st.just(""), st.just(0)),
        st.tuples(st.just("tell"), st.just(""), st.just(0)),
    ),
    max_size=40,
)


def state(size):
    return FileState(stamp=Stamp(size=size, mtime_ns=size, digest=str(size)), partial=size == 1, shown=size == 2)


@given(STEPS, st.booleans())
@example(
    [("see", path, 0) for path in "abcd"] + [("tell", "", 0), ("see", "e", 0), ("tell", "", 0), ("forget", "e", 0)],
    False,
)
@settings(max_examples=200, deadline=None)
def test_what_is_restored_is_what_was_known(steps, in_forks):
    files, standing = FileStates(MAX_COUNT), ReplayedState()
    for do, path, size in [*steps, ("tell", "", 0)]:
        calls = files.fork() if in_forks and do in {"see", "forget", "change"} else files
        match do:
            case "see":
                calls.remember(path, state(size))
            case "forget":
                calls.forget(path)
            case "change":
                calls.note_change(path, by=f"call {size}")
            case "clear":
                files.clear()
            case _:
                standing.take(encode_news(files.take_news(), None))
                standing.add_message()
        if calls is not files:
            files.adopt(calls)
    restored = FileStates(MAX_COUNT)
    restored.restore(decode_files(standing.files.values()), standing.changed_files)

    assert (list(restored), list(restored.changed.items())) == (list(files), list(files.changed.items()))
    assert not restored.has_news


SEEN = SeenFile(path="a", size=1, mtime_ns=1, digest="1")


@pytest.mark.parametrize("told", [True, False])
def test_what_was_read_counts_when_the_message_that_tells_of_it_is_there(told):
    standing = ReplayedState()
    standing.take(FilesKnown(seen=(SEEN,)))
    if told:
        standing.add_message()

    assert list(standing.files.values()) == ([SEEN] if told else [])


@pytest.mark.parametrize("told", [True, False])
def test_what_a_lost_message_told_does_not_count_with_the_next_one(told):
    """Killed between the two records: the next process adds a message of its own."""
    standing = ReplayedState()
    standing.take(FilesKnown(seen=(SEEN,), message="results"))
    if told:
        standing.add_message("results")
    standing.add_message("prompt")

    assert list(standing.files.values()) == ([SEEN] if told else [])


def test_what_a_message_tells_counts_though_another_stands_between():
    standing = ReplayedState()
    standing.take(FilesKnown(seen=(SEEN,), message="summary", cleared=True))
    standing.add_message("boundary")
    assert standing.files == {}

    standing.add_message("summary")
    assert list(standing.files.values()) == [SEEN]


def test_what_no_message_need_tell_counts_at_once():
    """Its result was cleared, and the process ended: whoever reads the file again must see it."""
    standing = ReplayedState()
    standing.take(FilesKnown(seen=(msgspec.structs.replace(SEEN, shown=True),), message="results"))
    standing.add_message("results")
    standing.take(FilesKnown(seen=(SEEN,), message=""))

    assert list(standing.files.values()) == [SEEN]


def test_what_is_out_of_sight_is_forgotten_at_once():
    standing = ReplayedState()
    standing.take(FilesKnown(seen=(SEEN,)))
    standing.add_message()
    standing.take(FilesKnown(cleared=True))

    assert standing.files == {}


def test_a_record_that_only_tells_a_story_changes_nothing_that_holds():
    standing = ReplayedState()
    assert standing.take(QueryBegan(query_id="q", at=0.0, source="main", model="m", mode="plan"))
    assert (standing.asked_model, standing.model, standing.mode) == ("m", None, "plan")
