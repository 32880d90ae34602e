"""A request goes on where the last one ended, or it is known where it departs; and no hash depends on how it was reached."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.messages import Block, decode_block, text_block
from everturn.core.prefix import Departure, Prefixes, Segment
from everturn.core.transcript import Wire

PLAIN = ("m", False, None, None, None, None)
IMAGE = decode_block(b'{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}')


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    messages: tuple[Wire, ...]
    tools: tuple[bytes, ...] = (b'{"name":"Read"}',)
    system: tuple[str, ...] = ("Be good.",)
    opening: int = 0


def wires(*texts: str) -> tuple[Wire, ...]:
    return tuple(Wire("assistant" if at % 2 else "user", (text_block(text),)) for at, text in enumerate(texts))


def follow(*requests: tuple[Ask, tuple[object, ...]]) -> list[Departure | None]:
    prefixes, departures = Prefixes(), []
    for at, (ask, chosen) in enumerate(requests):
        look = prefixes.look(ask, chosen, at)
        prefixes.keep(look)
        departures.append(look.departure)
    return departures


def depart(first: Ask, second: Ask, settings_: tuple[object, ...] = PLAIN) -> Departure | None:
    none, departure = follow((first, PLAIN), (second, settings_))
    assert none is None
    return departure


@pytest.mark.parametrize(
    ("second", "departure"),
    [
        (Ask(messages=wires("a", "b", "c")), None),
        (Ask(messages=(Wire("user", (text_block("a"), text_block("more"))),)), None),
        (Ask(messages=wires("A", "b", "c")), Departure(segment=Segment.MESSAGES)),
        (Ask(messages=()), Departure(segment=Segment.MESSAGES)),
        (Ask(messages=wires("a"), tools=(b'{"name":"Read"}', b"{}")), Departure(segment=Segment.TOOLS)),
        (Ask(messages=wires("a"), system=("Be better.",)), Departure(segment=Segment.SYSTEM)),
        (Ask(messages=wires("a"), tools=(), system=()), Departure(segment=Segment.TOOLS)),
        (
            Ask(messages=(*wires("a", "b"), Wire("user", (IMAGE,)))),
            Departure(segment=Segment.SETTINGS, named=("images",)),
        ),
    ],
)
def test_where_a_request_departs_from_the_one_before_it(second, departure):
    assert depart(Ask(messages=wires("a")), second) == departure


def test_what_stands_before_the_first_difference_is_counted():
    first, second = wires("a", "b", "c", "d", "e"), wires("a", "b", "C", "d", "e", "f", "g")

    assert depart(Ask(messages=first), Ask(messages=second)) == Departure(segment=Segment.MESSAGES, kept=2)


def test_settings_that_changed_are_named():
    settings_ = ("other", False, None, "high", None, None)

    departure = depart(Ask(messages=wires("a")), Ask(messages=wires("a", "b", "c")), settings_)

    assert departure == Departure(segment=Segment.SETTINGS, named=("model", "effort"))


def test_the_context_is_told_from_the_message_that_it_stands_in():
    first = Ask(messages=(Wire("user", (text_block("Monday"), text_block("Go."))),), opening=1)
    second = Ask(messages=(Wire("user", (text_block("Tuesday"), text_block("Go."))),), opening=1)

    assert depart(first, second) == Departure(segment=Segment.CONTEXT)


def test_a_request_that_was_not_kept_changes_nothing():
    prefixes = Prefixes()
    prefixes.keep(prefixes.look(Ask(messages=wires("a")), PLAIN, 0))
    prefixes.look(Ask(messages=wires("x", "y", "z")), PLAIN, 1)

    assert prefixes.look(Ask(messages=wires("a", "b", "c")), PLAIN, 2).departure is None


blocks = st.builds(text_block, st.text(min_size=1, max_size=5))
users = st.builds(Wire, st.just("user"), st.lists(blocks, min_size=1, max_size=4).map(tuple))
answers = st.builds(Wire, st.just("assistant"), st.lists(blocks, min_size=1, max_size=3).map(tuple))
growths = st.lists(st.tuples(answers, users), min_size=1, max_size=6)


@given(users, growths, st.data())
@settings(max_examples=200, deadline=None)
def test_a_conversation_that_grows_never_departs_and_has_the_hash_of_one_seen_at_once(first, rounds, data):
    prefixes, sent = Prefixes(), [first]
    prefixes.keep(prefixes.look(Ask(messages=tuple(sent)), PLAIN, 0))
    for answer, user in rounds:
        sent += [answer, user]
        if data.draw(st.booleans()):
            look = prefixes.look(Ask(messages=tuple(sent)), PLAIN, 1)
            assert look.departure is None
            assert look.sent == Prefixes().look(Ask(messages=tuple(sent)), PLAIN, 1).sent
            prefixes.keep(look)


@given(users, growths, st.data())
@settings(max_examples=200, deadline=None)
def test_any_block_that_changes_is_seen_here_and_by_a_process_that_knows_the_fingerprint_alone(first, rounds, data):
    sent = [first, *(wire for pair in rounds for wire in pair)]
    before = Prefixes()
    look = before.look(Ask(messages=tuple(sent)), PLAIN, 0)
    before.keep(look)
    later = Prefixes()
    later.restore(msgspec.json.decode(msgspec.json.encode(look.sent), type=type(look.sent)))
    at = data.draw(st.integers(0, len(sent) - 1))
    place = data.draw(st.integers(0, len(sent[at].blocks) - 1))
    changed = list(sent)
    changed[at] = Wire(sent[at].role, _with(sent[at].blocks, place, text_block("changed!")))
    same, other = Ask(messages=(*sent, *rounds[0])), Ask(messages=(*changed, *rounds[0]))

    assert (before.look(same, PLAIN, 1).departure, later.look(same, PLAIN, 1).departure) == (None, None)
    assert before.look(other, PLAIN, 1).departure == Departure(segment=Segment.MESSAGES, kept=at)
    assert later.look(other, PLAIN, 1).departure == Departure(segment=Segment.MESSAGES)


def _with(blocks: tuple[Block, ...], place: int, block: Block) -> tuple[Block, ...]:
    return (*blocks[:place], block, *blocks[place + 1 :])
