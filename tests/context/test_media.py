"""Media that the API refused leaves what is sent, and only that."""

from tests.context.transcripts import answer, prompt, results

from everturn.context.media import REMOVED
from everturn.context.pipeline import ContextPipeline
from everturn.core.messages import Kind, Message, text_block
from everturn.core.transcript import Abilities, normalise
from everturn.ports.context import Change, Prepared
from everturn.testing import CountingIds

TALK = (
    prompt("p1", picture=True),
    answer("a1", uses=["t"]),
    results("r1", ["t"], picture=True),
    prompt("p2"),
)


def test_a_notice_blames_every_message_that_brought_media():
    dropped = ContextPipeline(ids=CountingIds("n")).drop_media(TALK)

    notice = Message(id="n-1", role="user", kind=Kind.NOTICE, blocks=(text_block(REMOVED),), blames=("p1", "r1"))
    change = dropped.changes[0]
    assert dropped == Prepared(
        messages=(*TALK, notice), added=(notice,), changes=(change,), tokens=change.tokens_after, compacted=True
    )
    assert change == Change(
        stage="media",
        cause="media_too_large",
        tokens_before=sum(message.tokens for message in TALK),
        tokens_after=change.tokens_before - 2 * 4_784,
    )
    sent = normalise(dropped.messages, Abilities(model="m"))
    assert sum(block.media for wire in sent for block in wire.blocks) == 0


def test_a_second_time_there_is_nothing_left_to_take_out():
    pipeline = ContextPipeline(ids=CountingIds("n"))
    first = pipeline.drop_media(TALK)
    second = pipeline.drop_media(first.messages)
    assert (second.compacted, second.messages, second.added) == (False, first.messages, ())


def test_without_media_nothing_happens():
    dropped = ContextPipeline(ids=CountingIds()).drop_media((prompt("p"),))
    assert (dropped.compacted, dropped.messages, dropped.added) == (False, (prompt("p"),), ())
