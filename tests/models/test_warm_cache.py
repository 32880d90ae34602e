"""The marks of a growing conversation, held against the model server's cache: each request reads all that the last one left."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.messages import Block, decode_block, encode_block, result_block, text_block
from everturn.core.transcript import Wire
from everturn.models.anthropic.cache_marks import LOOK_BACK, MAX_COUNT, plan_marks
from everturn.models.anthropic.encode import encode_request
from everturn.models.catalog import JsonCatalog
from everturn.modelserver import Ask
from everturn.modelserver.prompt_cache import CacheUse, PromptCache, segments_of
from everturn.ports.model import Request

MODEL = "claude-sonnet-5"
CARD = JsonCatalog().card(MODEL)
WIDE = 2 * LOOK_BACK + 5


class Server:
    """Keeps a cache as the API does, with the least prefix that it keeps set to nothing."""

    def __init__(self) -> None:
        self._cache = PromptCache()

    def ask(
        self, wires: list[Wire], *, kept: int | None = None, anchor: int | None = None, at: float = 0.0
    ) -> CacheUse:
        request = Request(
            model=MODEL,
            messages=wires,
            max_tokens=100,
            system=("Be good.",),
            tools=(TOOL,),
            kept=kept,
            anchor=anchor,
        )
        body = json.loads(encode_request(request, CARD))
        use = self._cache.judge(segments_of(Ask(body)), 0, at)
        self._cache.commit(use, at)
        assert sum("cache_control" in json.dumps(block) for block in blocks_in(body)) <= MAX_COUNT
        return use


TOOL = b'{"name":"Read","description":"Reads.","input_schema":{"type":"object"}}'


def blocks_in(body):
    return [*body["system"], *(block for message in body["messages"] for block in message["content"])]


def call(id_: str) -> Block:
    return encode_block({"type": "tool_use", "id": id_, "name": "Read", "input": {}})


THOUGHT = decode_block(b'{"type":"thinking","thinking":"Hm.","signature":"s"}')


@st.composite
def rounds(draw):
    """An answer and the results, text and attachments after it; or words that join the last message, as after an abort."""
    number = draw(st.integers(0, 10**9))
    if draw(st.integers(0, 5)) == 0:
        return [Wire("user", tuple(text_block(f"more {number} {at}") for at in range(draw(st.integers(1, 30)))))]
    calls = [f"toolu_{number}_{at}" for at in range(draw(st.integers(0, WIDE)))]
    thoughts = (THOUGHT,) * draw(st.integers(0, 3))
    said = (*thoughts, text_block(f"said {number}"), *map(call, calls))
    heard = (*(result_block(id_, id_) for id_ in calls), *(text_block("go on") for _ in range(0 if calls else 1)))
    return [Wire("assistant", said), Wire("user", heard)]


def grow(wires: list[Wire], more: list[Wire]) -> list[Wire]:
    for wire in more:
        if wires[-1].role == wire.role:
            wires = [*wires[:-1], Wire(wire.role, wires[-1].blocks + wire.blocks)]
        else:
            wires = [*wires, wire]
    return wires


@given(st.lists(rounds(), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_each_request_reads_all_that_the_last_one_left(story):
    server, wires = Server(), [Wire("user", (text_block("Do it."),))]
    before = server.ask(wires)
    for more in story:
        joined = more[0].role == "user"
        wires = grow(wires, more)
        use = server.ask(wires)
        left = before.read + sum(before.written.values())
        if joined and len(more[0].blocks) > LOOK_BACK:
            # The last round itself grew by more than the API looks back: what the round before it left is still read.
            assert use.read > 0
        else:
            assert use.read == left
        before = use


@given(st.lists(rounds(), min_size=4, max_size=8), st.data())
@settings(max_examples=100, deadline=None)
def test_where_a_message_was_changed_all_rounds_before_it_are_still_read(story, data):
    server, wires, ends = Server(), [Wire("user", (text_block("Do it."),))], {}
    for more in [[], *(each for each in story if each[0].role == "assistant")]:
        wires = grow(wires, more)
        use = server.ask(wires)
        ends[len(wires)] = use.read + sum(use.written.values())
    turned = data.draw(
        st.sampled_from([at for at, wire in enumerate(wires) if wire.role == "user" and at])
        if len(wires) > 1
        else st.none()
    )
    if turned is None:
        return
    changed = [*wires]
    changed[turned] = Wire("user", (text_block("cleared"), *wires[turned].blocks[1:]))

    assert server.ask(changed, kept=turned).read >= ends[turned - 1]


@pytest.mark.parametrize("anchored", [True, False])
def test_what_stands_before_the_next_change_outlives_the_cache_as_long_as_it_is_marked(anchored):
    server, wires, at = Server(), [Wire("user", (text_block("Do it."),))], 0.0
    anchor, left = 6, 0
    for number in range(12):
        use = server.ask(wires, anchor=anchor if anchored and len(wires) > anchor else None, at=at)
        left = use.read + sum(use.written.values()) if len(wires) == anchor - 1 else left
        wires = grow(wires, [Wire("assistant", (text_block(f"said {number}"),)), Wire("user", (text_block("go on"),))])
        at += 90.0
    changed = [*wires[:anchor], Wire("user", (text_block("cleared"),)), *wires[anchor + 1 :]]

    read = server.ask(changed, kept=anchor, at=at).read

    assert (read >= left > 0) is anchored


def test_there_are_never_more_marks_than_the_api_takes():
    wires = [
        Wire("user" if at % 2 == 0 else "assistant", tuple(text_block("x") for _ in range(WIDE))) for at in range(9)
    ]

    planned = {len(plan_marks(wires, kept, anchor)) for kept in (None, 0, 1, 4, 8) for anchor in (None, 0, 3, 8)}

    assert planned <= {2, 3}
