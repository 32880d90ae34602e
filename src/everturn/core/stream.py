"""Folding a stream: from the events of one response to whole blocks with their bytes."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from everturn.core.budget import Usage, decode_nested, decode_usage, merge_reports, read_count
from everturn.core.errors import FaultKind, InputFault, ModelFault
from everturn.core.messages import (
    Answer,
    Block,
    Text,
    ToolUse,
    decode_block,
    encode_block,
    encode_repaired,
    join_surrogates,
    repair_surrogates,
)
from everturn.core.tokens import count_least_written, estimate_written

INVALID_JSON = "INVALID_JSON"
"""The key under which a call's unreadable input goes back to the model."""
NAME_LIMIT = 128
DUE_CHARACTERS = 256
"""Received in mid-stream until limits are asked again: some forty tokens at least."""
DEPTH_LIMIT = 200
"""Nesting that every reader takes: the journal puts a few levels of its own around it."""


class StreamEvent(msgspec.Struct, frozen=True, gc=False):
    """The root of a closed set; the order is that of the Messages API."""


class MessageStarted(StreamEvent, frozen=True):
    api_id: str
    model: str
    report: dict[str, Any]
    """The API's `usage` object, as far as it is known now."""


class BlockStarted(StreamEvent, frozen=True):
    index: int
    raw: bytes


class Added(StreamEvent, frozen=True):
    """A piece of a block; its class says what it belongs to."""

    index: int
    text: str


class TextAdded(Added, frozen=True):
    pass


class ThinkingAdded(Added, frozen=True):
    pass


class SignatureAdded(Added, frozen=True):
    pass


class InputAdded(Added, frozen=True):
    pass


class CitationAdded(StreamEvent, frozen=True):
    index: int
    raw: bytes


class CompactionFilled(StreamEvent, frozen=True):
    """The fields of a `compaction` block, whole; each replaces the one before."""

    index: int
    raw: bytes


class BlockStopped(StreamEvent, frozen=True):
    index: int


class MessageChanged(StreamEvent, frozen=True):
    stop_reason: str | None
    details: dict[str, Any]
    """`stop_details` of a refusal; empty otherwise."""
    report: dict[str, Any]
    cleared: int = 0
    """Tokens of old results that the API left out of what the model read, by its own count."""


class MessageStopped(StreamEvent, frozen=True):
    pass


class Pinged(StreamEvent, frozen=True):
    """A sign of life: a ping, or an event we do not know."""


class _Open:
    """A block that is still growing."""

    def __init__(self, raw: bytes) -> None:
        self.fields, self._values = _decode_fields(raw)
        self.kind = self.string("type")
        self.name = self.string("name")
        self.id = ""
        self.text: list[str] = []
        self.signature: list[str] = []
        self.input: list[str] = []
        self.pieces = self._pieces()
        """By the class of the event. What does not fit the kind of the block has no place in it."""
        self.citations: list[msgspec.Raw] = []

    def _pieces(self) -> dict[type[Added], list[str]]:
        match self.kind:
            case "text":
                return {TextAdded: self.text}
            case "thinking":
                return {ThinkingAdded: self.text, SignatureAdded: self.signature}
            case "redacted_thinking":
                return {}
            case _:
                # Kinds of calls that we do not know yet have an input, too.
                return {InputAdded: self.input}

    def string(self, name: str) -> str:
        """The string in a field; anything else counts as empty."""
        value = self._values.get(name)
        return value if isinstance(value, str) else ""

    def all_citations(self) -> list[msgspec.Raw]:
        """Those that the block began with, and those that were added."""
        first = _LIST.decode(self.fields["citations"]) if isinstance(self._values.get("citations"), list) else []
        return first + self.citations

    @property
    def next_model(self) -> str:
        """Of a `fallback` block: the model that goes on after it."""
        match self._values.get("to"):
            case {"model": str(model)}:
                return model
            case _:
                return ""

    @property
    def written(self) -> str:
        """What the model wrote of it before its first piece: a call's name, and what a server sends whole."""
        input_ = bytes(self.fields.get("input", b"{}")) if self.kind in _CALLS else b"{}"
        words = "" if input_ == b"{}" else input_.decode("utf-8", "replace")
        return self.string("text") + self.string("thinking") + self.name + words


class Fold:
    """Collects one response. Feed it every event; it answers with a block whenever one is finished.

    `claim_id` gives each call an id that is unique in the conversation (the received one, if it is free).
    """

    def __init__(self, claim_id: Callable[[str], str]) -> None:
        self._claim_id = claim_id
        self._open: dict[int, _Open] = {}
        self._closed: dict[int, Block] = {}
        self._unfed: set[int] = set()
        self.ended = False
        """The message has said so; nothing after that counts."""
        self.took = False
        """The last piece fits an open block: others are neither kept nor shown."""
        self.api_id = ""
        self.model = ""
        self.stop_reason: str | None = None
        self.details: dict[str, Any] = {}
        self.cleared = 0
        self.report: dict[str, Any] = {}
        self._read_report, self._reported = self.report, Usage()
        self.started = False
        self._characters = 0
        """Received of what the model wrote. Signatures are not its words, nor are results of the API's own tools."""
        self._wide = 0
        """Bytes of UTF-8 that they take beyond one for each."""
        self._due_at = DUE_CHARACTERS
        self.is_due = False
        """In mid-stream: so much is new that somebody should look whether `take_least_usage` reaches a limit."""
        self._covered = (0, 0)
        """Characters and bytes that the API's last count of the output covers."""
        self._is_counted = False

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Finished blocks in the order of their indices."""
        return tuple(self._closed[index] for index in sorted(self._closed))

    @property
    def complete(self) -> bool:
        """The stop reason is known and all blocks are closed, or the message said that it ended."""
        return self.ended or (self.stop_reason is not None and not self._open)

    @property
    def reported(self) -> Usage:
        """By the API's word alone: until the end its output is a placeholder."""
        if self._read_report is not self.report:
            self._read_report, self._reported = self.report, decode_usage(self.report)
        return self._reported

    @property
    def usage(self) -> Usage:
        """What the response cost as far as it was received: what the API counted, and an estimate of what came since.

        What a complete response cost of which the API says nothing at all is not known: that counts as nothing.
        """
        return self._with_output(estimate_written(self._size - self._covered[1]))

    def take_least_usage(self) -> Usage:
        """What it cost at least. Until more has come, it `is_due` no longer."""
        self.is_due, self._due_at = False, self._characters + DUE_CHARACTERS
        return self._with_output(count_least_written(self._characters - self._covered[0]))

    @property
    def _size(self) -> int:
        """Bytes received of what the model wrote."""
        return self._characters + self._wide

    def _with_output(self, since: int) -> Usage:
        reported = self.reported
        if not since or (self.complete and not self.report):
            return reported
        counted = reported.output if self._is_counted else 0
        output = max(counted + since, reported.output)
        return msgspec.structs.replace(reported, output=output, estimated_output=output - counted)

    @property
    def charges(self) -> tuple[tuple[str | None, Usage], ...]:
        """What each model is paid for, None being the one that was asked: calls inside the response have their own."""
        usage = self.usage
        nested = decode_nested(self.report)
        if not nested:
            return ((None, usage),)
        since = usage.estimated_output
        return (*nested, (None, Usage(output=since, estimated_output=since))) if since else nested

    def feed(self, event: StreamEvent) -> Block | None:
        """Raises `ModelFault` where the stream contradicts itself; nothing after the message's end counts."""
        if self.ended:
            return None
        if isinstance(event, Added):
            # The one step that a response takes thousands of times.
            pieces, text = (self._open.get(event.index) or self._at(event.index)).pieces.get(type(event)), event.text
            self.took = pieces is not None
            if pieces is None:
                return None
            pieces.append(text)
            if type(event) is SignatureAdded:
                return None
            self._characters += len(text)
            if not text.isascii():
                self._wide += len(text.encode("utf-8", "surrogatepass")) - len(text)
            if self._characters >= self._due_at:
                self.is_due = True
            return None
        match event:
            case BlockStarted(index, raw):
                self._start(index, raw)
            case BlockStopped(index) if index in self._open:
                return self._close(index)
            case CitationAdded(index, raw):
                self._at(index).citations.append(msgspec.Raw(raw))
            case CompactionFilled(index, raw):
                self._fill(self._at(index), raw)
            case MessageStarted(api_id, model, report):
                self._begin(api_id, model, report)
            case MessageChanged(stop_reason, details, report, cleared):
                self.cleared = cleared or self.cleared
                self.stop_reason = stop_reason or self.stop_reason
                self.details = details or self.details
                self.report = merge_reports(self.report, report)
                if read_count(report.get("output_tokens")):
                    self._covered, self._is_counted = (self._characters, self._size), True
                self.is_due = not self.complete
            case MessageStopped():
                for index in sorted(self._open):
                    self._close(index)
                self.ended, self.took = True, False
            case _:
                pass
        return None

    def describe(self, index: int) -> tuple[str, str, str]:
        """Kind of an open block; if it is a call also its name and its id."""
        block = self._at(index)
        return block.kind, block.name, block.id

    def is_certain(self, block: Block) -> bool:
        """False for a call without input, or with broken input: only the stop reason tells whether it was cut off."""
        if not isinstance(block.view, ToolUse):
            return True
        unfed = any(self._closed.get(index) is block for index in self._unfed)
        return not unfed and not is_invalid(block.view)

    def finish(self) -> tuple[Block, ...]:
        """The blocks of a complete response; a call that the output cap cut off is not one of them."""
        blocks = self.blocks
        if self.stop_reason == "max_tokens" and blocks and not self.is_certain(blocks[-1]):
            return blocks[:-1]
        return blocks

    def salvage(self) -> tuple[Block, ...]:
        """What can be kept of a response that was cut: whole blocks, and the text of one that was growing."""
        growing = [self._open[index] for index in sorted(self._open)]
        texts = [block.string("text") + "".join(block.text) for block in growing if block.kind == "text"]
        return self.blocks + tuple(encode_block(Text(repair_surrogates(text))) for text in texts if text.strip())

    def answer(self, asked: str, *, incomplete: bool = False) -> Answer:
        return Answer(
            api_id=self.api_id,
            asked=asked,
            model=self.model,
            stop_reason=self.stop_reason,
            usage=self.usage,
            incomplete=incomplete,
        )

    def _begin(self, api_id: str, model: str, report: dict[str, Any]) -> None:
        if self._open or self._closed:
            raise ModelFault(FaultKind.STREAM_BROKEN, "The stream started a second message inside the first.")
        self.started = True
        self.api_id, self.model, self.report = api_id, model, report

    def _start(self, index: int, raw: bytes) -> None:
        if index in self._open or index in self._closed:
            raise ModelFault(FaultKind.STREAM_BROKEN, f"The stream started block {index} twice.")
        block = self._open[index] = _Open(raw)
        if block.kind == "tool_use":
            block.id = self._claim_id(repair_surrogates(block.string("id")))
            block.name = clean_name(block.string("name"))
        elif block.kind == "fallback":
            self.model = block.next_model or self.model
        self._count_written(block.written)

    def _fill(self, block: _Open, raw: bytes) -> None:
        if block.kind == "compaction":
            fields, values = _decode_fields(raw)
            block.fields |= {name: value for name, value in fields.items() if name != "type"}
            self._count_written(str(values.get("content") or ""))

    def _count_written(self, text: str) -> None:
        """What the model wrote and did not come in pieces."""
        self._characters += len(text)
        self._wide += len(text.encode("utf-8", "surrogatepass")) - len(text)

    def _at(self, index: int) -> _Open:
        if (block := self._open.get(index)) is not None:
            return block
        if index in self._closed:
            raise ModelFault(FaultKind.STREAM_BROKEN, f"The stream continued block {index}, which is closed.")
        # A piece of a block that never started belongs to nothing: it is collected where nobody looks.
        return _Open(b"{}")

    def _close(self, index: int) -> Block:
        block = self._fold(index, self._open.pop(index))
        self._closed[index] = block
        return block

    def _fold(self, index: int, block: _Open) -> Block:
        fields = block.fields
        match block.kind:
            case "text":
                text = repair_surrogates(block.string("text") + "".join(block.text))
                if fields.keys() <= {"type", "text"} and not block.citations:
                    return encode_block(Text(text))
                fields["text"] = text
                if block.citations:
                    fields["citations"] = block.all_citations()
            case "thinking":
                fields["thinking"] = repair_surrogates(block.string("thinking") + "".join(block.text))
                # A signature comes whole: another one replaces it. Readers of sessions need the field, also where it is empty.
                signature = block.signature[-1] if block.signature else block.string("signature")
                fields["signature"] = repair_surrogates(signature)
            case "tool_use":
                fields["id"], fields["name"] = block.id, block.name
                if text := "".join(block.input):
                    fields["input"] = encode_input(text)
                elif bytes(fields.setdefault("input", msgspec.Raw(b"{}"))) == b"{}":
                    # A call without arguments, or one that was cut before its first argument.
                    self._unfed.add(index)
            case _:
                if text := "".join(block.input):
                    fields["input"] = encode_input(text)
        return decode_block(msgspec.json.encode(fields))


def parse_input(text: str) -> dict[str, Any]:
    """Strict JSON: a call runs from exactly what the model wrote, or not at all. Raises `InputFault`."""
    try:
        value = _STRICT.decode(text)
    except RecursionError:
        raise InputFault("The input is nested too deeply.") from None
    except ValueError as error:
        raise InputFault(f"The input is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputFault("The input must be a JSON object.")
    if not _is_shallow(text.count("{"), text.count("[")) and _nests_deeper(value, DEPTH_LIMIT):
        raise InputFault("The input is nested too deeply.")
    try:
        msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise InputFault("The input holds half a Unicode character.") from None
    return value


def encode_input(text: str) -> msgspec.Raw:
    """The bytes of a call's input as they go back: the model's own, or wrapped where they are no JSON object."""
    text = join_surrogates(text)
    try:
        parse_input(text)
    except InputFault:
        # A lone half goes back as an escape: readable for the model, and still invalid when it is parsed again.
        wrapped = text.encode("utf-8", "backslashreplace").decode()
        return msgspec.Raw(msgspec.json.encode({INVALID_JSON: wrapped}))
    return msgspec.Raw(text.replace("\n", " ").replace("\r", " ").encode())


def is_invalid(use: ToolUse) -> bool:
    return bytes(use.input).startswith(b'{"' + INVALID_JSON.encode() + b'"')


def clean_name(name: str) -> str:
    """A tool name that the API takes back; one that was fine is unchanged."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:NAME_LIMIT] or "_"


def _decode_fields(raw: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Each field raw, on one line and strict, so that the journal can be read back; and what it means."""
    raw = raw.replace(b"\n", b" ").replace(b"\r", b" ")
    try:
        if _is_shallow(raw.count(b"{"), raw.count(b"[")):
            return _FIELDS.decode(raw), _VALUES.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    return _decode_odd_fields(raw)


def _decode_odd_fields(raw: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Deep, or with half a character in it: Python reads what the strict decoder does not."""
    try:
        value = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or _nests_deeper(value, DEPTH_LIMIT):
        raise ModelFault(FaultKind.STREAM_BROKEN, "The stream held a block that is no JSON object, or too deep a one.")
    try:
        fields = _FIELDS.decode(raw)
    except msgspec.DecodeError:
        fields = {key: msgspec.Raw(encode_repaired(item)) for key, item in value.items()}
    return fields, {key: json.loads(bytes(item)) for key, item in fields.items()}


def _is_shallow(*brackets: int) -> bool:
    """So few of them that they cannot nest too deeply, whatever the order."""
    return sum(brackets) < DEPTH_LIMIT


def _nests_deeper(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key stands twice")
    return fields


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(f"{text} is out of range")
    return value


_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Blocks whose input the model writes."""
_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_VALUES = msgspec.json.Decoder(dict[str, Any])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
