"""From the lines of a session's file to its card: each line once, in order, whenever it is read."""

import time
from typing import Any, Protocol

import msgspec

from everturn.core.errors import JournalError
from everturn.core.messages import UNSENT, Kind
from everturn.core.money import add_usd
from everturn.core.records import (
    MessageAdded,
    MessageRetracted,
    ModelChanged,
    QueryBegan,
    QueryEnded,
    Record,
    Rewound,
    SessionOpened,
    UsageCharged,
)
from everturn.sessions.formats import decode_line, find_newer_format
from everturn.sessions.index.card import Gathered, shorten_title
from everturn.sessions.index.passages import render_text


class Keys(Protocol):
    """What of a file was counted already, however long ago that was."""

    def add(self, key: str) -> bool:
        """Whether it is new."""
        ...

    def discard(self, key: str) -> bool:
        """Whether it was there."""
        ...

    def after(self, key: str) -> list[str]:
        """What was counted after it, in order."""
        ...


class _Envelope(msgspec.Struct, frozen=True):
    """Of any line, also of other programs: whatever the values are, they are no reason to refuse it."""

    type: Any = ""
    cwd: Any = ""
    branch: Any = msgspec.field(default="", name="gitBranch")
    timestamp: Any = ""
    custom_title: Any = msgspec.field(default="", name="customTitle")
    ai_title: Any = msgspec.field(default="", name="aiTitle")
    summary: Any = ""
    tag: Any = ""


_ENVELOPE = msgspec.json.Decoder(_Envelope)
_TITLES = {"custom-title": ("custom_title", "custom_title"), "ai-title": ("given_title", "ai_title")} | {
    "summary": ("given_title", "summary"),
    "tag": ("tag", "tag"),
}
"""Kinds of lines that name a session: what they set, and where they say it."""


class Gatherer:
    """Goes on from what was gathered before. A broken line tells nothing."""

    def __init__(self, told: Gathered, keys: Keys) -> None:
        self._told: dict[str, Any] = msgspec.structs.asdict(told)
        self._keys = keys

    @property
    def told(self) -> Gathered:
        return Gathered(**self._told)

    @property
    def is_done(self) -> bool:
        """What follows is in a format that only a later Everturn reads."""
        return bool(self._told["newer"])

    def read(self, line: bytes) -> None:
        if (newer := find_newer_format(line)) is not None:
            self._told |= {"newer": newer, "ours": True, "folder": self._told["folder"] or _find_folder(line)}
            return
        try:
            envelope = _ENVELOPE.decode(line)
            record = decode_line(line).record
        except (msgspec.DecodeError, JournalError, RecursionError):
            return
        self._look(envelope)
        if record is not None:
            self._take(record)

    def _look(self, envelope: _Envelope) -> None:
        told = self._told
        if isinstance(envelope.type, str) and envelope.type in _TITLES:
            field, source = _TITLES[envelope.type]
            value = getattr(envelope, source)
            if isinstance(value, str):
                told[field] = shorten_title(value)
            return
        if not told["began"] and isinstance(envelope.timestamp, str):
            told["began"] = envelope.timestamp
        if not told["folder"] and isinstance(envelope.cwd, str):
            told["folder"] = envelope.cwd
        if isinstance(envelope.branch, str) and envelope.branch:
            told["branch"] = envelope.branch

    def _take(self, record: Record) -> None:
        told = self._told
        match record:
            case SessionOpened():
                told["ours"] = True
                told["folder"] = told["folder"] or record.folder
                told["began"] = told["began"] or _stamp(record.at)
            case QueryBegan():
                told["unfinished"] = True
                told["model"] = record.model
            case QueryEnded():
                told["unfinished"] = False
            case Rewound():
                told["unfinished"] = False
                self._go_back(record.to)
            case ModelChanged():
                told["model"] = record.model
            case UsageCharged():
                # As in a replay: once, however often its line stands in the file.
                if not record.request_id or self._keys.add(f"bill {record.request_id}"):
                    told["usd"] = add_usd((told["usd"], record.usd))
            case MessageAdded():
                self._count(record)
            case MessageRetracted():
                told["messages"] -= self._keys.discard(f"message {record.id}")
                told["turns"] -= self._keys.discard(f"answer {record.id}")
            case _:
                pass

    def _count(self, record: MessageAdded) -> None:
        told = self._told
        if record.kind in UNSENT:
            self._keys.add(f"silent {record.id}")
            return
        if not self._keys.add(f"message {record.id}"):
            return
        told["messages"] += 1
        if record.kind is Kind.PROMPT and not told["first_prompt"]:
            told["first_prompt"] = shorten_title(render_text(record))
        if record.kind is Kind.ANSWER and record.answer is not None:
            told["model"] = record.answer.model or told["model"]
            # Other programs write an answer as several lines that share one id of the API.
            if not record.answer.api_id or self._keys.add(f"turn {record.answer.api_id}"):
                self._keys.add(f"answer {record.id}")
                told["turns"] += 1

    def _go_back(self, to: str) -> None:
        """What was said after this message counts no more; what was paid does."""
        for key in self._keys.after(f"message {to}") or self._keys.after(f"silent {to}"):
            kind = key.partition(" ")[0]
            if kind != "bill" and self._keys.discard(key):
                self._told["messages"] -= kind == "message"
                self._told["turns"] -= kind == "answer"


def _find_folder(line: bytes) -> str:
    """Of an opening in a later format, if it still says so where ours does."""
    try:
        told = msgspec.json.decode(line)
        folder = (told["record"] if told["type"] == "everturn" else told)["folder"]
    except (msgspec.DecodeError, RecursionError, KeyError, TypeError):
        return ""
    return folder if isinstance(folder, str) else ""


def _stamp(at: float) -> str:
    """The first format says it in seconds."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))
    except (OverflowError, ValueError, OSError):
        return ""
