"""Folding a stream: from the events of one response to whole blocks with their bytes."""

from collections.abc import Callable
from typing import Any

import msgspec

from everturn.core.budget import Usage, decode_nested, decode_usage, merge_reports, read_count
from everturn.core.errors import FaultKind, ModelFault
from everturn.core.messages import (
    Answer,
    Block,
    Text,
    ToolUse,
    decode_block,
    encode_block,
    repair_surrogates,
)
from everturn.core.received_json import clean_name, decode_fields, encode_input, is_invalid
from everturn.core.tokens import count_least_written, estimate_written

DUE_CHARACTERS = 256
"""Characters received until limits are checked again: at least about forty tokens."""


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
    """A ping, or an event that we do not know: the connection is alive."""


class _Open:
    """A block that is still growing."""

    def __init__(self, raw: bytes) -> None:
        self.fields, self._values = decode_fields(raw)
        self.kind = self.string("type")
        self.name = self.string("name")
        self.id = ""
        self.text: list[str] = []
        self.signature: list[str] = []
        self.input: list[str] = []
        self.pieces = self._pieces()
        """Pieces by the class of their event. A piece that does not fit the kind of the block is not kept."""
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
        """The string in a field of the block; anything else counts as empty."""
        value = self._values.get(name)
        return value if isinstance(value, str) else ""

    def all_citations(self) -> list[msgspec.Raw]:
        """All citations of the block: those that it began with, and those that were added."""
        first = _LIST.decode(self.fields["citations"]) if isinstance(self._values.get("citations"), list) else []
        return first + self.citations

    @property
    def next_model(self) -> str:
        """The model that goes on after a `fallback` block."""
        match self._values.get("to"):
            case {"model": str(model)}:
                return model
            case _:
                return ""

    @property
    def written(self) -> str:
        """Text that the model wrote before the first piece: a call's name, and what a server sends whole."""
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
        """The message ended; nothing after that counts."""
        self.took = False
        """The last piece belongs to an open block; others are neither kept nor shown."""
        self.api_id = ""
        self.model = ""
        self.stop_reason: str | None = None
        self.details: dict[str, Any] = {}
        self.cleared = 0
        self.report: dict[str, Any] = {}
        self._read_report, self._reported = self.report, Usage()
        self.started = False
        self._characters = 0
        """Characters that the model wrote, as received. Signatures and results of the API's own tools do not count."""
        self._wide = 0
        """Bytes of UTF-8 of these characters, less one for each character."""
        self._due_at = DUE_CHARACTERS
        self.is_due = False
        """Enough has come since the last look that limits should be checked again."""
        self._covered = (0, 0)
        """Characters and bytes that the API's last count of the output covers."""
        self._is_counted = False

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The finished blocks, in the order of their indices."""
        return tuple(self._closed[index] for index in sorted(self._closed))

    @property
    def complete(self) -> bool:
        """The stop reason is known and all blocks are closed, or the message said that it ended."""
        return self.ended or (self.stop_reason is not None and not self._open)

    @property
    def reported(self) -> Usage:
        """Usage as the API reported it: until the end its output count is a placeholder."""
        if self._read_report is not self.report:
            self._read_report, self._reported = self.report, decode_usage(self.report)
        return self._reported

    @property
    def usage(self) -> Usage:
        """Usage of what was received: what the API counted, and an estimate of what came since.

        For a complete response without any report of the API the cost is unknown and counts as nothing.
        """
        return self._with_output(estimate_written(self._size - self._covered[1]))

    def take_least_usage(self) -> Usage:
        """The least that the response can have cost. Resets `is_due`."""
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
        """Usage by model; None is the model that was asked. Calls inside the response have models of their own."""
        usage = self.usage
        nested = decode_nested(self.report)
        if not nested:
            return ((None, usage),)
        since = usage.estimated_output
        return (*nested, (None, Usage(output=since, estimated_output=since))) if since else nested

    def feed(self, event: StreamEvent) -> Block | None:
        """Takes an event, and returns a block that it finished. Raises `ModelFault` where the stream contradicts itself."""
        if self.ended:
            return None
        if isinstance(event, Added):
            # This runs thousands of times in a response.
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
            case CitationAdded(index, raw):
                self._at(index).citations.append(msgspec.Raw(raw))
            case CompactionFilled(index, raw):
                self._fill(self._at(index), raw)
            case _:
                pass
        return None

    def describe(self, index: int) -> tuple[str, str, str]:
        """Kind of an open block; for a call also its name and its id."""
        block = self._at(index)
        return block.kind, block.name, block.id

    def is_certain(self, block: Block) -> bool:
        """Whether the block is complete. A call without input, or with broken input, may be cut off: only the stop reason tells."""
        if type(block.view) is not ToolUse:
            return True
        if self._unfed and any(self._closed.get(index) is block for index in self._unfed):
            return False
        return not is_invalid(block.view)

    def finish(self) -> tuple[Block, ...]:
        """The blocks of a complete response; a call that the output cap cut off is not one of them."""
        blocks = self.blocks
        if self.stop_reason == "max_tokens" and blocks and not self.is_certain(blocks[-1]):
            return blocks[:-1]
        return blocks

    def salvage(self) -> tuple[Block, ...]:
        """What is kept of a response that broke off: whole blocks, and the text of one that was growing."""
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
            fields, values = decode_fields(raw)
            block.fields |= {name: value for name, value in fields.items() if name != "type"}
            self._count_written(str(values.get("content") or ""))

    def _count_written(self, text: str) -> None:
        """Counts text that the model wrote and that did not come in pieces."""
        self._characters += len(text)
        self._wide += len(text.encode("utf-8", "surrogatepass")) - len(text)

    def _at(self, index: int) -> _Open:
        if (block := self._open.get(index)) is not None:
            return block
        if index in self._closed:
            raise ModelFault(FaultKind.STREAM_BROKEN, f"The stream continued block {index}, which is closed.")
        # A piece of a block that never started belongs to nothing and is dropped.
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


_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
"""Blocks whose input the model writes."""
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
