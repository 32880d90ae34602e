"""Short ways to write answers, so that a scripted conversation reads like one: `[calls(("Read", {…})), text("Done.")]`."""

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

import msgspec

from everturn.modelserver.answers import (
    Answer,
    Block,
    Broken,
    Call,
    Cut,
    Fail,
    Hold,
    How,
    Json,
    Raw,
    Redacted,
    Say,
    ServerCall,
    Stall,
    Text,
    Thinking,
    type_of_status,
)
from everturn.modelserver.wire import Wire
from everturn.modelserver.wire_json import render_json

_MESSAGES = {
    401: "invalid x-api-key",
    413: "Request exceeds the maximum size",
    429: "This request would exceed your rate limit.",
    500: "Internal server error",
    504: "Request timed out",
    529: "Overloaded",
}


class Delivery(TypedDict, total=False):
    """How a message is delivered; the fields of `Say`."""

    stop_reason: str | None
    stop_sequence: str | None
    stop_details: Json | None
    usage: Json
    model: str | None
    id: str | None
    extra: Json
    headers: dict[str, str]
    chunk: int | None
    delay_ms: float
    gap_ms: float
    verbatim: bool


def say(*parts: Say | Block | str, **options: Unpack[Delivery]) -> Say:
    """Several blocks in order: strings, and whatever the functions below return."""
    return Say(blocks=tuple(block for part in parts for block in _blocks(part)), **options)


def _blocks(part: Say | Block | str) -> tuple[Block, ...]:
    match part:
        case str():
            return (Text(text=part),)
        case Say():
            if part != Say(blocks=part.blocks):
                raise ValueError("options, endings and stop reasons belong to the whole answer: say(…, option=…)")
            return part.blocks
        case _:
            return (part,)


def text(words: str, **options: Unpack[Delivery]) -> Say:
    return say(words, **options)


def thinking(thought: str, *, signature: str | None = None) -> Say:
    return say(Thinking(text=thought, signature=signature))


def redacted(data: str = "cmVkYWN0ZWQ=") -> Say:
    return say(Redacted(data=data))


def call(name: str, arguments: Any = None, *, call_id: str | None = None) -> Say:
    return say(Call(name=name, input={} if arguments is None else arguments, id=call_id))


def calls(*pairs: tuple[str, Any], **options: Unpack[Delivery]) -> Say:
    """Tool calls of one answer, each a name and its input."""
    if wrong := [pair for pair in pairs if not isinstance(pair, tuple)]:
        raise ValueError(
            f'calls takes names with their inputs, ("Read", {{…}}), not {wrong[0]!r:.60}; say joins the results of call'
        )
    return say(*(Call(name=name, input=value) for name, value in pairs), **options)


def server_call(name: str, arguments: Json, result: Any = None, *, call_id: str | None = None) -> Say:
    """A tool that the API runs by itself, with its result block when there is one."""
    return say(ServerCall(name=name, input=arguments, id=call_id, result=result))


def block(value: Json) -> Say:
    """Any block, as it is."""
    return say(Raw(block=value))


def refusal(words: str = "", *, category: str | None = None, explanation: str | None = None) -> Say:
    details = {"type": "refusal", "category": category, "explanation": explanation}
    return say(*([words] if words else []), stop_reason="refusal", stop_details=details)


def pause(*parts: Say | Block | str) -> Say:
    """A turn that the client must send back as it is; by default in the middle of a web search."""
    return say(*(parts or (server_call("web_search", {"query": "news"}),)), stop_reason="pause_turn")


def truncated(part: Say | str) -> Say:
    """An answer that ran into the output limit: text is sent whole, a last call with half its input."""
    answer = say(part)
    *before, last = answer.blocks
    if isinstance(last, Call):
        last = msgspec.structs.replace(last, partial=len(render_json(last.input)) // 2)
    return Say(blocks=(*before, last), stop_reason="max_tokens", verbatim=True)


def error(
    status: int,
    kind: str | None = None,
    message: str | None = None,
    *,
    retry_after: str | float | None = None,
    headers: Mapping[str, str] | None = None,
    details: Json | None = None,
) -> Fail:
    """An error of the API: `error(529)`, `error(400, "invalid_request_error", "…")`."""
    after = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Fail(
        status=status,
        type=kind or type_of_status(status),
        message=message or _MESSAGES.get(status, "The request was refused."),
        headers=after | dict(headers or {}),
        details=details,
    )


def overloaded(*, retry_after: str | float | None = None) -> Fail:
    return error(529, retry_after=retry_after)


def rate_limited(*, retry_after: str | float | None = 1) -> Fail:
    return error(429, retry_after=retry_after)


def spend_limit() -> Fail:
    """The refusal that must not be retried: no retry-after, and a code that says why."""
    return error(
        429, message="You have reached your spend limit.", details={"error_code": "enforced_spend_limit_reached"}
    )


def too_long(tokens: int = 210_000, limit: int = 200_000) -> Fail:
    return error(400, message=f"prompt is too long: {tokens} tokens > {limit} maximum")


def cut(
    part: Say | str = "Hello there", *, after: int | None = None, after_bytes: int | None = None, how: How = "eof"
) -> Say:
    """The connection ends in mid-answer."""
    return _ending(part, Cut(after=after, after_bytes=after_bytes, how=how))


def broken(
    part: Say | str = "Hello there",
    *,
    after: int | None = None,
    kind: str = "overloaded_error",
    message: str = "Overloaded",
) -> Say:
    """An error event in mid-answer."""
    return _ending(part, Broken(after=after, type=kind, message=message))


def stall(part: Say | str | None = None, *, after: int | None = None, after_bytes: int | None = None) -> Answer:
    """Silence: in mid-answer, or, when there is no answer, instead of one."""
    if part is None:
        return Wire(transport="stall")
    return _ending(part, Stall(after=after, after_bytes=after_bytes))


def hold(part: Say | str = "Hello there", *, after: int | None = None, gate: str = "go", each: bool = False) -> Say:
    """A pause until `server.release(gate)`: after the first piece of content, after n events, or before all (-1).

    `each`: after every further piece of content as well; `server.release(gate, pieces=2)` lets two more through.
    """
    return msgspec.structs.replace(_answer(part), hold=Hold(gate=gate, after=after, each=each))


def reset() -> Wire:
    """The connection is reset instead of an answer."""
    return Wire(transport="rst")


def closed() -> Wire:
    """The connection is closed instead of an answer."""
    return Wire(transport="eof")


def garbage() -> Wire:
    """Bytes that are not HTTP."""
    return Wire(transport="garbage")


def _answer(part: Say | str) -> Say:
    return part if isinstance(part, Say) else say(part)


def _ending(part: Say | str, ending: Cut | Stall | Broken) -> Say:
    return msgspec.structs.replace(_answer(part), ending=ending)
