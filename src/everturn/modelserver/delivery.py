"""From a message or an error to the steps that deliver it, streamed or whole, to the end or not."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from everturn.modelserver.answers import Broken, Cut, Fail, Hold, Json, Say, Stall, status_of_type
from everturn.modelserver.compose import ComposedMessage
from everturn.modelserver.steps import HangUp, Head, Send, Step, Steps, Wait, WaitFor
from everturn.modelserver.wire_json import encode_event, encode_json

_BEFORE_ALL = -1


class DeliveredEvent(NamedTuple):
    name: str
    data: Json

    @property
    def is_content(self) -> bool:
        """A delta that brings something."""
        return self.name == "content_block_delta" and any(
            value for key, value in self.data["delta"].items() if key != "type"
        )


def render_events(message: ComposedMessage) -> Iterator[DeliveredEvent]:
    usage = message.usage | {"output_tokens": min(1, message.usage["output_tokens"])}
    opening = _envelope(message) | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _event("message_start", message=opening)
    for index, part in enumerate(message.parts):
        yield _event("content_block_start", index=index, content_block=part.start)
        if index == 0:
            yield _event("ping")
        for delta in part.deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event("message_delta", delta=_stop(message), usage=message.usage, **message.extra)
    yield _event("message_stop")


def render_message(message: ComposedMessage) -> Json:
    return _envelope(message) | {"content": message.content, **_stop(message), "usage": message.usage, **message.extra}


def _event(name: str, **fields: object) -> DeliveredEvent:
    return DeliveredEvent(name, {"type": name, **fields})


def _envelope(message: ComposedMessage) -> Json:
    return {"id": message.id, "type": "message", "role": "assistant", "model": message.model}


def _stop(message: ComposedMessage) -> Json:
    details = {} if message.stop_details is None else {"stop_details": message.stop_details}
    return {"stop_reason": message.stop_reason, "stop_sequence": message.stop_sequence, **details}


def plan_say(say: Say, message: ComposedMessage, *, streams: bool, request_id: str) -> Steps:
    if say.delay_ms:
        yield Wait(ms=say.delay_ms)
    headers = {"request-id": request_id, **say.headers}
    yield from _plan_stream(say, message, headers) if streams else _plan_whole(say, message, headers, request_id)


def _plan_stream(say: Say, message: ComposedMessage, headers: dict[str, str]) -> Steps:
    events = list(render_events(message))
    held = None if say.hold is None else find_position(say.hold.after, events)
    if say.hold and held == _BEFORE_ALL:
        yield WaitFor(gate=say.hold.gate)
    yield Head(
        status=200,
        headers={"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", **headers},
        framing="chunked",
    )
    if say.hold and held == 0:
        yield WaitFor(gate=say.hold.gate)
    yield from _ended(say, _deliver(say, events, held), events)


def _deliver(say: Say, events: Sequence[DeliveredEvent], held: int | None) -> Iterator[list[Step]]:
    """The steps of each event."""
    for count, event in enumerate(events, 1):
        steps: list[Step] = [Send(data=encode_event(*event))]
        if say.gap_ms and event.name == "content_block_delta":
            steps.append(Wait(ms=say.gap_ms))
        if say.hold and held is not None and _is_held(say.hold, event, count, held):
            steps.append(WaitFor(gate=say.hold.gate))
        yield steps


def _is_held(hold: Hold, event: DeliveredEvent, count: int, held: int) -> bool:
    return count == held or (hold.each and count > held and event.is_content)


def find_position(after: int | None, events: Sequence[DeliveredEvent]) -> int:
    """After how many events something happens; by default after the first piece of content."""
    if after is not None:
        return after
    return next((count for count, event in enumerate(events, 1) if event.is_content), len(events))


def _ended(say: Say, delivered: Iterator[list[Step]], events: Sequence[DeliveredEvent]) -> Steps:
    match say.ending:
        case None:
            for steps in delivered:
                yield from steps
        case Cut(after_bytes=int(size)) | Stall(after_bytes=int(size)):
            yield from _first_bytes((step for steps in delivered for step in steps), size)
        case ending:
            for _, steps in zip(range(find_position(ending.after, events)), delivered, strict=False):
                yield from steps
    match say.ending:
        case Cut(how="eof" | "rst" as how):
            yield HangUp(how=how)
        case Stall():
            yield HangUp(how="stall")
        case Broken():
            yield Send(data=encode_event("error", error_body(say.ending.type, say.ending.message)))


def _first_bytes(steps: Steps, size: int) -> Steps:
    for step in steps:
        if size <= 0:
            return
        if isinstance(step, Send):
            yield Send(data=step.data[:size])
            size -= len(step.data)
        else:
            yield step


def _plan_whole(say: Say, message: ComposedMessage, headers: dict[str, str], request_id: str) -> Steps:
    if say.hold:
        yield WaitFor(gate=say.hold.gate)
    if isinstance(say.ending, Broken):
        broken = say.ending
        yield from plan_fail(
            Fail(status=status_of_type(broken.type), type=broken.type, message=broken.message), request_id=request_id
        )
        return
    body = encode_json(render_message(message))
    yield from plan_json(body, headers, sent=None if say.ending is None else _share(say.ending, body))
    if say.ending:
        how = say.ending.how if isinstance(say.ending, Cut) else "stall"
        yield HangUp(how="eof" if how == "clean" else how)


def _share(ending: Cut | Stall | Broken, body: bytes) -> int:
    """How much of a body that is not a stream is sent: half of it, when the ending counts events."""
    size = None if isinstance(ending, Broken) else ending.after_bytes
    return len(body) // 2 if size is None else size


def plan_fail(fail: Fail, *, request_id: str, key: str = "", rule: str | None = None) -> Steps:
    if fail.delay_ms:
        yield Wait(ms=fail.delay_ms)
    body = error_body(fail.type, fail.message.replace("{APIKEY}", key), details=fail.details) | {
        "request_id": request_id
    }
    ours = {"everturn-rule": rule} if rule else {}
    yield from plan_json(encode_json(body), {"request-id": request_id, **ours, **fail.headers}, status=fail.status)


def plan_unsendable(why: str) -> Steps:
    """For an answer that HTTP cannot carry (a status or a header that is none): the connection is spent."""
    body = encode_json(error_body("api_error", f"The scripted answer cannot be sent: {why}"))
    yield Head(status=500, headers={"content-type": "application/json", "connection": "close"}, framing="close")
    yield Send(data=body)
    yield HangUp(how="eof")


def plan_json(body: bytes, headers: dict[str, str], *, status: int = 200, sent: int | None = None) -> Steps:
    length = {"content-type": "application/json", "content-length": str(len(body))}
    yield Head(status=status, headers=length | headers, framing="length")
    yield Send(data=body[:sent])


def error_body(kind: str, message: str, *, details: Json | None = None) -> Json:
    error: Json = {"type": kind, "message": message}
    return {"type": "error", "error": error | ({} if details is None else {"details": details})}
