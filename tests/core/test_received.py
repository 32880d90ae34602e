"""What a response cost that broke off: an estimate of what was received, between two bounds, until the API counts it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.stream import (
    DUE_CHARACTERS,
    BlockStarted,
    BlockStopped,
    CitationAdded,
    CompactionFilled,
    Fold,
    InputAdded,
    MessageChanged,
    MessageStarted,
    MessageStopped,
    Pinged,
    SignatureAdded,
    TextAdded,
    ThinkingAdded,
)

TEXT = b'{"type":"text","text":""}'
SHOWN = {"text": TextAdded, "thinking": ThinkingAdded, "tool_use": InputAdded}
PIECES = st.lists(st.text(max_size=40), max_size=12)
BLOCKS = st.lists(st.tuples(st.sampled_from(sorted(SHOWN)), PIECES), max_size=5)


def fold(*events) -> Fold:
    folded = Fold(str)
    for event in events:
        folded.feed(event)
    return folded


def play(blocks, output):
    """All events of an answer, and what the model wrote with each."""
    yield MessageStarted("m", "m", {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 5}), ""
    for index, (kind, pieces) in enumerate(blocks):
        name = {"name": "Read", "id": "toolu_1", "input": {}} if kind == "tool_use" else {}
        yield BlockStarted(index, msgspec.json.encode({"type": kind, **name})), name.get("name", "")
        for piece in pieces:
            yield SHOWN[kind](index, piece), piece
        yield SignatureAdded(index, "s" * 999), ""
        yield Pinged(), ""
        yield BlockStopped(index), ""
    yield MessageChanged("end_turn", {}, {"output_tokens": output}), ""
    yield MessageStopped(), ""


@given(blocks=BLOCKS, output=st.integers(1, 10**6), data=st.data())
def test_wherever_an_answer_is_cut_it_costs_what_was_received(blocks, output, data):
    events = list(play(blocks, output))
    cut = data.draw(st.integers(1, len(events)))
    folded = fold(*(event for event, _ in events[:cut]))
    written = "".join(piece for _, piece in events[:cut])

    usage, least = folded.usage, folded.take_least_usage()

    assert (usage.input, usage.cache_read) == (least.input, least.cache_read) == (9, 5)
    if cut >= len(events) - 1:
        assert usage == least == Usage(input=9, output=output, cache_read=5)
        return
    assert len(written) // 6 <= least.output <= usage.output <= max(1, len(written.encode()))
    assert usage.output == max(1, -(-len(written.encode()) // 4))
    assert usage.estimated_output == (usage.output if written else 0)
    assert folded.charges == ((None, usage),)


@given(blocks=BLOCKS)
def test_what_is_received_never_costs_less_when_more_comes(blocks):
    folded, before, least_before = Fold(str), 0, 0
    for event, _ in play(blocks, 10**6):
        folded.feed(event)
        least, now = folded.take_least_usage().output, folded.usage.output
        assert least >= least_before
        assert now >= before
        before, least_before = now, least


def test_a_count_in_mid_stream_covers_what_came_before_it():
    """An API that reports how much was thought behind the curtain, and then goes on."""
    folded = fold(
        MessageStarted("m", "m", {"output_tokens": 1}),
        BlockStarted(0, TEXT),
        TextAdded(0, "word " * 100),
        MessageChanged(None, {}, {"output_tokens": 5_000}),
        TextAdded(0, "word " * 12),
    )

    assert folded.usage == Usage(output=5_015, estimated_output=15)
    assert folded.take_least_usage() == Usage(output=5_010, estimated_output=10)


def test_a_summary_that_comes_whole_counts():
    folded = fold(
        MessageStarted("m", "m", {}),
        BlockStarted(0, b'{"type":"compaction","content":null}'),
        CompactionFilled(
            0,
            msgspec.json.encode({"type": "compaction_delta", "content": "word " * 80, "encrypted_content": "x" * 999}),
        ),
    )

    assert folded.usage == Usage(output=100, estimated_output=100)


def test_it_is_due_when_enough_has_come_or_the_api_has_counted():
    folded = fold(MessageStarted("m", "m", {}), BlockStarted(0, TEXT), TextAdded(0, "x" * (DUE_CHARACTERS - 1)))
    assert not folded.is_due
    folded.feed(TextAdded(0, "x"))
    assert folded.is_due
    folded.take_least_usage()
    assert not folded.is_due
    folded.feed(MessageChanged(None, {}, {"output_tokens": 9_000}))
    assert folded.is_due
    folded.take_least_usage()
    folded.feed(BlockStopped(0))
    folded.feed(MessageChanged("end_turn", {}, {"output_tokens": 9_001}))
    assert not folded.is_due, "it is charged in a moment"


@pytest.mark.parametrize("report", [{}, {"output_tokens": 0}, {"output_tokens": None}, {"output_tokens": "many"}])
def test_an_api_that_does_not_count_is_estimated_to_the_end(report):
    folded = fold(
        MessageStarted("m", "m", {"input_tokens": 3, "output_tokens": 1}),
        BlockStarted(0, TEXT),
        TextAdded(0, "x" * 40),
        BlockStopped(0),
        MessageChanged("end_turn", {}, report),
        MessageStopped(),
    )

    assert folded.usage == Usage(input=3, output=10, estimated_output=10)
    assert folded.answer("m").counted == 0, "no measure of the window"


def test_of_an_api_that_says_nothing_about_usage_only_broken_answers_are_estimated():
    folded = fold(MessageStarted("m", "m", {}), BlockStarted(0, TEXT), TextAdded(0, "x" * 40), BlockStopped(0))
    assert folded.usage == Usage(output=10, estimated_output=10)
    folded.feed(MessageChanged("end_turn", {}, {}))
    assert folded.usage == Usage()


@pytest.mark.parametrize(
    ("block", "tokens"),
    [
        ({"type": "text", "text": "x" * 40}, 10),
        ({"type": "thinking", "thinking": "x" * 40, "signature": "s" * 400}, 10),
        ({"type": "tool_use", "id": "a", "name": "Read", "input": {"path": "x" * 25}}, 10),
        ({"type": "server_tool_use", "id": "a", "name": "web_search", "input": {}}, 3),
        ({"type": "redacted_thinking", "data": "x" * 400}, 0),
        ({"type": "web_search_tool_result", "tool_use_id": "a", "content": [{"input": "x" * 400}]}, 0),
        ({"type": "novelty", "input": "x" * 400}, 0),
    ],
)
def test_of_a_block_that_comes_whole_counts_what_the_model_wrote(block, tokens):
    folded = fold(MessageStarted("m", "m", {}), BlockStarted(0, msgspec.json.encode(block)))
    assert folded.usage.output == tokens


def test_what_is_quoted_was_not_written():
    folded = fold(MessageStarted("m", "m", {}), BlockStarted(0, TEXT), CitationAdded(0, b'{"cited_text":"long"}'))
    assert folded.usage == Usage()


def test_what_came_after_a_count_of_nested_calls_is_charged_to_the_model_that_was_asked():
    nested = [{"model": "small", "output_tokens": 50}, {"output_tokens": 7}]
    folded = fold(
        MessageStarted("m", "m", {"input_tokens": 3}),
        BlockStarted(0, TEXT),
        MessageChanged(None, {}, {"output_tokens": 7, "iterations": nested}),
        TextAdded(0, "x" * 40),
    )

    assert folded.charges == (
        ("small", Usage(output=50)),
        (None, Usage(output=7)),
        (None, Usage(output=10, estimated_output=10)),
    )
