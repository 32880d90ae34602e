"""A conversation as Markdown, piece by piece. Calls and results are folded where the reader's program can fold."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from everturn.core.messages import Kind
from everturn.sessions.export.spoken import SessionFacts, Spoken, count_bytes, find_media, find_result_text, render_call

SPEAKERS = {
    Kind.PROMPT: "You",
    Kind.ANSWER: "Assistant",
    Kind.SUMMARY: "Summary",
    Kind.LOCAL: "Command",
    Kind.INTERRUPTION: "Interrupted",
    Kind.NOTICE: "Notice",
    Kind.BOUNDARY: "Compaction",
}
_RUN = re.compile(r"`+")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")


def render_markdown(facts: SessionFacts, spoken: Iterable[Spoken]) -> Iterator[str]:
    yield f"# {_escape(facts.title)}\n\n"
    yield "| | |\n|---|---|\n"
    for name, value in facts.rows.items():
        yield f"| {name} | {_escape(value)} |\n"
    yield "\n"
    calls: dict[str, str] = {}
    for message in spoken:
        yield from _render_message(message, calls)


def _render_message(message: Spoken, calls: dict[str, str]) -> Iterator[str]:
    if message.kind is not Kind.RESULTS:
        about = [SPEAKERS.get(message.kind, str(message.kind)), message.model, render_time(message.at)]
        yield f"## {' · '.join(filter(None, about))}\n\n"
    for block in message.blocks:
        yield from _render_block(block, calls)


def _render_block(block: dict[str, Any], calls: dict[str, str]) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)}:
            yield f"{text.strip()}\n\n"
        case {"type": "thinking", "thinking": str(text)} if text.strip():
            yield _folded("Thinking", text, "")
        case {"type": "tool_use" | "server_tool_use", "id": str(use)}:
            calls[use] = render_call(block)
            yield _folded(calls[use], render_input(block.get("input")), "json")
        case {"type": "tool_result", "tool_use_id": str(use)}:
            failed = " (failed)" if block.get("is_error") else ""
            yield _folded(f"Result of {calls.pop(use, 'a call')}{failed}", find_result_text(block), "")
    for kind, data in find_media(block):
        yield f"*{kind or 'media'}, {count_bytes(data):,} bytes*\n\n"


def render_input(given: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(given), indent=2).decode()


def render_time(at: str) -> str:
    """`2026-11-15 18:00 UTC`."""
    return f"{at[:10]} {at[11:16]} UTC" if len(at) > len("2026-11-15T18:00") else ""


def _folded(title: str, content: str, language: str) -> str:
    longest = max(map(len, _RUN.findall(content)), default=0)
    fence = "`" * max(longest + 1, 3)
    body = f"{fence}{language}\n{content.rstrip()}\n{fence}\n\n" if content.strip() else ""
    return f"<details><summary>{_html(title)}</summary>\n\n{body}</details>\n\n"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
