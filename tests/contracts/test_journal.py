"""One suite for every journal: what was appended is what is replayed."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.commands import QueuedCommand
from everturn.core.errors import JournalError
from everturn.core.events import ModelUsage
from everturn.core.messages import Answer, Kind, Message, decode_block, text_block
from everturn.core.record_codec import record_message
from everturn.core.records import (
    FORMAT,
    CallIntended,
    CallSettled,
    CollapseNoted,
    CommandChanged,
    MessageRetracted,
    ModelChanged,
    QueryBegan,
    QueryEnded,
    SessionOpened,
    UsageCharged,
)
from everturn.ports.store import Journal, Replay
from everturn.sessions.journal import FileJournal
from everturn.sessions.unsaved import MemoryJournal

SESSION = SessionOpened(format=FORMAT, session_id="s", at=1.0, folder="/project", version="0")


@pytest.fixture(params=["file", "memory"])
def journal(request, tmp_path):
    made: Journal = FileJournal(tmp_path / "s.jsonl", "s") if request.param == "file" else MemoryJournal("s")
    yield made
    made.close()


def message(id_, text, **fields):
    return Message(id=id_, role="user", kind=Kind.PROMPT, blocks=(text_block(text),), **fields)


def test_an_empty_journal_replays_to_an_empty_session(journal):
    assert journal.replay() == Replay(session_id="s")


def test_messages_come_back_in_order_and_byte_for_byte(journal):
    odd = decode_block(b'{"type": "novelty",  "field": [1, 2.50, "\\u00e9"]}')
    answer = Message(
        id="a",
        role="assistant",
        kind=Kind.ANSWER,
        blocks=(odd, text_block("line\nbreak é")),
        answer=Answer(api_id="msg", asked="m", model="m", stop_reason="end_turn", usage=Usage(input=3, output=4)),
    )
    boundary = Message(id="b", role="user", kind=Kind.BOUNDARY, blocks=(), keeps=("p",), blames=("a",))
    said = [message("p", "hello"), answer, boundary]
    for one in (SESSION, *map(record_message, said)):
        journal.append(one)

    assert journal.replay().messages == tuple(said)


def test_a_retracted_message_is_gone(journal):
    journal.append(record_message(message("p", "kept")))
    journal.append(record_message(message("q", "dropped")))
    journal.append(MessageRetracted(id="q", cause="retry"))
    journal.append(MessageRetracted(id="never added", cause="retry"))

    assert journal.replay().messages == (message("p", "kept"),)


def test_every_charge_is_summed_in_all_and_per_model(journal):
    journal.append(UsageCharged(purpose="main", model="a", usage=Usage(input=10, output=1), usd=0.5))
    journal.append(UsageCharged(purpose="summary", model="b", usage=Usage(output=5), usd=0.25))
    journal.append(UsageCharged(purpose="main", model="a", usage=Usage(cache_read=7), usd=0.25))

    replay = journal.replay()

    assert (replay.usd, replay.usage) == (1.0, Usage(input=10, output=6, cache_read=7))
    assert replay.models == {
        "a": ModelUsage(usage=Usage(input=10, output=1, cache_read=7), usd=0.75, calls=2),
        "b": ModelUsage(usage=Usage(output=5), usd=0.25, calls=1),
    }


def test_the_model_is_the_one_that_lasts(journal):
    journal.append(QueryBegan(query_id="q", at=1.0, source="main", model="a"))
    assert journal.replay().model is None
    journal.append(ModelChanged(before="a", model="b", cause="overloaded"))
    journal.append(ModelChanged(before="b", model="c", cause="overloaded"))

    assert journal.replay().model == "c"


def test_an_intent_without_its_end_is_unsettled(journal):
    intents = [CallIntended(tool_use_id=f"t{n}", name="Bash", input=msgspec.Raw(b'{"command":"x"}')) for n in range(3)]
    for intent in intents:
        journal.append(intent)
    journal.append(CallSettled(tool_use_id="t1", is_error=False))

    assert [intent.tool_use_id for intent in journal.replay().unsettled] == ["t0", "t2"]
    assert bytes(journal.replay().unsettled[0].input) == b'{"command":"x"}'


def test_a_collapse_has_its_last_state(journal):
    staged = CollapseNoted(id="c", first="m1", last="m2", summary="done", state="staged")
    committed = msgspec.structs.replace(staged, state="committed")
    other = msgspec.structs.replace(staged, id="d")
    for note in (staged, other, committed):
        journal.append(note)

    assert journal.replay().collapses == (committed, other)


def test_a_command_that_was_never_completed_is_interrupted(journal):
    journal.append(CommandChanged(id="x", state="queued", text="also do this", address="agent:1"))
    journal.append(CommandChanged(id="y", state="queued", text="and that"))
    journal.append(CommandChanged(id="x", state="started"))
    journal.append(CommandChanged(id="y", state="started"))
    journal.append(CommandChanged(id="y", state="completed"))

    replay = journal.replay()
    assert replay.interrupted == (QueuedCommand(id="x", text="also do this", address="agent:1"),)
    assert replay.waiting == ()


def test_half_a_character_in_a_text_is_replaced(journal):
    journal.append(CommandChanged(id="x", state="queued", text="half \ud83d"))
    assert journal.replay().waiting == (QueuedCommand(id="x", text="half \ufffd"),)


def test_a_record_that_cannot_be_written_is_a_journal_error_and_leaves_no_trace(journal):
    answer = Answer(model="half \ud83d")
    with pytest.raises(JournalError, match="MessageAdded record cannot be written"):
        journal.append(record_message(message("x", "Hello.", answer=answer)))
    assert journal.replay() == Replay(session_id="s")
    journal.append(SESSION)


async def test_a_closed_journal_takes_nothing_more(journal):
    journal.append(SESSION)
    await journal.sync()
    journal.close()
    journal.close()

    with pytest.raises(JournalError, match="closed"):
        journal.append(SESSION)
    with pytest.raises(JournalError, match="closed"):
        await journal.sync()


async def test_sync_can_be_called_at_any_time(journal):
    await journal.sync()
    journal.append(QueryEnded(query_id="q", reason="completed"))
    await journal.sync()
    await journal.sync()
    assert journal.warnings == ()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.one_of(st.none(), TEXTS)), max_size=20))
@settings(max_examples=40, deadline=None)
def test_both_journals_tell_the_same_story(tmp_path_factory, steps):
    on_disk, in_memory = FileJournal(tmp_path_factory.mktemp("home") / "s.jsonl", "s"), MemoryJournal("s")
    for id_, text in steps:
        gone = MessageRetracted(id=id_, cause="retry")
        record = gone if text is None else record_message(message(id_, text))
        on_disk.append(record)
        in_memory.append(record)
    assert on_disk.replay() == in_memory.replay()
    on_disk.close()
