"""What a turn costs: only what is new in it, however long the conversation is, and with the same bytes as ever."""

import gc
import json
import sys
from collections.abc import Callable
from operator import is_

from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.messages import Answer, Block, Kind, Message, decode_block, result_block, text_block
from everturn.core.normaliser import Normaliser
from everturn.core.transcript import Abilities, Wire, normalise
from everturn.core.view import View
from everturn.core.wires import PIECE, Lead, Wires, encode_wires

ABLE = Abilities(model="model-1", max_media=3)
IMAGE = decode_block(b'{"type":"image","source":{"type":"base64","data":"aGk="}}')
THOUGHT = decode_block(b'{"type":"thinking","thinking":"hm","signature":"sig"}')


def use(id_: str) -> Block:
    return decode_block(b'{"type":"tool_use","id":"%s","name":"Read","input":{}}' % id_.encode())


def user(*blocks: Block, kind: Kind = Kind.PROMPT, id_: str = "u", blames: tuple[str, ...] = ()) -> Message:
    return Message(id=id_, role="user", kind=kind, blocks=blocks, blames=blames)


def said(*blocks: Block, asked: str = "model-1") -> Message:
    return Message(id="a", role="assistant", kind=Kind.ANSWER, blocks=blocks, answer=Answer(asked=asked))


def conversation(turns: int) -> tuple[Message, ...]:
    rounds = [
        (said(use(f"t{turn}")), user(result_block(f"t{turn}", "done"), kind=Kind.RESULTS)) for turn in range(turns)
    ]
    return (user(text_block("go")), *(message for each in rounds for message in each))


def count_calls(work: Callable[[], object]) -> int:
    """How many functions of Python's were entered; not those that hear of collected garbage."""
    calls = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    gc.disable()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


def cost_of_turn(turns: int) -> int:
    *before, answer, results = conversation(turns)
    normaliser, view = Normaliser(), View(before)
    for _ in range(2):
        normaliser.normalise(view, ABLE)
    return count_calls(lambda: normaliser.normalise(view.plus(answer).plus(results), ABLE))


def test_a_late_turn_costs_no_more_than_an_early_one():
    assert cost_of_turn(400) == cost_of_turn(10)


def test_what_was_sent_before_is_the_very_same_wire_and_is_not_encoded_again():
    normaliser, grown = Normaliser(), conversation(20)
    before = normaliser.normalise(grown[:-2], ABLE)
    contents = encode_wires(before, {})[:-3]

    after = normaliser.normalise(grown, ABLE)

    assert all(one is other for one, other in zip(before[:-2], after, strict=False))
    assert all(map(is_, encode_wires(after, {}), contents))


def test_many_bytes_are_joined_once_and_then_taken_as_they_are():
    wires = [Wire("user", (text_block("x" * PIECE),)) for _ in range(3)]
    lead = Lead(wires)
    loose = lead.encode(2, {})

    (joined,), (same, third) = lead.encode(2, {}), lead.encode(3, {})

    assert (joined, third) == (b"".join(loose), wires[2].encoded)
    assert same is joined


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.dictionaries(st.integers(0, 9), st.just(b",MARK"), max_size=3)), max_size=9
    )
)
def test_a_request_is_the_same_however_it_was_reached(requests: list[tuple[int, dict[int, bytes]]]):
    wires = [Wire("user", (text_block(letter * (PIECE // 3)),)) for letter in "abcdefghij"]
    lead = Lead(wires)

    for settled, marked in requests:
        request = Wires(lead, settled, tuple(wires[settled:]))
        expected = [marked.get(index, wire.encoded) for index, wire in enumerate(wires)]
        pieces = encode_wires(request, marked)
        assert b"".join(pieces) == b"".join(expected)
        assert all(pieces), "the first comma of a request is that of its first piece"


def test_the_bytes_of_a_wire_are_its_blocks_with_commas_between():
    wire = Wire("user", (text_block("a"), text_block("b")))

    assert json.loads(wire.encoded[1:]) == {"role": "user", "content": [{"type": "text", "text": t} for t in "ab"]}


messages = st.one_of(
    st.builds(user, st.sampled_from([text_block("hi"), text_block(" "), IMAGE]), id_=st.sampled_from("uvw")),
    st.builds(
        user,
        st.sampled_from([result_block("t1", "done"), result_block("t2", [{"type": "image", "source": {}}])]),
        kind=st.sampled_from([Kind.RESULTS, Kind.ATTACHMENT]),
        id_=st.sampled_from("uvw"),
    ),
    st.builds(user, kind=st.sampled_from([Kind.NOTICE, Kind.PROGRESS]), blames=st.sampled_from([(), ("u",), ("v",)])),
    st.builds(
        said,
        st.sampled_from([text_block("yes"), text_block(""), use("t1"), use("t2"), THOUGHT]),
        asked=st.sampled_from(["model-1", "model-2"]),
    ),
)
abilities = st.sampled_from([ABLE, ABLE, ABLE, Abilities(model="model-2", max_media=1)])
steps = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.lists(messages, max_size=4), abilities), max_size=9)


@settings(max_examples=400)
@given(steps)
def test_what_is_sent_is_the_same_with_and_without_memory(steps: list[tuple[int, int, list[Message], Abilities]]):
    """The view grows, loses its end, has a stretch replaced; a fallback changes the model."""
    normaliser = Normaliser()
    view: list[Message] = []
    for place, gone, come, able in steps:
        at = len(view) - min(place, len(view)) if place else len(view)
        view[at : at + gone] = come

        assert normaliser.normalise(tuple(view), able) == normalise(tuple(view), able)
        assert normaliser.normalise(view, able) == normalise(view, able)
