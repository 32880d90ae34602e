"""The answer under way, block by block: which of its blocks were told, and under which ids."""

import msgspec

from everturn.core.budget import Usage
from everturn.core.events import MessageBegan
from everturn.core.messages import Block, Message, derive_id


class AnswerPart(msgspec.Struct, frozen=True):
    uuid: str
    block: Block
    is_last: bool = False
    """The answer is complete with it."""


class AnswerParts:
    """Holds each finished block back until another follows, a call begins or the answer ends, or whoever asks for it.

    The last block of a response is followed by its end at once. So it can be told together with the stop reason, and an
    answer that was cut off, and is made again, need not be taken back.
    """

    def __init__(self) -> None:
        self._began = MessageBegan(message_id="", model="", usage=Usage())
        self._held: Block | None = None
        self._told: list[bytes] = []
        self._count = 0
        """Parts of this message that were told, those that were taken back included."""
        self._uuids: list[str] = []
        """Of all lines that a retraction takes back."""

    @property
    def began(self) -> MessageBegan:
        return self._began

    def begin(self, event: MessageBegan) -> None:
        self._began = event
        self._held = None
        self._told, self._uuids, self._count = [], [], 0

    def enter(self, message_id: str) -> None:
        """Something of this message comes; the API need not have said that it begins."""
        if message_id != self._began.message_id:
            self.begin(MessageBegan(message_id=message_id, model="", usage=Usage()))

    def hold(self, block: Block) -> None:
        self._held = block

    def release(self) -> AnswerPart | None:
        """The block that was held back, if there is one."""
        block, self._held = self._held, None
        return self._tell(block) if block is not None else None

    def end(self, message: Message) -> tuple[list[str], list[AnswerPart]]:
        """Ids of the lines that were not kept as they were told, and what of the message is still to be told."""
        self._held = None
        taken_back: list[str] = []
        if self._told != [block.raw for block in message.blocks[: len(self._told)]]:
            taken_back, self._told, self._uuids = self._uuids, [], []
        rest = message.blocks[len(self._told) :]
        parts = [self._tell(block, is_last=place == len(rest)) for place, block in enumerate(rest, start=1)]
        self._uuids = []
        return taken_back, parts

    def retract(self) -> list[str]:
        """Ids of the lines that no longer count."""
        uuids, self._held, self._uuids = self._uuids, None, []
        return uuids

    def note_result(self, uuid: str) -> None:
        """Told of a call while the answer may still be taken back."""
        self._uuids.append(uuid)

    def _tell(self, block: Block, *, is_last: bool = False) -> AnswerPart:
        uuid = derive_id(self._began.message_id, self._count)
        self._count += 1
        self._told.append(block.raw)
        self._uuids.append(uuid)
        return AnswerPart(uuid, block, is_last)
