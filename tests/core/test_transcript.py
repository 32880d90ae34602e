"""From the transcript to the request: whatever goes in, what comes out is valid, stable and made of the bytes received."""

from itertools import count, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.messages import (
    Answer,
    Block,
    Kind,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    decode_block,
    result_block,
    result_text,
    text_block,
)
from everturn.core.refused_media import MEDIA_REFUSED
from everturn.core.transcript import (
    CONTINUED,
    MEDIA_DROPPED,
    UNANSWERED,
    Abilities,
    Wire,
    normalise,
    segments,
    unanswered,
    view_of,
)

MODEL = "model-1"
ABLE = Abilities(model=MODEL, max_media=3)
IMAGE = decode_block(b'{"type":"image","source":{"type":"base64","data":"aGk="}}')
THOUGHT = decode_block(b'{"type":"thinking","thinking":"hm","signature":"sig"}')
UNSIGNED = decode_block(b'{"type":"thinking","thinking":"hm","signature":""}')
REDACTED = decode_block(b'{"type":"redacted_thinking","data":"x"}')
UNKNOWN = decode_block(b'{"type":"server_tool_use","id":"s","name":"web_search","input":{"q" : 1}}')


def use(id_: str) -> Block:
    return decode_block(b'{"type":"tool_use","id":"%s","name":"Read","input":{"a" : 1}}' % id_.encode())


def shots(id_: str, pieces: int) -> Block:
    parts = [{"type": "text", "text": "before"}] + [{"type": "image", "source": {"n": n}} for n in range(pieces)]
    return result_block(id_, parts)


def user(*blocks: Block | str, kind: Kind = Kind.PROMPT, id_: str = "u", blames: tuple[str, ...] = ()) -> Message:
    return Message(id=id_, role="user", kind=kind, blocks=made(blocks), blames=blames)


def said(*blocks: Block | str, asked: str = MODEL) -> Message:
    return Message(id="a", role="assistant", kind=Kind.ANSWER, blocks=made(blocks), answer=Answer(asked=asked))


def made(blocks: tuple[Block | str, ...]) -> tuple[Block, ...]:
    return tuple(text_block(block) if isinstance(block, str) else block for block in blocks)


def results(*blocks: Block | str) -> Message:
    return user(*blocks, kind=Kind.RESULTS)


def sent(*messages: Message, abilities: Abilities = ABLE) -> list[tuple[str, tuple[Block, ...]]]:
    return [(wire.role, wire.blocks) for wire in normalise(messages, abilities)]


def wire(role: str, *blocks: Block | str) -> tuple[str, tuple[Block, ...]]:
    return role, made(blocks)


def test_a_plain_conversation_is_sent_as_it_is():
    assert sent(user("hi"), said(THOUGHT, "hello"), user("bye")) == [
        wire("user", "hi"),
        wire("assistant", THOUGHT, "hello"),
        wire("user", "bye"),
    ]


def test_neighbours_of_the_same_role_are_one_message():
    assert sent(user("a"), user("b"), said("c"), said("d"), user("e")) == [
        wire("user", "a", "b"),
        wire("assistant", "c", "d"),
        wire("user", "e"),
    ]


def test_neighbours_that_only_nothing_keeps_apart_are_one_message():
    assert sent(user("a"), said("  "), user("b")) == [wire("user", "a", "b")]
    assert sent(user("a"), said("b"), user("\n"), said("c"), user("d")) == [
        wire("user", "a"),
        wire("assistant", "b", "c"),
        wire("user", "d"),
    ]


def test_an_answer_that_is_only_thought_is_not_sent():
    assert sent(user("a"), said(THOUGHT), user("go on")) == [wire("user", "a", "go on")]
    assert sent(user("a"), said("b", THOUGHT, REDACTED), user("go on")) == [
        wire("user", "a"),
        wire("assistant", "b"),
        wire("user", "go on"),
    ]


def test_what_is_for_eyes_only_is_not_sent():
    unsent = [user("x", kind=kind) for kind in (Kind.NOTICE, Kind.PROGRESS, Kind.BOUNDARY)]

    assert sent(user("a"), *unsent, said("b"), *unsent, user("c", kind=Kind.LOCAL)) == [
        wire("user", "a"),
        wire("assistant", "b"),
        wire("user", "c"),
    ]


@pytest.mark.parametrize("messages", [(), (said("a"),), (user(" "),), (user("x", kind=Kind.NOTICE),)])
def test_a_request_starts_with_the_user(messages):
    assert sent(*messages)[0] == wire("user", CONTINUED)


def test_a_use_without_a_result_gets_one_that_says_so():
    assert sent(user("a"), said(use("1"), use("2")), results(result_block("2", "done"))) == [
        wire("user", "a"),
        wire("assistant", use("1"), use("2")),
        wire("user", result_block("1", UNANSWERED, is_error=True), result_block("2", "done")),
    ]


def test_results_come_first_in_the_order_of_the_uses_and_once():
    assert sent(
        user("a"),
        said(use("1"), use("2")),
        user("too early"),
        results(result_block("2", "two"), result_block("1", "one"), result_block("1", "again"), "note"),
    )[2] == wire("user", result_block("1", "one"), result_block("2", "two"), "too early", "note")


def test_a_result_that_answers_nothing_is_left_out():
    assert sent(
        user("a", result_block("0", "?")), said(use("1")), results(result_block("1", "one"), result_block("9", "?"))
    ) == [
        wire("user", "a"),
        wire("assistant", use("1")),
        wire("user", result_block("1", "one")),
    ]


def test_a_result_after_the_next_answer_comes_too_late():
    assert sent(user("a"), said(use("1")), user("b"), said("c"), results(result_block("1", "late"), "d")) == [
        wire("user", "a"),
        wire("assistant", use("1")),
        wire("user", result_block("1", UNANSWERED, is_error=True), "b"),
        wire("assistant", "c"),
        wire("user", "d"),
    ]


def test_blocks_in_the_mouth_of_the_wrong_role_are_left_out():
    assert sent(user("a", use("1"), THOUGHT), said("b", result_block("1", "x")), user("c")) == [
        wire("user", "a"),
        wire("assistant", "b"),
        wire("user", "c"),
    ]


@pytest.mark.parametrize(
    ("message", "abilities"),
    [
        (said(THOUGHT, REDACTED, "b", asked="model-0"), ABLE),
        (said(THOUGHT, REDACTED, "b"), Abilities(model=MODEL, thinking=False)),
        (said(UNSIGNED, "b"), ABLE),
        (Message(id="a", role="assistant", kind=Kind.ANSWER, blocks=(THOUGHT, REDACTED, text_block("b"))), ABLE),
    ],
)
def test_thinking_that_this_model_did_not_sign_is_left_out(message: Message, abilities: Abilities):
    assert sent(user("a"), message, user("c"), abilities=abilities)[1] == wire("assistant", "b")


def test_attachments_move_up_past_plain_text_but_not_past_results():
    first, second = (user(text, kind=Kind.ATTACHMENT) for text in ("first", "second"))

    words = [user(text, kind=Kind.HIDDEN) for text in ("b", "c")]
    assert sent(user("a"), said(use("1")), results(result_block("1", "one")), words[0], first, words[1], second)[
        2
    ] == wire("user", result_block("1", "one"), "first", "second", "b", "c")
    assert sent(user("a"), first) == [wire("user", "first", "a")]
    assert sent(user("a"), said("b"), user("c"), second)[2] == wire("user", "second", "c")


def test_an_attachment_stays_behind_an_earlier_prompt_that_got_no_answer():
    """It was sent already: what stood before it must not change."""
    attached = user("news", kind=Kind.ATTACHMENT)

    assert sent(user("a"), user("b"), attached) == [wire("user", "a", "news", "b")]


def test_blamed_media_is_taken_out_of_the_message_that_brought_it():
    blaming = user("too large", kind=Kind.NOTICE, blames=("u1",))

    assert sent(user("a", IMAGE, id_="u1"), blaming, user(IMAGE, id_="u2")) == [wire("user", "a", MEDIA_REFUSED, IMAGE)]


def test_blamed_media_is_taken_out_of_results_too():
    blaming = user(kind=Kind.NOTICE, blames=("r",))
    answer = user(shots("1", 2), kind=Kind.RESULTS, id_="r")

    reply = sent(user("a"), said(use("1")), answer, blaming)[2][1][0]

    assert reply.media == 0
    assert result_text(reply.view) == f"before\n{MEDIA_REFUSED}\n{MEDIA_REFUSED}"


def test_a_single_piece_is_taken_out_and_its_own_text_stands_there():
    blaming = user("One is gone.", "Another.", kind=Kind.NOTICE, blames=("u1#2.0", "r#0.2"))
    answer = user(shots("1", 2), kind=Kind.RESULTS, id_="r")

    wires = sent(user("a", IMAGE, IMAGE, id_="u1"), said(use("1")), answer, blaming)

    assert wires[0] == wire("user", "a", IMAGE, "One is gone.")
    assert wires[2][1][0].media == 1
    assert result_text(wires[2][1][0].view) == "before\nAnother."


def test_the_oldest_media_goes_first_and_only_as_much_as_must():
    messages = [user("a", IMAGE), said(use("1")), results(shots("1", 2)), said("b"), user(IMAGE)]

    wires = sent(*messages)

    assert wires[0] == wire("user", "a", MEDIA_DROPPED)
    assert wires[2:] == [wire("user", shots("1", 2)), wire("assistant", "b"), wire("user", IMAGE)]

    fewer = sent(*messages, abilities=Abilities(model=MODEL, max_media=2))
    assert result_text(fewer[2][1][0].view) == f"before\n{MEDIA_DROPPED}"
    assert fewer[2][1][0].media == 1


def test_without_a_boundary_everything_is_in_view():
    messages = (user("a"), said("b"))

    assert view_of(messages) == messages
    assert view_of(()) == ()


def test_after_a_boundary_its_summary_leads_then_what_it_keeps_then_the_rest():
    old, kept, late = user("old", id_="o"), user("kept", id_="k"), user("late", id_="l")
    summary = user("so far", kind=Kind.SUMMARY)
    first = Message(id="b1", role="user", kind=Kind.BOUNDARY, blocks=(), keeps=("o",))
    second = Message(id="b2", role="user", kind=Kind.BOUNDARY, blocks=(), keeps=("k",))

    assert view_of((old, kept, first, summary, late)) == (summary, old, late)
    assert view_of((old, first, summary, kept, second, summary, late)) == (summary, kept, late)
    assert view_of((old, kept, second)) == (old, kept, second), "a crash came before the summary"


def test_uses_without_results_are_found_in_order():
    messages = [said(use("1"), use("2")), results(result_block("1", "one")), said(use("3"))]

    assert [open_.id for open_ in unanswered(messages)] == ["2", "3"]


PIECES = st.sampled_from(
    ["text", "blank", "use", "result", "stray", "image", "shots", "thought", "unsigned", "redacted", "unknown"]
)
SHAPES = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]),
        st.sampled_from(Kind),
        st.lists(PIECES, max_size=4),
        st.sampled_from([MODEL, MODEL, "other"]),
        st.booleans(),
    ),
    max_size=9,
)


@st.composite
def transcripts(draw):
    """Messages of any kind in any order; ids of uses are unique, as the fold sees to it."""
    numbers, opened, messages = count(1), ["none"], []
    for role, kind, pieces, asked, blaming in draw(SHAPES):
        blocks = [make_block(piece, numbers, opened) for piece in pieces]
        messages.append(
            Message(
                id=f"m{len(messages)}",
                role=role,
                kind=kind,
                blocks=tuple(blocks),
                answer=Answer(asked=asked) if role == "assistant" else None,
                blames=(f"m{len(messages) - 1}",) if blaming else (),
            )
        )
    return messages


def make_block(piece: str, numbers, opened: list[str]) -> Block:
    match piece:
        case "use":
            opened.append(f"t{next(numbers)}")
            return use(opened[-1])
        case "result":
            return result_block(opened[-1], f"result {next(numbers)}")
        case "stray":
            return result_block(opened[0], "stray")
        case "shots":
            return shots(opened[-1], 2)
        case "text":
            return decode_block(b'{"type":"text", "text":"text %d","new":1}' % next(numbers))
        case _:
            return {
                "blank": text_block(" \n"),
                "image": IMAGE,
                "thought": THOUGHT,
                "unsigned": UNSIGNED,
                "redacted": REDACTED,
                "unknown": UNKNOWN,
            }[piece]


@settings(max_examples=300)
@given(transcripts())
def test_what_is_sent_is_valid_whatever_went_in(messages: list[Message]):
    wires = normalise(messages, ABLE)

    assert wires[0].role == "user"
    assert all(one.role != other.role for one, other in pairwise(wires))
    assert all(wire.blocks for wire in wires)
    assert sum(block.media for wire in wires for block in wire.blocks) <= ABLE.max_media
    for before, wire in pairwise((Wire("assistant", ()), *wires)):
        views = [block.view for block in wire.blocks]
        assert not any(isinstance(view, Text) and not view.text.strip() for view in views)
        if wire.role == "assistant":
            assert not any(isinstance(view, ToolResult) for view in views)
            assert not isinstance(views[-1], Thinking | RedactedThinking)
        else:
            assert not any(isinstance(view, ToolUse | Thinking | RedactedThinking) for view in views)
            asked = [block.view.id for block in before.blocks if isinstance(block.view, ToolUse)]
            answered = [view.tool_use_id if isinstance(view, ToolResult) else None for view in views]
            assert answered[: len(asked)] == asked
            assert not any(answered[len(asked) :])


@settings(max_examples=150)
@given(transcripts())
def test_only_thinking_of_this_model_is_sent(messages: list[Message]):
    foreign = [message for message in messages if message.answer is not None and message.answer.asked != MODEL]
    theirs = {id(block) for message in foreign for block in message.blocks}

    for wire in normalise(messages, Abilities(model="third")):
        assert not any(isinstance(block.view, Thinking | RedactedThinking) for block in wire.blocks)
    for wire in normalise(foreign, ABLE):
        assert not any(isinstance(block.view, Thinking) and id(block) in theirs for block in wire.blocks)
    for wire in normalise(messages, ABLE):
        assert all(block.view.signature for block in wire.blocks if isinstance(block.view, Thinking))


@settings(max_examples=150)
@given(transcripts())
def test_what_was_sent_once_is_sent_the_same_again(messages: list[Message]):
    wires = normalise(messages, ABLE)
    again = [
        said(*wire.blocks) if wire.role == "assistant" else user(*wire.blocks, kind=Kind.RESULTS) for wire in wires
    ]

    assert normalise(again, ABLE) == wires


@settings(max_examples=150)
@given(transcripts())
def test_received_bytes_are_sent_unchanged(messages: list[Message]):
    """Every block is the received one itself, except for the notes and results that we put in."""
    received = {block.raw for message in messages for block in message.blocks}
    ours = {text_block(note).raw for note in (CONTINUED, MEDIA_REFUSED, MEDIA_DROPPED)}

    for wire in normalise(messages, ABLE):
        for block in wire.blocks:
            changed = isinstance(block.view, ToolResult) and any(
                note in block.raw.decode() for note in (UNANSWERED, MEDIA_REFUSED, MEDIA_DROPPED)
            )
            assert block.raw in received or block.raw in ours or changed


@settings(max_examples=200)
@given(transcripts())
def test_what_was_sent_is_a_prefix_of_what_is_sent_next(messages: list[Message]):
    """When a message starts a new segment; media limits and blame aside, whose changes are recorded."""
    plenty = Abilities(model=MODEL, max_media=10_000)
    free = [Message(id=m.id, role=m.role, kind=m.kind, blocks=m.blocks, answer=m.answer) for m in messages]
    flat = [flatten(normalise(free[:size], plenty)) for size in range(len(free) + 1)]

    for size in range(1, len(free)):
        grown = len(list(segments(free[: size + 1]))) > len(list(segments(free[:size])))
        if grown and list(segments(free[:size])):
            assert flat[size + 1][: len(flat[size])] == flat[size]


def flatten(wires: tuple[Wire, ...]) -> list[tuple[str, bytes]]:
    return [(wire.role, block.raw) for wire in wires for block in wire.blocks]


def test_ten_thousand_messages_pass_through_block_by_block():
    messages = []
    for turn in range(5_000):
        messages += [said(use(f"t{turn}")), results(result_block(f"t{turn}", "done"))]

    wires = normalise([user("go"), *messages], ABLE)

    assert len(wires) == 10_001
    assert all(mine.blocks[0] is message.blocks[0] for mine, message in zip(wires[1:], messages, strict=True))
