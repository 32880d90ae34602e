"""One payload of the stream becomes one event; whatever else it may be, it is never a crash."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.stream import (
    BlockStarted,
    BlockStopped,
    CitationAdded,
    CompactionFilled,
    InputAdded,
    MessageChanged,
    MessageStarted,
    MessageStopped,
    Pinged,
    SignatureAdded,
    TextAdded,
    ThinkingAdded,
)
from everturn.models.anthropic.decode import decode_event, decode_message


def delta(**fields):
    return {"type": "content_block_delta", "index": 3, "delta": fields}


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        (delta(type="text_delta", text="hé\n"), TextAdded(3, "hé\n")),
        (delta(type="thinking_delta", thinking="hm"), ThinkingAdded(3, "hm")),
        (delta(type="thinking_delta", thinking="hm", estimated_tokens=3), ThinkingAdded(3, "hm")),
        (delta(type="input_json_delta", partial_json='{"a'), InputAdded(3, '{"a')),
        (delta(type="signature_delta", signature="abc"), SignatureAdded(3, "abc")),
        (
            delta(type="compaction_delta", content="sum", encrypted_content=None),
            CompactionFilled(3, b'{"type": "compaction_delta", "content": "sum", "encrypted_content": null}'),
        ),
        (delta(type="future_delta", x=1), Pinged()),
        (delta(type="text_delta", text=None), Pinged()),
        (delta(), Pinged()),
        ({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}}, TextAdded(0, "x")),
        (
            {"type": "content_block_delta", "index": "1", "delta": {"type": "text_delta", "text": "x"}},
            TextAdded(0, "x"),
        ),
        ({"type": "content_block_delta"}, Pinged()),
        ({"type": "content_block_stop", "index": 2}, BlockStopped(2)),
        ({"type": "content_block_stop"}, BlockStopped(0)),
        ({"type": "content_block_start", "index": 1, "content_block": None}, BlockStarted(1, b"null")),
        ({"type": "ping"}, Pinged()),
        ({"type": "future_event", "error": 1}, Pinged()),
        ({"type": 7}, Pinged()),
        ({}, Pinged()),
        ({"type": "message_stop"}, MessageStopped()),
        (
            {"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 10**18}}},
            MessageStarted("m", "c", {"input_tokens": 10**18}),
        ),
        ({"type": "message_start", "message": {"id": 1, "usage": []}}, MessageStarted("", "", {})),
        ({"type": "message_start"}, Pinged()),
        (
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
            MessageChanged("end_turn", {}, {"output_tokens": 5}),
        ),
        (
            {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"category": "cyber"}}},
            MessageChanged("refusal", {"category": "cyber"}, {}),
        ),
        ({"type": "message_delta", "delta": None, "usage": None}, MessageChanged(None, {}, {})),
    ],
)
def test_a_payload_is_this_event(payload, event):
    assert decode_event(json.dumps(payload).encode()) == event


def test_the_bytes_of_a_block_are_kept_on_one_line():
    block = b'{ "type":"future", "n":1.50,\n "t":"\\u00e9" }'

    event = decode_event(b'{"type":"content_block_start","index":0,"content_block":' + block + b"}")

    assert event == BlockStarted(0, block.replace(b"\n", b" "))


def test_a_block_with_a_lone_surrogate_keeps_its_value():
    event = decode_event(b'{"type":"content_block_start","index":0,"content_block":{"type":"x","t":"\\ud800"}}')

    assert event == BlockStarted(0, b'{"type": "x", "t": "\\ud800"}')


def test_the_bytes_of_a_citation_are_kept_too():
    payload = b'{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"a":1.0}}}'

    assert decode_event(payload) == CitationAdded(0, b'{"a":1.0}')


def test_lone_surrogates_pass_and_other_bytes_are_replaced():
    start = b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'

    assert decode_event(start + b'a\\ud800b"}}') == TextAdded(0, "a\ud800b")
    assert decode_event(start + b'a\xffb"}}') == TextAdded(0, "a\ufffdb")


def test_a_block_with_bytes_that_are_no_text_is_made_valid():
    event = decode_event(b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"\xff"}}')

    assert event == BlockStarted(0, '{"type":"text","text":"\ufffd"}'.encode())


@pytest.mark.parametrize("payload", [b"", b"not json", b'{"type":"message_st', b"null", b"[]", b'"x"', b"[" * 100_000])
def test_what_is_no_json_object_breaks_the_stream(payload):
    with pytest.raises(ModelFault) as caught:
        decode_event(payload)

    assert caught.value.kind is FaultKind.STREAM_BROKEN


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, FaultKind.OVERLOADED),
        ({"type": "api_error", "message": "x"}, FaultKind.SERVER),
        ({"type": "rate_limit_error", "message": "x"}, FaultKind.RATE_LIMITED),
        ({"type": "timeout_error"}, FaultKind.TIMEOUT),
        ({"type": "invalid_request_error", "message": "bad"}, FaultKind.INVALID),
        ({"type": "invalid_request_error", "message": "prompt is too long: 2 tokens > 1 maximum"}, FaultKind.TOO_LONG),
        ({"type": "authentication_error", "message": "x"}, FaultKind.AUTHENTICATION),
        ({"type": "future_error", "message": "x"}, FaultKind.SERVER),
        ("boom", FaultKind.SERVER),
        (None, FaultKind.SERVER),
    ],
)
def test_an_error_event_is_a_fault_of_its_kind(error, kind):
    with pytest.raises(ModelFault) as caught:
        decode_event(json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode())

    assert (caught.value.kind, caught.value.request_id) == (kind, "req_1")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["type", "index", "delta", "message", "content_block", "usage", "error", "text", "id"])
KINDS = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "error", "ping", "text_delta"]
)


@given(st.dictionaries(FIELDS, JSON | KINDS | st.dictionaries(FIELDS, JSON | KINDS, max_size=4), max_size=5))
def test_odd_payloads_are_events_or_faults_and_nothing_else(payload):
    try:
        decode_event(json.dumps(payload).encode())
    except ModelFault as fault:
        assert fault.text  # noqa: PT017 (a fault is one of the two good ends)


@given(st.binary(max_size=40))
def test_odd_bytes_are_events_or_faults_and_nothing_else(payload):
    try:
        decode_event(payload)
    except ModelFault as fault:
        assert fault.kind is FaultKind.STREAM_BROKEN  # noqa: PT017 (a fault is one of the two good ends)


def test_a_whole_message_stands_for_its_events():
    body = b"""{"id":"m","type":"message","model":"c","content":[{"type":"text", "text":"hi"},
        {"type":"tool_use","id":"t","name":"Read","input":{"n":1.0}}],"stop_reason":"tool_use","usage":{"input_tokens":1}}"""

    assert list(decode_message(body)) == [
        MessageStarted("m", "c", {"input_tokens": 1}),
        BlockStarted(0, b'{"type":"text", "text":"hi"}'),
        BlockStopped(0),
        BlockStarted(1, b'{"type":"tool_use","id":"t","name":"Read","input":{"n":1.0}}'),
        BlockStopped(1),
        MessageChanged("tool_use", {}, {"input_tokens": 1}),
        MessageStopped(),
    ]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"hello":"world"}', FaultKind.NOT_AN_API),
        (b'{"type":"error","error":{"type":"overloaded_error"}}', FaultKind.OVERLOADED),
        (b"nope", FaultKind.STREAM_BROKEN),
    ],
)
def test_json_that_is_no_message_is_a_fault(body, kind):
    with pytest.raises(ModelFault) as caught:
        list(decode_message(body))

    assert caught.value.kind is kind
