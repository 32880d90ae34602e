"""Taking media out of what is sent: a notice blames the messages that brought it, and they stay as they are."""

from collections.abc import Sequence

from everturn.context.accounting import estimate_messages
from everturn.core.messages import Kind, Message, text_block
from everturn.core.transcript import blamed_in
from everturn.ports.clock import Ids
from everturn.ports.context import Change, Prepared

REMOVED = "The API refused an image or a document; it is no longer sent."


def plan_without_media(view: Sequence[Message], ids: Ids, cause: str) -> Prepared:
    blamed = blamed_in(view)
    bringers = tuple(
        message.id for message in view if message.id not in blamed and any(block.media for block in message.blocks)
    )
    before = estimate_messages(view)
    if not bringers:
        return Prepared(messages=view, tokens=before, problem="There is no image or document left to take out.")
    notice = Message(id=ids.new(), role="user", kind=Kind.NOTICE, blocks=(text_block(REMOVED),), blames=bringers)
    after = estimate_messages((*view, notice))
    return Prepared(
        messages=(*view, notice),
        added=(notice,),
        changes=(Change(stage="media", cause=cause, tokens_before=before, tokens_after=after),),
        tokens=after,
        compacted=True,
    )
