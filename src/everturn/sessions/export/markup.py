"""The Markdown that models write as HTML: everything foreign is escaped, and only what is known becomes markup. Pure."""

import re
from collections.abc import Callable, Iterator
from html import escape
from itertools import groupby

MAX_DEPTH = 8
"""Levels of lists and quotations; what is nested deeper is shown as it was written."""
MAX_LINE_LENGTH = 10_000
"""Longer ones hold no prose."""
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)[\s#]*$")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(?=\S)")
_RULE = re.compile(r"^\s{0,3}([-*_])(?:\s*\1){2,}\s*$")
_DIVIDER = re.compile(r"^[\s:|-]*-[\s:|-]*$")
_BEGINNINGS = frozenset("`~#>-*+_0123456789")
"""Of a line that is anything but prose."""
_CODE = re.compile(r"(`{1,2})([^`]+)\1")
_LINK = re.compile(r"\[([^\]\[]+)\]\((https?://[^\s()<>&\"]+)\)")
_STRONG = re.compile(r"\*\*(?=\S)([^*]+?)(?<=\S)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])")


def render_markup(text: str) -> str:
    return "".join(_blocks(text.expandtabs(4).split("\n"), 0))


def _blocks(lines: list[str], depth: int) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line, end = lines[at], at + 1
        if not line.strip():
            pass
        elif depth > MAX_DEPTH:
            end = len(lines)
            yield f"<pre>{escape(chr(10).join(lines[at:]))}</pre>"
        elif fence := _FENCE.match(line):
            mark = fence[1]
            end = _find(lines, at + 1, lambda each: each.strip() == mark)  # noqa: B023 (used at once)
            yield f"<pre><code>{escape(chr(10).join(lines[at + 1 : end]))}</code></pre>"
            end += 1
        elif heading := _HEADING.match(line):
            level = min(len(heading[1]) + 2, 6)
            yield f"<h{level}>{_inline(heading[2])}</h{level}>"
        elif _RULE.match(line):
            yield "<hr>"
        elif _is_quoted(line):
            end = _find(lines, at, lambda each: not _is_quoted(each))
            inner = [each.lstrip().removeprefix(">").removeprefix(" ") for each in lines[at:end]]
            yield f"<blockquote>{''.join(_blocks(inner, depth + 1))}</blockquote>"
        elif "|" in line and end < len(lines) and "|" in lines[end] and _DIVIDER.match(lines[end]):
            end = _find(lines, at, lambda each: "|" not in each)
            yield _table(lines[at], lines[at + 2 : end])
        elif _ITEM.match(line):
            end = _find(lines, end, lambda each: not _ITEM.match(each) and not each.startswith("  "))
            yield from _list(lines[at:end], depth)
        else:
            end = _find(lines, end, _interrupts)
            yield f"<p>{'<br>'.join(_inline(each.strip()) for each in lines[at:end])}</p>"
        at = end


def _find(lines: list[str], start: int, ends: Callable[[str], object]) -> int:
    return next((at for at in range(start, len(lines)) if ends(lines[at])), len(lines))


def _interrupts(line: str) -> bool:
    """It ends the paragraph before it."""
    begin = line.lstrip()[:1]
    if begin not in _BEGINNINGS:
        return not begin
    return begin == ">" or any(each.match(line) for each in (_FENCE, _HEADING, _ITEM, _RULE))


def _is_quoted(line: str) -> bool:
    return line.lstrip().startswith(">")


def _list(lines: list[str], depth: int) -> Iterator[str]:
    """Lines that stand further in belong to the item above them."""
    items: list[tuple[bool, list[str]]] = []
    edge = len(lines[0]) - len(lines[0].lstrip())
    for line in lines:
        found = _ITEM.match(line)
        if found and (len(found[1]) <= edge or not items):
            items.append((found[2] is not None, [line[found.end() :]]))
        else:
            items[-1][1].append(line)
    for is_numbered, group in groupby(items, key=lambda item: item[0]):
        entries = "".join(f"<li>{_entry(content, depth)}</li>" for _, content in group)
        yield f"<ol>{entries}</ol>" if is_numbered else f"<ul>{entries}</ul>"


def _entry(content: list[str], depth: int) -> str:
    first, *rest = content
    room = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return _inline(first) + "".join(_blocks([line[room:] for line in rest], depth + 1))


def _table(head: str, rows: list[str]) -> str:
    def cells(line: str, tag: str) -> str:
        return "".join(f"<{tag}>{_inline(cell.strip())}</{tag}>" for cell in line.strip().strip("|").split("|"))

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def _inline(text: str) -> str:
    """Code first: nothing inside it is markup."""
    if len(text) > MAX_LINE_LENGTH or not ("`" in text or "*" in text or "[" in text):
        return escape(text)
    parts, at = [], 0
    for code in _CODE.finditer(text):
        parts += [_styled(text[at : code.start()]), f"<code>{escape(code[2].strip())}</code>"]
        at = code.end()
    return "".join((*parts, _styled(text[at:])))


def _styled(text: str) -> str:
    text = escape(text)
    text = _LINK.sub(r'<a href="\2" rel="noopener noreferrer">\1</a>', text)
    text = _STRONG.sub(r"<strong>\1</strong>", text)
    return _EMPHASIS.sub(r"<em>\1</em>", text)
