"""From a scripted answer and a request to the message that is sent: ids, signatures, stop reason, usage."""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from everturn.modelserver.answer_cut import count_output, fit_stops, fit_tokens, input_text, is_whole
from everturn.modelserver.answers import Block, Call, Json, Raw, Redacted, Say, ServerCall, Text, Thinking
from everturn.modelserver.ask import Ask
from everturn.modelserver.prompt_cache import CacheUse
from everturn.modelserver.signatures import sign


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """A block three times: as it starts, as it grows, as it is in the end."""

    start: Json
    deltas: tuple[Json, ...] = ()
    final: Json


class ComposedMessage(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    model: str
    parts: tuple[_Part, ...]
    stop_reason: str
    stop_sequence: str | None
    stop_details: Json | None
    usage: Json
    extra: Json

    @property
    def content(self) -> list[Json]:
        return [part.final for part in self.parts]


def derive_id(prefix: str, *seed: object) -> str:
    """An id that depends on nothing but its seed: the same run gives the same ids, another request gives others."""
    return f"{prefix}_{hashlib.sha256(repr(seed).encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def compose(say: Say, ask: Ask, use: CacheUse, *, seed: str, chunk: int) -> ComposedMessage:
    """`seed` tells this request from all others of the session."""
    blocks, stop_reason, stop_sequence = (say.blocks, None, None) if say.verbatim else _fit(say, ask, use)
    speed = {"speed": ask.body["speed"]} if ask.body.get("speed") else {}
    usage = derive_usage(use, sum(count_output(block) for block in blocks)) | speed | say.usage
    # Nothing is cleared here; a script that clears something says so itself.
    edits: Json = {"context_management": {"applied_edits": []}} if ask.body.get("context_management") else {}
    composer = _Composer(ask, seed, say.chunk or chunk)
    return ComposedMessage(
        id=say.id or derive_id("msg", seed),
        model=say.model or str(ask.body.get("model")),
        parts=tuple(part for at, block in enumerate(blocks) for part in composer.parts(at, block)),
        stop_reason=say.stop_reason
        or stop_reason
        or ("tool_use" if any(isinstance(block, Call) for block in blocks) else "end_turn"),
        stop_sequence=say.stop_sequence or stop_sequence,
        stop_details=say.stop_details,
        usage=usage,
        extra=edits | say.extra,
    )


def _fit(say: Say, ask: Ask, use: CacheUse) -> tuple[tuple[Block, ...], str | None, str | None]:
    stops = ask.body.get("stop_sequences")
    blocks, stop = fit_stops(
        say.blocks, [text for text in stops if isinstance(text, str)] if isinstance(stops, list) else []
    )
    limits = [(max(0, ask.window - use.total), "model_context_window_exceeded")]
    wanted = ask.body.get("max_tokens")
    if isinstance(wanted, int):
        limits.append((wanted, "max_tokens"))
    limit, reason = min(limits)
    fitted = fit_tokens(blocks, limit)
    if fitted.cut:
        return fitted.blocks, reason, None
    return blocks, "stop_sequence" if stop else None, stop


def derive_usage(use: CacheUse, output: int) -> Json:
    return {
        "input_tokens": use.fresh,
        "cache_creation_input_tokens": sum(use.written.values()),
        "cache_read_input_tokens": use.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": use.written.get("5m", 0),
            "ephemeral_1h_input_tokens": use.written.get("1h", 0),
        },
        "output_tokens": output,
        "service_tier": "standard",
    }


class _Composer:
    def __init__(self, ask: Ask, seed: str, chunk: int) -> None:
        self._model = ask.model.id
        self._omits = ask.thinking.get("display") == "omitted"
        self._seed = seed
        self._chunk = chunk

    def parts(self, at: int, block: Block) -> Iterator[_Part]:
        match block:
            case Text(text=text):
                deltas = tuple({"type": "text_delta", "text": piece} for piece in self._pieces(text))
                yield _Part(start={"type": "text", "text": ""}, deltas=deltas, final={"type": "text", "text": text})
            case Thinking():
                yield self._thinking(block)
            case Redacted(data=data):
                yield _whole({"type": "redacted_thinking", "data": data})
            case Call():
                yield self._call(at, block)
            case ServerCall():
                yield from self._server_call(at, block)
            case Raw(block={"type": "compaction"} as raw):
                yield _compaction(raw)
            case Raw(block=raw):
                yield _whole(raw)

    def _thinking(self, block: Thinking) -> _Part:
        shown = "" if self._omits else block.text
        signature = sign(self._model, shown, block.text) if block.signature is None else block.signature
        deltas: list[Json] = [{"type": "thinking_delta", "thinking": piece} for piece in self._pieces(shown)]
        if signature:
            deltas.append({"type": "signature_delta", "signature": signature})
        return _Part(
            start={"type": "thinking", "thinking": "", "signature": ""},
            deltas=tuple(deltas),
            final={"type": "thinking", "thinking": shown, "signature": signature},
        )

    def _call(self, at: int, call: Call) -> _Part:
        identity = call.id or derive_id("toolu", self._seed, at)
        bare = {"type": "tool_use", "id": identity, "name": call.name}
        text = input_text(call)
        # The API opens every input with an empty piece. For a call without arguments nothing else follows.
        pieces = ["", *([] if text == "{}" else self._pieces(text))]
        return _Part(
            start=bare | {"input": {}},
            deltas=tuple({"type": "input_json_delta", "partial_json": piece} for piece in pieces),
            final=bare | {"input": call.input if is_whole(call) else {}},
        )

    def _server_call(self, at: int, call: ServerCall) -> Iterator[_Part]:
        identity = call.id or derive_id("srvtoolu", self._seed, at)
        part = self._call(at, Call(name=call.name, input=call.input, id=identity))
        kind = {"type": "server_tool_use"}
        yield _Part(start=part.start | kind, deltas=part.deltas, final=part.final | kind)
        if call.result is not None:
            yield _whole({"type": f"{call.name}_tool_result", "tool_use_id": identity, "content": call.result})

    def _pieces(self, text: str) -> list[str]:
        return [text[start : start + self._chunk] for start in range(0, len(text), self._chunk)]


def _whole(block: dict[str, Any]) -> _Part:
    return _Part(start=block, final=block)


def _compaction(block: dict[str, Any]) -> _Part:
    """A block without its summary, which comes whole in one delta."""
    told: Json = {name: block[name] for name in ("content", "encrypted_content") if name in block}
    start = block | dict.fromkeys(told)
    return _Part(start=start, deltas=({"type": "compaction_delta", **told},), final=block)
