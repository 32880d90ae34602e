"""A side question: it is sent after a copy of the present context, so that the prompt cache is read, and never enters the conversation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from everturn.core.budget import Usage
from everturn.core.errors import OptionError
from everturn.core.messages import Block, Kind, Message, result_block, text_block
from everturn.core.sources import QuerySource, SourceKind
from everturn.core.transcript import unanswered
from everturn.engine import wording
from everturn.engine.asker import Asker
from everturn.ports.ask import Question

if TYPE_CHECKING:
    from everturn.engine.conversation import Conversation

PURPOSE = "aside"
MAX_TOKENS = 4_096


class SideAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a side question."""

    text: str
    """Text of the answer; empty where the model only called a tool, which a side question does not run."""
    usage: Usage


async def run_aside(conversation: "Conversation", question: str) -> SideAnswer:
    """Asks the model; may be called while a query runs. Raises `OptionError` for an empty question, `ModelFault` where there is no answer."""
    if not question.strip():
        raise OptionError("question", "it is empty")
    deps, recorder, snapshot = conversation.deps, conversation.recorder, conversation.snapshot
    if snapshot is None:
        conversation.requests.put_before(conversation.contexts.first)
        messages, agent = tuple(deps.pipeline.project(recorder.view)), conversation.agent
    else:
        messages, agent = (*snapshot.messages, *find_later(snapshot.messages, recorder.transcript)), snapshot.agent
    asker = Asker(
        deps=deps,
        limits=conversation.config.limits,
        requests=conversation.requests,
        recorder=recorder,
        agent=msgspec.structs.replace(agent, source=QuerySource(SourceKind.ASIDE)),
        turn=conversation.user_messages,
    )
    reply = await asker.ask(
        Question(
            purpose=PURPOSE,
            messages=(*messages, put_question(question, messages, deps.ids.new())),
            max_tokens=MAX_TOKENS,
            share_prefix=True,
        )
    )
    return SideAnswer(text=reply.text.strip(), usage=reply.usage)


def find_later(sent: Sequence[Message], transcript: list[Message]) -> tuple[Message, ...]:
    """Messages that were added since the model was asked last."""
    last = sent[-1].id if sent else ""
    place = next((place for place in range(len(transcript) - 1, -1, -1) if transcript[place].id == last), None)
    return () if place is None else tuple(transcript[place + 1 :])


def put_question(question: str, messages: tuple[Message, ...], message_id: str) -> Message:
    """The message with the question. Calls that still run have no result yet: here each gets a line in place of one."""
    running: list[Block] = [result_block(use.id, wording.STILL_RUNNING) for use in unanswered(messages[-1:])]
    blocks = (*running, text_block(wording.aside(question)))
    return Message(id=message_id, role="user", kind=Kind.HIDDEN, blocks=blocks)
