"""Random streams, as the API may send them: our folding and the vendor's SDK come to the same message."""

import json

from anthropic.lib.streaming._beta_messages import accumulate_event
from hypothesis import given
from hypothesis import strategies as st
from tests.models.comparing import digest_fold, digest_vendor
from tests.models.streams import CITED, FALLBACK, FOUND, FUTURE, HIT, PING, REFUSED, message_delta, message_start

from everturn.core.stream import Fold
from everturn.models.anthropic.decode import decode_event

words = st.text(max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, values, max_size=3)
counts = st.none() | st.integers(0, 9_999)


def fields(**optional):
    """Some of these."""
    return st.fixed_dictionaries({}, optional=optional)


def deltas(kind, **given_fields):
    return st.fixed_dictionaries({"type": st.just(kind), **given_fields})


texts = deltas("text_delta", text=words)
thoughts = st.builds(
    lambda delta, more: delta | more, deltas("thinking_delta", thinking=words), fields(estimated_tokens=counts)
)
signatures = deltas("signature_delta", signature=words)
citations = deltas("citations_delta", citation=st.sampled_from([CITED, FOUND, CITED | {"title": None}]))
fillings = deltas("compaction_delta", content=st.none() | words, encrypted_content=st.none() | words)
unknown = st.builds(lambda more: more | {"type": "future_delta"}, objects)
futures = st.just(PING) | st.just(FUTURE)


@st.composite
def cut(draw, text):
    """In pieces, some of them empty; the first always, as the API does it."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True)]
    return [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]


@st.composite
def growing(draw, kind, start, own, foreign):
    """A block with deltas of its own, and some that do not fit it."""
    opened = {"type": kind, **draw(start), **draw(fields(future=values))}
    return opened, draw(st.lists(own | foreign, max_size=5))


@st.composite
def calls(draw):
    kind = draw(st.sampled_from(["tool_use", "server_tool_use", "mcp_tool_use"]))
    opened = {"type": kind, "id": draw(st.sampled_from(["t1", "t2"])), "name": "Read"}
    opened |= {"server_name": "s"} if kind == "mcp_tool_use" else draw(fields(caller=st.just({"type": "direct"})))
    opened["input"] = draw(st.just({}) | objects)
    written = draw(objects)
    # Without arguments the API sends the empty delta alone.
    text = json.dumps(written, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    pieces = draw(cut(text)) if written else draw(st.sampled_from([[], [""], ["", ""], ["", "{}"]]))
    own = [
        piece if isinstance(piece, dict) else {"type": "input_json_delta", "partial_json": piece} for piece in pieces
    ]
    return opened, draw(mixed(own, draw(st.lists(texts | signatures | citations | unknown, max_size=2))))


@st.composite
def mixed(draw, *lists):
    """Each list in its own order."""
    order = draw(st.permutations([at for at, items in enumerate(lists) for _ in items]))
    sources = [iter(items) for items in lists]
    return [next(sources[at]) for at in order]


blocks = st.one_of(
    growing(
        "text",
        st.builds(
            lambda text, more: {"text": text, **more},
            st.just("") | words,
            fields(citations=st.none() | st.just([]) | st.just([CITED])),
        ),
        texts | citations,
        thoughts | signatures | fillings | unknown,
    ),
    growing(
        "thinking",
        st.builds(lambda more: {"thinking": "", **more}, fields(signature=st.just("") | words)),
        thoughts | signatures,
        texts | citations | fillings | unknown,
    ),
    growing("redacted_thinking", st.just({"data": "xyz"}), unknown, texts | thoughts),
    growing(
        "compaction",
        st.builds(lambda content: {"content": content, "encrypted_content": None}, st.none() | words),
        fillings,
        texts | citations | unknown,
    ),
    growing("web_search_tool_result", st.just({"tool_use_id": "t1", "content": [HIT]}), unknown, texts | fillings),
    growing("future_block", st.builds(lambda told: {"told": told}, values), unknown, texts | thoughts | citations),
    growing("fallback", st.just({key: FALLBACK[key] for key in ("from", "to", "trigger")}), unknown, texts),
    calls(),
)


@st.composite
def streams(draw):
    """Blocks begin in the order of their indices; what follows may come side by side."""
    parts = draw(st.lists(blocks, max_size=4))
    waiting = [
        [
            {"type": "content_block_start", "index": index, "content_block": opened},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in grown),
            {"type": "content_block_stop", "index": index},
        ]
        for index, (opened, grown) in enumerate(parts)
    ]
    inner, begun = [], 0
    while any(waiting):
        ready = [at for at, events in enumerate(waiting) if events and at <= begun]
        # Mostly one block after the other.
        at = draw(st.sampled_from([ready[0], *ready]))
        begun = max(begun, at + 1)
        inner.append(waiting[at].pop(0))
    optional = fields(input_tokens=counts, cache_creation_input_tokens=counts, cache_read_input_tokens=counts)
    usages = st.builds(lambda output, more: {"output_tokens": output, **more}, st.integers(0, 99), optional)
    stop = draw(st.sampled_from(["end_turn", "tool_use", "max_tokens", "pause_turn", "refusal", "future_reason"]))
    details = {"stop_details": REFUSED} if stop == "refusal" else draw(fields(stop_details=st.none()))
    first = [message_delta(draw(st.none() | st.just(stop)), draw(usages))] if draw(st.booleans()) else []
    last = message_delta(stop, draw(usages), delta=details)
    start = message_start(draw(st.builds(lambda usage: {"input_tokens": 1, **usage}, usages)))
    events = [start, *inner, *first, last, {"type": "message_stop"}]
    # The SDK wants the message's start first; whatever is unknown may stand anywhere behind it.
    return [start, *draw(mixed(events[1:], draw(st.lists(futures, max_size=4))))]


@given(streams(), st.booleans())
def test_a_stream_is_folded_as_the_sdk_folds_it(events, ascii_only):
    folded, theirs, buffers = Fold(lambda id_: id_), None, {}
    for event in events:
        folded.feed(decode_event(json.dumps(event, ensure_ascii=ascii_only).encode()))
        if event["type"] != "ping":
            theirs = accumulate_event(event=event, current_snapshot=theirs, json_bufs=buffers, request_headers={})

    assert digest_fold(folded) == digest_vendor(theirs)
