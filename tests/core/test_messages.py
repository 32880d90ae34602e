"""Blocks keep their bytes; the views are for us to read."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import TranscriptError
from everturn.core.messages import (
    Answer,
    Document,
    Image,
    Kind,
    Message,
    Opaque,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    decode_block,
    encode_block,
    join_surrogates,
    repair_surrogates,
    result_block,
    result_text,
    text_block,
)
from everturn.core.tokens import BLOCK_OVERHEAD, MEDIA_TOKENS

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"type":"text","text":"hi","citations":null}', Text),
        (b'{"type":"thinking","thinking":"hm","signature":"sig"}', Thinking),
        (b'{"type":"redacted_thinking","data":"x"}', RedactedThinking),
        (b'{"type":"tool_use","id":"a","name":"Read","input":{"b": 1.0}}', ToolUse),
        (b'{"type":"tool_result","tool_use_id":"a","content":"done","is_error":true}', ToolResult),
        (b'{"type":"image","source":{"type":"base64","data":"aGk="}}', Image),
        (b'{"type":"document","source":{"type":"url","url":"u"},"title":"t"}', Document),
        (b'{"type":"server_tool_use","id":"s","name":"web_search","input":{}}', Opaque),
        (b'{"type":"text"}', Opaque),
        (b'{"type":"text","text":5}', Opaque),
        (b'{"type":"text","text":"half a pair: \\ud83d"}', Opaque),
        (b'{"type":7}', Opaque),
        (b"{}", Opaque),
    ],
)
def test_a_block_is_read_as_its_kind_and_keeps_its_bytes(raw: bytes, kind: type):
    block = decode_block(raw)

    assert type(block.view) is kind
    assert block.raw is raw


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"1", b'"text"', b"\xff", b'{"type":"text","text":"a"} x'])
def test_what_is_no_json_object_is_no_block(raw: bytes):
    with pytest.raises(TranscriptError, match="a content block is not"):
        decode_block(raw)


@given(fields=st.dictionaries(st.text(max_size=8), JSON, max_size=4), kind=st.text(max_size=20))
def test_any_object_is_carried_unchanged(fields, kind):
    raw = json.dumps({**fields, "type": kind}).encode()

    assert decode_block(raw).raw == raw


@given(st.text())
def test_text_of_our_own_survives_as_it_is(text: str):
    block = text_block(text)

    assert decode_block(block.raw) == block
    assert block.view == Text(text)
    assert b"\n" not in block.raw


def test_half_a_character_of_our_own_becomes_a_replacement_character_in_bytes_and_view():
    assert text_block("a\ud83db") == text_block("a\ufffdb")
    assert encode_block({"type": "text", "text": "a\ud83d", "k\ud83d": ["\ude00"]}).raw == (
        '{"type":"text","text":"a\ufffd","k\ufffd":["\ufffd"]}'.encode()
    )
    use = encode_block(ToolUse("i\ud83d", "Read", msgspec.Raw(b'{"a":1}')))
    assert use.raw == '{"type":"tool_use","id":"i\ufffd","name":"Read","input":{"a":1}}'.encode()
    assert use == decode_block(use.raw)


@pytest.mark.parametrize(
    ("text", "repaired", "joined"),
    [
        ("plain ✓", "plain ✓", "plain ✓"),
        ("\ud83d\ude00", "😀", "😀"),
        ("a\ud83db", "a\ufffdb", "a\ud83db"),
        ("\ude00\ud83d", "\ufffd\ufffd", "\ude00\ud83d"),
        ("\ud83d\ud83d\ude00", "\ufffd😀", "\ud83d😀"),
    ],
)
def test_surrogates_are_joined_and_lone_ones_replaced_or_left(text: str, repaired: str, joined: str):
    assert repair_surrogates(text) == repaired
    assert join_surrogates(text) == joined


@given(st.text(st.characters()))
def test_repaired_text_can_always_be_written_and_is_repaired_only_once(text: str):
    repaired = repair_surrogates(text)

    repaired.encode()
    assert repair_surrogates(repaired) == repaired


def test_a_result_says_whether_it_is_an_error():
    assert result_block("a", "done").raw == b'{"type":"tool_result","tool_use_id":"a","content":"done"}'
    assert result_block("a", "no", is_error=True).raw == (
        b'{"type":"tool_result","tool_use_id":"a","content":"no","is_error":true}'
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b'"done"', "done"),
        (b'""', ""),
        (b"[]", ""),
        (b'[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]', "a\nb"),
        (b'[{"type":"new","text":"c"},1,"d",null]', ""),
        (b"null", ""),
        (b'{"type":"text","text":"e"}', ""),
    ],
)
def test_the_text_of_a_result_is_its_text_parts(content: bytes, text: str):
    block = decode_block(b'{"type":"tool_result","tool_use_id":"a","content":' + content + b"}")

    assert result_text(block.view) == text


@pytest.mark.parametrize(
    ("raw", "pieces"),
    [
        (b'{"type":"image","source":{}}', [b'{"type":"image","source":{}}']),
        (b'{"type":"document","source":{}}', [b'{"type":"document","source":{}}']),
        (b'{"type":"text","text":"image"}', []),
        (b'{"type":"tool_result","tool_use_id":"a","content":"image"}', []),
        (
            b'{"type":"tool_result","tool_use_id":"a","content": [{"type":"image","source":{}},{"type":"document"}]}',
            [b'{"type":"image","source":{}}', b'{"type":"document"}'],
        ),
        (
            b'{"type":"tool_result","tool_use_id":"a","content":[{"type":"image"},{"type":"text","text":"%b"}]}'
            % (b"as many words " * 1_000),
            [b'{"type":"image"}'],
        ),
        (b'{"type":"tool_result","tool_use_id":"a","content":[1,"image",null,{"type":"text","text":""}]}', []),
        (b'{"type":"tool_result","tool_use_id":"a","content":null}', []),
        (b'{"type":"tool_result","tool_use_id":"a"}', []),
    ],
)
def test_media_is_counted_also_inside_results_and_priced_by_the_piece_beside_the_text(raw: bytes, pieces: list[bytes]):
    block = decode_block(raw)
    text = len(raw) - sum(map(len, pieces))

    assert block.media == len(pieces)
    assert block.tokens == text // 3 + len(pieces) * MEDIA_TOKENS + BLOCK_OVERHEAD


@pytest.mark.parametrize("role", ["assistant", "user"])
def test_a_message_shows_its_text_and_what_its_role_may_say(role):
    use = decode_block(b'{"type":"tool_use","id":"a","name":"Read","input":{}}')
    result = result_block("a", "done")
    blocks = (text_block("one "), use, text_block("two"), result)
    message = Message(id="m", role=role, kind=Kind.ANSWER, blocks=blocks, answer=Answer())

    said = ((use.view,), ()) if role == "assistant" else ((), (result.view,))
    assert (message.text, (message.uses, message.results)) == ("one two", said)
    assert message.tokens == sum(block.tokens for block in message.blocks)
