"""Folding a stream into blocks: what is whole is kept as it came, what is broken never looks whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.errors import FaultKind, InputFault, ModelFault
from everturn.core.messages import Answer, Kind, Message, Opaque, Text, Thinking, ToolUse, decode_block, text_block
from everturn.core.received_json import clean_name, encode_input, is_invalid, parse_input
from everturn.core.record_codec import decode_record, encode_record, record_message, restore_message
from everturn.core.records import MessageAdded
from everturn.core.stream import (
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
USE = b'{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}'
THINKING = b'{"type":"thinking","thinking":"","signature":""}'


def fold(*events, claim_id=str) -> Fold:
    folded = Fold(claim_id)
    for event in events:
        folded.feed(event)
    return folded


def call(*pieces: str, start: bytes = USE):
    """The block of one call whose input comes in pieces."""
    folded = fold(BlockStarted(0, start), *(InputAdded(0, piece) for piece in pieces))
    return folded.feed(BlockStopped(0))


def stopped(reason: str) -> MessageChanged:
    return MessageChanged(reason, {}, {})


def test_a_whole_response_is_folded_block_by_block():
    folded = Fold(str)
    events = [
        MessageStarted("msg_1", "model-1", {"input_tokens": 10, "output_tokens": 1}),
        BlockStarted(0, TEXT),
        TextAdded(0, "Hel"),
        Pinged(),
        TextAdded(0, "lo"),
        BlockStopped(0),
        BlockStarted(1, USE),
        InputAdded(1, '{"path": '),
        InputAdded(1, '"a"}'),
        BlockStopped(1),
        MessageChanged("tool_use", {}, {"output_tokens": 9}),
        MessageStopped(),
    ]

    answers = [block for event in events if (block := folded.feed(event)) is not None]

    use = decode_block(b'{"type":"tool_use","id":"toolu_1","name":"Read","input":{"path": "a"}}')
    assert answers == [text_block("Hello"), use]
    assert folded.finish() == folded.blocks == tuple(answers)
    assert (folded.complete, folded.ended) == (True, True)
    assert folded.answer("asked-1") == Answer(
        api_id="msg_1", asked="asked-1", model="model-1", stop_reason="tool_use", usage=Usage(input=10, output=9)
    )


def test_a_response_is_complete_when_its_stop_reason_is_known_and_its_blocks_are_closed():
    folded = fold(MessageStarted("m", "m", {}), BlockStarted(0, TEXT))
    assert not folded.complete

    folded.feed(stopped("end_turn"))
    assert not folded.complete

    folded.feed(BlockStopped(0))
    assert folded.complete
    assert not folded.ended


def test_a_response_without_a_stop_reason_is_not_complete():
    assert not fold(BlockStarted(0, TEXT), BlockStopped(0)).complete


def test_the_end_of_the_message_closes_what_is_open():
    folded = fold(
        BlockStarted(1, USE), BlockStarted(0, TEXT), TextAdded(0, "a"), InputAdded(1, '{"b": 1}'), MessageStopped()
    )

    assert folded.blocks[0].view == Text("a")
    assert bytes(folded.blocks[1].view.input) == b'{"b": 1}'


def test_nothing_after_the_end_counts():
    folded = fold(BlockStarted(0, TEXT), TextAdded(0, "a"), MessageStopped(), BlockStarted(1, TEXT), TextAdded(7, "b"))

    assert folded.blocks == (text_block("a"),)


def test_blocks_stand_in_the_order_of_their_indices_and_gaps_do_not_matter():
    folded = fold(
        BlockStarted(7, TEXT),
        TextAdded(7, "b"),
        BlockStopped(7),
        BlockStarted(2, TEXT),
        TextAdded(2, "a"),
        BlockStopped(2),
    )

    assert folded.blocks == (text_block("a"), text_block("b"))


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([BlockStarted(0, TEXT), BlockStarted(0, TEXT)], "started block 0 twice"),
        ([BlockStarted(0, TEXT), BlockStopped(0), BlockStarted(0, TEXT)], "started block 0 twice"),
        ([BlockStarted(0, TEXT), BlockStopped(0), TextAdded(0, "a")], "continued block 0, which is closed"),
        ([BlockStarted(0, USE), BlockStopped(0), InputAdded(0, "{")], "continued block 0, which is closed"),
        ([BlockStarted(0, TEXT), MessageStarted("m", "m", {})], "second message inside the first"),
        ([BlockStarted(0, TEXT), BlockStopped(0), MessageStarted("m", "m", {})], "second message inside the first"),
        ([BlockStarted(0, b"[]")], "no JSON object"),
        ([BlockStarted(0, b"{")], "no JSON object"),
        ([BlockStarted(0, b"\xff")], "no JSON object"),
        ([BlockStarted(0, b'{"type":"x","n":NaN}')], "no JSON object"),
        ([BlockStarted(0, b'{"type":"x","n":' + b"[" * 250 + b"]" * 250 + b"}")], "too deep"),
        ([BlockStarted(0, b'{"type":"x","n":' + b"[" * 99_999 + b"]" * 99_999 + b"}")], "too deep"),
    ],
)
def test_a_stream_that_contradicts_itself_is_broken(events, says: str):
    with pytest.raises(ModelFault, match=says) as raised:
        fold(*events)

    assert raised.value.kind is FaultKind.STREAM_BROKEN


@pytest.mark.parametrize(
    "stray",
    [
        TextAdded(3, "a"),
        InputAdded(3, "{"),
        SignatureAdded(3, "s"),
        CitationAdded(3, b"{}"),
        CompactionFilled(3, b'{"content":"c"}'),
        BlockStopped(3),
    ],
)
def test_a_piece_of_a_block_that_never_started_is_ignored(stray):
    folded = fold(BlockStarted(0, TEXT), stray, TextAdded(0, "a"), MessageStopped())

    assert folded.blocks == (text_block("a"),)


def test_a_message_may_start_twice_as_long_as_nothing_came():
    assert fold(MessageStarted("a", "m", {}), MessageStarted("b", "m", {})).api_id == "b"


def test_text_that_starts_with_words_keeps_them():
    folded = fold(BlockStarted(0, b'{"type":"text","text":"Hel"}'), TextAdded(0, "lo"))

    assert folded.salvage() == (text_block("Hello"),)
    assert folded.feed(BlockStopped(0)) == text_block("Hello")


def test_a_character_split_over_two_deltas_is_joined():
    assert fold(BlockStarted(0, TEXT), TextAdded(0, "\ud83d"), TextAdded(0, "\ude00")).feed(
        BlockStopped(0)
    ) == text_block("😀")
    assert bytes(call('{"a":"\ud83d', '\ude00"}').view.input) == '{"a":"😀"}'.encode()


def test_half_a_character_in_text_becomes_a_replacement_character():
    assert fold(BlockStarted(0, TEXT), TextAdded(0, "a\ud83d")).feed(BlockStopped(0)) == text_block("a\ufffd")


def test_citations_are_collected_and_unknown_fields_of_a_text_survive():
    folded = fold(
        BlockStarted(0, b'{"type":"text","text":"","citations":[],"new":{"a": 1}}'),
        TextAdded(0, "so"),
        CitationAdded(0, b'{"cited_text": "x"}'),
        CitationAdded(0, b'{"cited_text": "y"}'),
    )

    assert folded.feed(BlockStopped(0)).raw == (
        b'{"type":"text","text":"so","citations":[{"cited_text": "x"},{"cited_text": "y"}],"new":{"a": 1}}'
    )


def test_a_text_without_its_text_field_keeps_its_other_field():
    assert (
        fold(BlockStarted(0, b'{"type":"text","new":1}')).feed(BlockStopped(0)).raw
        == b'{"type":"text","new":1,"text":""}'
    )


def test_thinking_keeps_its_words_and_its_last_signature():
    folded = fold(
        BlockStarted(0, THINKING),
        ThinkingAdded(0, "h"),
        ThinkingAdded(0, "m"),
        SignatureAdded(0, "old"),
        SignatureAdded(0, "sig"),
    )

    assert folded.feed(BlockStopped(0)).view == Thinking("hm", "sig")


def test_hostile_signatures_and_ids_cannot_break_the_encoding():
    folded = fold(BlockStarted(0, THINKING), SignatureAdded(0, "s\ud83d"))

    assert folded.feed(BlockStopped(0)).view == Thinking("", "s\ufffd")
    assert call('{"a": 1}', start=b'{"type":"tool_use","id":"i\\ud83d","name":"n"}').view.id == "i\ufffd"


def test_an_unknown_block_is_carried_with_its_bytes():
    raw = b'{"type":"web_search_tool_result","tool_use_id":"s","content":[{"n": 1.0, "e":"\\u00e9"}]}'

    block = fold(BlockStarted(0, raw)).feed(BlockStopped(0))

    assert (block.raw, block.view) == (raw, Opaque("web_search_tool_result"))


def test_an_unknown_block_with_half_a_character_is_made_readable():
    block = fold(BlockStarted(0, b'{"type":"new","a":["\\ud83d", 1]}')).feed(BlockStopped(0))

    assert block.raw == '{"type":"new","a":["\ufffd",1]}'.encode()


def test_an_unknown_block_over_many_lines_comes_out_on_one():
    block = fold(BlockStarted(0, b'{"type":"new",\r\n "a": {\n"b": "c\\nd"}}')).feed(BlockStopped(0))

    assert block.raw == b'{"type":"new","a":{ "b": "c\\nd"}}'


def test_input_and_content_of_unknown_blocks_are_filled_in():
    search = fold(
        BlockStarted(0, b'{"type":"server_tool_use","id":"s","name":"web_search","input":{}}'), InputAdded(0, '{"q":1}')
    )
    compaction = fold(
        BlockStarted(0, b'{"type":"compaction","content":null}'),
        CompactionFilled(0, b'{"type":"compaction_delta","content":"so"}'),
        CompactionFilled(0, b'{"type":"compaction_delta","content":"so far","encrypted_content":"E"}'),
    )

    assert (
        search.feed(BlockStopped(0)).raw == b'{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":1}}'
    )
    assert compaction.feed(BlockStopped(0)).raw == b'{"type":"compaction","content":"so far","encrypted_content":"E"}'


@pytest.mark.parametrize(
    ("start", "stray"),
    [
        (TEXT, ThinkingAdded(0, "x")),
        (TEXT, InputAdded(0, "{")),
        (THINKING, TextAdded(0, "x")),
        (USE, TextAdded(0, "x")),
        (b'{"type":"new"}', TextAdded(0, "x")),
        (b'{"type":"redacted_thinking","data":"d"}', InputAdded(0, "{}")),
    ],
)
def test_a_piece_that_does_not_fit_its_block_is_neither_kept_nor_shown(start: bytes, stray):
    folded = fold(BlockStarted(0, start))

    folded.feed(stray)
    assert not folded.took
    assert folded.feed(BlockStopped(0)) == fold(BlockStarted(0, start)).feed(BlockStopped(0))


def test_the_model_that_goes_on_after_a_fallback_is_the_one_that_answers():
    to = b'{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}'

    assert fold(MessageStarted("m", "a", {}), BlockStarted(0, to)).model == "b"
    assert fold(MessageStarted("m", "a", {}), BlockStarted(0, b'{"type":"fallback","to":1}')).model == "a"


def test_a_calls_input_goes_back_as_the_model_wrote_it_on_one_line():
    block = call('{"b" : 1.0,\n', '  "a":"\\u00e9\\n"\r\n}')

    assert bytes(block.view.input) == b'{"b" : 1.0,   "a":"\\u00e9\\n"  }'
    assert not is_invalid(block.view)


@pytest.mark.parametrize(
    "text",
    [
        '{"command": "rm -rf bu',
        "{",
        "[1]",
        '"text"',
        "null",
        " ",
        '{"a": 1} {"b": 2}',
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e400}',
        '{"a": -1e999}',
        '{"a": "\ud83d"}',
        '{"a": "\\ud83d"}',
        '{"a": "raw \n newline"}',
        "{'a': 1}",
        '{"a": 1,}',
        '{"a":' + "[" * 200 + "]" * 200 + "}",
        '{"a":' + "[" * 99_999 + "]" * 99_999 + "}",
        '{"a":' + "1" * 5_000 + "}",
    ],
)
def test_input_that_is_no_strict_json_object_is_wrapped_and_never_run(text: str):
    with pytest.raises(InputFault):
        parse_input(text)
    block = call(text)

    assert is_invalid(block.view)
    (wrapped,) = json.loads(bytes(block.view.input)).values()
    with pytest.raises(InputFault):
        parse_input(wrapped)


@given(st.dictionaries(st.text(max_size=5), st.text() | st.integers() | st.lists(st.booleans()), max_size=5), st.data())
def test_valid_input_is_read_back_however_it_was_cut(value, data):
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.integers(0, len(text)))

    block = call(text[:cut], text[cut:])

    assert parse_input(text) == value
    assert parse_input(bytes(block.view.input).decode()) == value
    assert not is_invalid(block.view)


@given(st.text(st.characters()))
def test_whatever_the_model_writes_as_input_can_be_sent_journaled_and_read_back(text: str):
    message = Message(id="m", role="assistant", kind=Kind.ANSWER, blocks=(call("{", text),))

    line = encode_record(record_message(message))

    record = decode_record(line)
    assert line.count(b"\n") == 1
    assert isinstance(record, MessageAdded)
    assert restore_message(record) == message


def test_input_in_the_start_event_is_kept():
    block = call(start=b'{"type":"tool_use","id":"i","name":"n","input":{"a": 1}}')

    assert bytes(block.view.input) == b'{"a": 1}'


@pytest.mark.parametrize("deltas", [(), (InputAdded(1, ""),), (InputAdded(1, ""), InputAdded(1, ""))])
def test_a_call_without_input_is_whole_unless_the_cap_was_hit(deltas):
    folded = fold(BlockStarted(0, TEXT), TextAdded(0, "a"), BlockStopped(0), BlockStarted(1, USE), *deltas)
    block = folded.feed(BlockStopped(1))
    assert bytes(block.view.input) == b"{}"
    assert not folded.is_certain(block)

    folded.feed(stopped("tool_use"))
    assert folded.finish() == (text_block("a"), block)

    folded.feed(stopped("max_tokens"))
    assert folded.finish() == (text_block("a"),)


def test_a_call_that_the_cap_cut_off_is_not_part_of_the_response():
    folded = fold(BlockStarted(0, USE), InputAdded(0, '{"command": "rm -rf bu'))
    block = folded.feed(BlockStopped(0))
    folded.feed(stopped("max_tokens"))

    assert not folded.is_certain(block)
    assert folded.finish() == ()


def test_a_whole_call_stays_though_the_cap_was_hit():
    folded = fold(BlockStarted(0, USE), InputAdded(0, '{"a": 1}'))
    block = folded.feed(BlockStopped(0))
    folded.feed(stopped("max_tokens"))

    assert folded.is_certain(block)
    assert folded.finish() == (block,)


def test_only_the_last_call_can_have_been_cut_off():
    folded = fold(
        BlockStarted(0, USE),
        BlockStopped(0),
        BlockStarted(1, TEXT),
        TextAdded(1, "a"),
        BlockStopped(1),
        stopped("max_tokens"),
    )

    assert [type(block.view) for block in folded.finish()] == [ToolUse, Text]


def test_what_was_growing_when_the_stream_broke_is_saved_only_if_it_is_text():
    folded = fold(
        BlockStarted(0, TEXT),
        TextAdded(0, "whole"),
        BlockStopped(0),
        BlockStarted(1, THINKING),
        ThinkingAdded(1, "hm"),
        BlockStarted(2, USE),
        InputAdded(2, '{"a": 1}'),
        BlockStarted(3, TEXT),
        TextAdded(3, "half\ud83d"),
        BlockStarted(4, TEXT),
        TextAdded(4, "  "),
    )

    assert folded.salvage() == (text_block("whole"), text_block("half\ufffd"))


def test_ids_are_claimed_and_names_cleaned():
    claimed = []

    def claim_id(received: str) -> str:
        claimed.append(received)
        return f"unique_{len(claimed)}"

    folded = fold(
        BlockStarted(0, b'{"type":"tool_use","id":"x","name":"my tool!"}'),
        BlockStarted(1, b'{"type":"tool_use"}'),
        MessageStopped(),
        claim_id=claim_id,
    )

    assert claimed == ["x", ""]
    assert [(block.view.id, block.view.name) for block in folded.blocks] == [
        ("unique_1", "my_tool_"),
        ("unique_2", "_"),
    ]


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("Read", "Read"),
        ("mcp__a-b__c", "mcp__a-b__c"),
        ("", "_"),
        ("é/…", "___"),
        ("x" * 80, "x" * 80),
        ("x" * 140, "x" * 128),
    ],
)
def test_a_name_becomes_one_that_the_api_takes(name: str, clean: str):
    assert clean_name(name) == clean


def test_an_open_block_can_be_described():
    folded = fold(BlockStarted(0, USE), BlockStarted(1, TEXT))

    assert (folded.describe(0), folded.describe(1)) == (("tool_use", "Read", "toolu_1"), ("text", "", ""))


def test_reports_are_merged_and_nested_calls_kept_apart():
    folded = fold(
        MessageStarted("m", "m", {"input_tokens": 5, "cache_read_input_tokens": 7}),
        MessageChanged(None, {}, {"output_tokens": 3}),
        MessageChanged(
            "refusal", {"category": "x"}, {"output_tokens": 8, "iterations": [{"model": "s", "input_tokens": 2}]}
        ),
        MessageChanged(None, {}, {}),
    )

    assert (folded.stop_reason, folded.details) == ("refusal", {"category": "x"})
    assert folded.usage == Usage(input=5, output=8, cache_read=7)
    assert folded.charges == (("s", Usage(input=2)),)


def test_wrapped_input_still_says_what_the_model_wrote():
    assert bytes(encode_input('{"a": "b\n')) == b'{"INVALID_JSON":"{\\"a\\": \\"b\\n"}'
