"""A conversation as one page for the browser: no script, nothing loaded from anywhere, readable in light, dark and print."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from everturn.core.messages import Kind
from everturn.sessions.export.markdown import SPEAKERS, render_input, render_time
from everturn.sessions.export.markup import render_markup
from everturn.sessions.export.sheet import SHEET
from everturn.sessions.export.telling import Facts, Spoken, count_bytes, find_media, find_result_text, render_call

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
LARGEST_PICTURE = 10_000_000
"""Characters of base64; a larger one is only mentioned."""
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="Everturn">
<title>{title}</title>
<style>
{sheet}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<dl>
{rows}</dl>
</header>
<main>
"""


def render_page(facts: Facts, spoken: Iterable[Spoken]) -> Iterator[str]:
    rows = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>\n" for name, value in facts.rows.items()
    )
    yield _HEAD.format(title=escape(facts.title), sheet=SHEET, rows=rows)
    calls: dict[str, str] = {}
    for message in spoken:
        yield from _render_message(message, calls)
    yield "</main>\n</body>\n</html>\n"


def _render_message(message: Spoken, calls: dict[str, str]) -> Iterator[str]:
    yield f'<article class="{escape(message.kind)}" id="{escape(message.id)}">\n'
    if message.kind is not Kind.RESULTS:
        about = " · ".join(filter(None, (message.model, render_time(message.at))))
        speaker = SPEAKERS.get(message.kind, str(message.kind))
        yield f'<p class="by"><b>{escape(speaker)}</b> <span>{escape(about)}</span></p>\n'
    for block in message.blocks:
        yield from _render_block(block, message.kind, calls)
    yield "</article>\n"


def _render_block(block: dict[str, Any], kind: Kind, calls: dict[str, str]) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)}:
            # A prompt stands as it was typed; an answer is Markdown.
            is_markup = kind in {Kind.ANSWER, Kind.SUMMARY}
            yield f'<div class="text">{render_markup(text) if is_markup else escape(text)}</div>\n'
        case {"type": "thinking", "thinking": str(text)} if text.strip():
            yield _folded("thinking", "Thinking", text)
        case {"type": "tool_use" | "server_tool_use", "id": str(use)}:
            calls[use] = render_call(block)
            yield _folded("call", calls[use], render_input(block.get("input")))
        case {"type": "tool_result", "tool_use_id": str(use)}:
            called = calls.pop(use, "a call")
            name = "result failed" if block.get("is_error") else "result"
            yield _folded(name, f"Result of {called}", find_result_text(block))
    for media, data in find_media(block):
        yield _render_media(media, data)


def _render_media(media: str, data: str) -> str:
    size = f"{count_bytes(data):,} bytes"
    if media in PICTURES and len(data) <= LARGEST_PICTURE and _BASE64.issuperset(data):
        return f'<figure><img src="data:{media};base64,{data}" alt="{media}, {size}"></figure>\n'
    return f'<p class="media">{escape(media or "media")}, {size}</p>\n'


def _folded(name: str, title: str, content: str) -> str:
    return (
        f'<details class="{name}"><summary>{escape(title)}</summary>'
        f"<pre>{escape(content.rstrip()) or '(nothing)'}</pre></details>\n"
    )
