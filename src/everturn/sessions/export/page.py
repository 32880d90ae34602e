"""A conversation as one page for the browser: no script, nothing loaded from anywhere, readable in light, dark and print."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from everturn.core.messages import Kind
from everturn.sessions.export.markdown import SPEAKERS, render_input, render_time
from everturn.sessions.export.markup import render_markup
from everturn.sessions.export.spoken import SessionFacts, Spoken, count_bytes, find_media, find_result_text, render_call

SHEET = """\
:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --paper: #ffffff; --ink: #22201d; --soft: #6f6a63; --line: #e4e0d9;
  --accent: #b4552d; --tint: #f7efe9; --code: #f3f1ed; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #191817; --paper: #201f1d; --ink: #e8e4de; --soft: #9c968d; --line: #35322e;
    --accent: #e08a5f; --tint: #2a241f; --code: #272522; --bad: #f2857c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 50rem; padding: 2.5rem 1.25rem 5rem; background: var(--ground); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere;
}
header { margin-bottom: 2.5rem; padding-bottom: 1.25rem; border-bottom: 1px solid var(--line); }
h1 { margin: 0 0 1rem; font-size: 1.7rem; line-height: 1.25; letter-spacing: -0.01em; text-wrap: balance; }
h3, h4, h5, h6 { margin: 1.4em 0 0.4em; font-size: 1.05rem; line-height: 1.35; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(21rem, 1fr)); gap: 0.35rem 1.5rem; margin: 0; }
dl div { display: flex; gap: 0.6rem; font-size: 0.85rem; }
dt { flex: 0 0 5.5rem; color: var(--soft); }
dd { margin: 0; min-width: 0; }
article { margin: 0 0 1.4rem; }
article.results { margin-top: -1rem; }
.by { margin: 0 0 0.3rem; font-size: 0.8rem; color: var(--soft); }
.by b { color: var(--ink); }
article.prompt { padding: 0.9rem 1.1rem; background: var(--tint); border-left: 3px solid var(--accent); border-radius: 0 8px 8px 0; }
article.prompt .by b { color: var(--accent); }
article.prompt .text, article.local .text, article.notice .text, article.interruption .text { white-space: pre-wrap; }
article.notice, article.boundary, article.interruption { font-size: 0.85rem; color: var(--soft); }
article.summary { padding: 0.2rem 1.1rem; border: 1px dashed var(--line); border-radius: 8px; }
.text > :first-child { margin-top: 0; }
.text > :last-child { margin-bottom: 0; }
.text p { margin: 0.7em 0; }
ul, ol { margin: 0.6em 0; padding-left: 1.5rem; }
li { margin: 0.2em 0; }
blockquote { margin: 0.8em 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft); }
hr { margin: 1.5em 0; border: 0; border-top: 1px solid var(--line); }
a { color: var(--accent); }
code, pre { font: 0.84em/1.55 ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace; }
code { padding: 0.12em 0.35em; background: var(--code); border-radius: 4px; }
pre { margin: 0.7em 0; padding: 0.8rem 1rem; background: var(--code); border-radius: 8px; overflow-x: auto; white-space: pre-wrap; }
pre code { padding: 0; background: none; font-size: 1em; }
table { margin: 0.8em 0; border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.7rem; border: 1px solid var(--line); text-align: left; }
th { background: var(--code); }
details { margin: 0.45rem 0; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; }
summary { padding: 0.4rem 0.8rem; cursor: pointer; font: 0.8rem/1.5 ui-monospace, Menlo, Consolas, monospace; color: var(--soft); }
summary:hover { color: var(--ink); }
details[open] summary { border-bottom: 1px solid var(--line); }
details pre { margin: 0; border-radius: 0 0 8px 8px; font-size: 0.78rem; max-height: 32rem; overflow: auto; }
details.call summary { color: var(--ink); }
details.failed { border-color: var(--bad); }
details.failed summary { color: var(--bad); }
details.thinking summary { font-style: italic; }
figure { margin: 0.6rem 0; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 8px; }
.media { font-size: 0.85rem; color: var(--soft); }
@media print { body { max-width: none; padding: 0; background: none; } details pre { max-height: none; } article { break-inside: avoid-page; } }
"""


PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_PICTURE = 10_000_000
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


def render_page(facts: SessionFacts, spoken: Iterable[Spoken]) -> Iterator[str]:
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
    if media in PICTURES and len(data) <= MAX_PICTURE and _BASE64.issuperset(data):
        return f'<figure><img src="data:{media};base64,{data}" alt="{media}, {size}"></figure>\n'
    return f'<p class="media">{escape(media or "media")}, {size}</p>\n'


def _folded(name: str, title: str, content: str) -> str:
    return (
        f'<details class="{name}"><summary>{escape(title)}</summary>'
        f"<pre>{escape(content.rstrip()) or '(nothing)'}</pre></details>\n"
    )
