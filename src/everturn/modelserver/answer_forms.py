"""The JSON of an answer, as it may be written: short forms and all; and the value it stands for."""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from everturn.modelserver import sentences
from everturn.modelserver.answers import (
    Answer,
    Block,
    Broken,
    Call,
    Cut,
    Raw,
    Redacted,
    Say,
    ServerCall,
    Stall,
    Text,
    Thinking,
)
from everturn.modelserver.wire import Wire

Json = dict[str, Any]
Status = Annotated[int, msgspec.Meta(ge=200, le=999)]
HeaderValue = Annotated[str, msgspec.Meta(pattern=r"^[\t -~]*\Z")]


class Form(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


def _one(form: msgspec.Struct, *fields: str) -> None:
    given = [field for field in fields if getattr(form, field) is not None]
    if len(given) != 1:
        raise ValueError(f"give one of {', '.join(fields)}")


class BlockForm(Form, frozen=True, kw_only=True):
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    redacted: str | None = None
    call: Call | None = None
    server_call: ServerCall | None = None
    block: Json | None = None

    def __post_init__(self) -> None:
        _one(self, "text", "thinking", "redacted", "call", "server_call", "block")

    def value(self) -> Block:
        if self.thinking is not None:
            return Thinking(text=self.thinking, signature=self.signature)
        if self.redacted is not None:
            return Redacted(data=self.redacted)
        if self.block is not None:
            return Raw(block=self.block)
        return self.call or self.server_call or Text(text=self.text or "")


class ErrorForm(Form, frozen=True, kw_only=True):
    status: Status
    type: str | None = None
    message: str | None = None
    retry_after: str | int | float | None = None
    headers: dict[str, HeaderValue] = {}
    details: Json | None = None


class RefusalForm(Form, frozen=True, kw_only=True):
    category: str | None = None
    explanation: str | None = None


class AnswerForm(Form, frozen=True, kw_only=True):
    """Content (text, thinking and calls, or blocks in any order) and how it is delivered; or an error; or bytes."""

    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    calls: tuple[Call | tuple[str, Any], ...] | None = None
    blocks: tuple[str | BlockForm, ...] | None = None
    truncated: str | None = None
    refusal: str | RefusalForm | None = None
    error: Status | ErrorForm | None = None
    wire: Wire | None = None
    cut: bool | Cut = False
    stall: bool | Stall = False
    broken: bool | Broken = False
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Json | None = None
    usage: Json = {}
    model: str | None = None
    id: str | None = None
    extra: Json = {}
    headers: dict[str, HeaderValue] = {}
    chunk: Annotated[int, msgspec.Meta(ge=1)] | None = None
    delay_ms: float = 0
    gap_ms: float = 0
    verbatim: bool = False

    def __post_init__(self) -> None:
        for alone, beside in _ALONE.items():
            others = [
                field
                for field in self.__struct_fields__
                if field not in {alone, *beside} and getattr(self, field) not in _UNSAID
            ]
            if getattr(self, alone) is not None and others:
                raise ValueError(f"{alone} does not go with {others[0]}")
        if self.signature is not None and self.thinking is None:
            raise ValueError("signature needs thinking")
        if sum(bool(ending) for ending in (self.cut, self.stall, self.broken)) > 1:
            raise ValueError("give one of cut, stall, broken")


_UNSAID: tuple[Any, ...] = (None, False, 0, {})
_DELIVERY = ("usage", "model", "id", "extra", "headers", "chunk", "delay_ms", "gap_ms")
_ENDINGS = ("cut", "stall", "broken")
_ALONE = {
    "wire": (),
    "error": ("delay_ms",),
    "blocks": (*_DELIVERY, *_ENDINGS, "stop_reason", "stop_sequence", "stop_details", "verbatim"),
    "truncated": (*_DELIVERY, *_ENDINGS),
    "refusal": (*_DELIVERY, *_ENDINGS, "text"),
}
"""What stands for an answer by itself, with the fields that may accompany it."""


def answer_of(form: str | AnswerForm) -> Answer:
    if isinstance(form, str):
        return sentences.text(form)
    if form.wire is not None:
        return form.wire
    if form.error is not None:
        return _error_of(form.error, form.delay_ms)
    say = _said(form)
    if form.stall is True and not say.blocks:
        return sentences.stall()
    delivery = {field: getattr(form, field) for field in _DELIVERY}
    return msgspec.structs.replace(say, ending=_ending_of(form), **delivery)


def _error_of(form: int | ErrorForm, delay_ms: float) -> Answer:
    error = ErrorForm(status=form) if isinstance(form, int) else form
    fail = sentences.error(
        error.status,
        error.type,
        error.message,
        retry_after=error.retry_after,
        headers=error.headers,
        details=error.details,
    )
    return msgspec.structs.replace(fail, delay_ms=delay_ms)


def _said(form: AnswerForm) -> Say:
    if form.truncated is not None:
        return sentences.truncated(form.truncated)
    if form.refusal is not None:
        refusal = RefusalForm(category=form.refusal) if isinstance(form.refusal, str) else form.refusal
        return sentences.refusal(form.text or "", category=refusal.category, explanation=refusal.explanation)
    return Say(
        blocks=tuple(_blocks_of(form)),
        stop_reason=form.stop_reason,
        stop_sequence=form.stop_sequence,
        stop_details=form.stop_details,
        verbatim=form.verbatim,
    )


def _blocks_of(form: AnswerForm) -> Iterator[Block]:
    for block in form.blocks or ():
        yield Text(text=block) if isinstance(block, str) else block.value()
    if form.thinking is not None:
        yield Thinking(text=form.thinking, signature=form.signature)
    if form.text is not None:
        yield Text(text=form.text)
    for call in form.calls or ():
        yield Call(name=call[0], input=call[1]) if isinstance(call, tuple) else call


def _ending_of(form: AnswerForm) -> Cut | Stall | Broken | None:
    if form.cut:
        return Cut() if form.cut is True else form.cut
    if form.stall:
        return Stall() if form.stall is True else form.stall
    if form.broken:
        return Broken() if form.broken is True else form.broken
    return None
