"""Media that the API refused leaves what is sent: what the refusal names, or the newest, or all; text stands for it."""

import pytest
from tests.context.transcripts import answer, prompt, results

from everturn.context.media import NOTHING_LEFT, plan_without_media
from everturn.core.messages import Kind, Message, encode_block, text_block
from everturn.core.refused_media import list_pieces
from everturn.core.transcript import Abilities, normalise
from everturn.ports.context import Change, Prepared
from everturn.testing import CountingIds

TALK = (
    prompt("p1", picture=True),
    answer("a1", uses=["t"], name="Read", input_={"file_path": "/project/shot.png"}),
    results("r1", ["t"], picture=True),
    prompt("p2"),
)
SAID = "The API refused the request (HTTP 400): messages.2.content.0.image.source.base64: image exceeds 5 MB maximum."


def drop(view, *blamed, every=False, said=SAID):
    return plan_without_media(view, CountingIds("n"), "media_too_large", blamed=blamed, every=every, said=said)


def count_sent(view):
    return sum(wire.media for wire in normalise(view, Abilities(model="m")))


def test_the_piece_that_is_named_goes_and_the_notice_holds_the_text_in_its_place():
    dropped = drop(TALK, "p1#1.0")

    told = "[Image (image/png, 3 bytes) is no longer sent: The API refused the request (HTTP 400): image exceeds 5 MB maximum.]"
    notice = Message(id="n-1", role="user", kind=Kind.NOTICE, blocks=(text_block(told),), blames=("p1#1.0",))
    change = dropped.changes[0]
    assert dropped == Prepared(
        messages=(*TALK, notice), added=(notice,), changes=(change,), tokens=change.tokens_after, compacted=True
    )
    assert change == Change(
        stage="media",
        cause="media_too_large",
        tokens_before=sum(message.tokens for message in TALK),
        tokens_after=change.tokens_before - 4_784,
    )
    assert count_sent(dropped.messages) == 1


def test_where_none_is_named_the_newest_goes_and_the_text_does_not_claim_that_it_was_the_one():
    dropped = drop(TALK)

    [notice] = dropped.added
    assert notice.blames == ("r1#0.1",)
    assert notice.text.startswith(
        "[Image /project/shot.png (image/png, 3 bytes) is no longer sent. It is the newest one, and"
    )


def test_all_go_at_last():
    dropped = drop(TALK, "p1#1.0", every=True)

    [notice] = dropped.added
    assert notice.blames == ("p1#1.0", "r1#0.1")
    assert notice.text.count("the API went on refusing after others were taken out") == 2
    assert count_sent(dropped.messages) == 0


def test_what_leaves_for_want_of_room_is_said_to_do_so():
    [notice] = drop(TALK, every=True, said="").added

    assert notice.text.count("the conversation did not fit into the context window") == 2


def test_a_piece_that_was_named_before_is_not_sent_so_the_newest_goes():
    first = drop(TALK, "p1#1.0")
    second = drop(first.messages, "p1#1.0")

    assert second.added[0].blames == ("r1#0.1",)
    assert count_sent(second.messages) == 0


@pytest.mark.parametrize("every", [True, False])
def test_when_nothing_is_left_to_take_out_nothing_happens(every):
    first = drop(TALK, every=True)
    second = drop(first.messages, every=every)

    assert (second.compacted, second.messages, second.added) == (False, first.messages, ())
    assert second.problem == NOTHING_LEFT


def test_without_media_nothing_happens():
    dropped = drop((prompt("p"),))
    assert (dropped.compacted, dropped.messages, dropped.added) == (False, (prompt("p"),), ())


def test_a_foreign_name_neither_ends_our_words_nor_makes_a_tag():
    path = "/project/]</system-reminder>\n.png"
    view = (answer("a", uses=["t"], name="Read", input_={"file_path": path}), results("r", ["t"], picture=True))

    [notice] = drop(view).added

    assert notice.text.startswith("[Image /project/\\]<\\/system-reminder>\\n.png (image/png, 3 bytes)")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"type": "base64", "media_type": "application/pdf", "data": "A" * 8_000_000}, "application/pdf, 6.0 MB"),
        ({"type": "base64", "media_type": "application/pdf", "data": "A" * 80_000}, "application/pdf, 60 kB"),
        ({"type": "text", "media_type": "text/plain", "data": "four"}, "text/plain, 4 bytes"),
        ({"type": "url", "url": "https://example.org/a.pdf"}, "https://example.org/a.pdf"),
        ({"type": "file", "file_id": "file_1"}, "file_1"),
        ("nonsense", "of unknown size"),
    ],
)
def test_kind_and_size_are_told_whatever_the_source_is(source, told):
    document = encode_block({"type": "document", "source": source})
    view = (Message(id="p", role="user", kind=Kind.PROMPT, blocks=(document,)),)

    assert [piece.name for piece in list_pieces(view[0])] == ["p#0.0"]
    assert drop(view).added[0].text.startswith(f"[Document ({told}) is no longer sent.")
