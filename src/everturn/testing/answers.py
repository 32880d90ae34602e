"""From an answer in the model server's words to the events that a client would have read from the server."""

from collections.abc import Iterator

import msgspec

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.stream import StreamEvent
from everturn.models.anthropic.decode import decode_event
from everturn.models.anthropic.faults import classify_error
from everturn.modelserver.answers import Answer, Broken, Call, Cut, Fail, Say, Stall
from everturn.modelserver.ask import Ask
from everturn.modelserver.compose import compose
from everturn.modelserver.delivery import error_body, find_position, render_events
from everturn.modelserver.prompt_cache import CacheUse
from everturn.modelserver.wire import Wire
from everturn.modelserver.wire_json import encode_json

PIECE = 8
"""Characters per delta: short, so that small answers stream too."""


def play(answer: Answer, *, api_id: str, model: str, input_tokens: int, first_call: int) -> Iterator[StreamEvent]:
    """Raises `ModelFault` where a client would. Calls without an id are numbered from `first_call`; no time passes."""
    match answer:
        case Fail():
            body = encode_json(error_body(answer.type, answer.message, details=answer.details))
            raise classify_error(answer.status, answer.headers, body, model=model)
        case Wire(transport="stall"):
            raise ModelFault(FaultKind.STALLED, "The script says nothing.")
        case Wire(transport="rst" | "eof" | "refuse"):
            raise ModelFault(FaultKind.CONNECTION, "The script ends the connection.")
        case Wire():
            raise ValueError("an answer that is written in bytes needs a ModelServer")
        case Say(hold=None):
            yield from _play_message(answer, api_id, model, input_tokens, first_call)
        case _:
            raise ValueError("hold(…) needs a ModelServer: nothing releases it here")


def count_calls(answer: Answer) -> int:
    """Calls that get the next number as their id."""
    return (
        sum(isinstance(block, Call) and block.id is None for block in answer.blocks) if isinstance(answer, Say) else 0
    )


def _play_message(say: Say, api_id: str, model: str, input_tokens: int, first_call: int) -> Iterator[StreamEvent]:
    blocks = []
    for block in say.blocks:
        named = block
        if isinstance(block, Call) and block.id is None:
            named, first_call = msgspec.structs.replace(block, id=f"toolu_{first_call}"), first_call + 1
        blocks.append(named)
    whole = msgspec.structs.replace(say, blocks=tuple(blocks), id=say.id or api_id, verbatim=True)
    message = compose(whole, Ask({"model": model}), CacheUse(fresh=input_tokens), seed=api_id, chunk=PIECE)
    events = list(render_events(message))
    ending = say.ending
    if isinstance(ending, Cut | Stall) and ending.after_bytes is not None:
        raise ValueError("after_bytes needs a ModelServer: no bytes are sent here")
    sent = events if ending is None else events[: find_position(ending.after, events)]
    yield from (decode_event(encode_json(event.data)) for event in sent)
    match ending:
        case Broken(type=kind, message=told):
            decode_event(encode_json(error_body(kind, told)))
        case Stall():
            raise ModelFault(FaultKind.STALLED, "The script says nothing more.")
        case Cut(how=how) if how != "clean" or not sent:
            raise ModelFault(FaultKind.STREAM_BROKEN, "The script breaks off in the middle of an answer.")
