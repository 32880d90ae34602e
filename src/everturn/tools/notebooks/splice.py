"""Changing one cell in a notebook's text: every byte outside of the cell stays as it is."""

import re
from typing import Any

import msgspec

_BLANKS = " \t\r\n"


class CellSpan(msgspec.Struct, frozen=True):
    start: int
    end: int


class CellList(msgspec.Struct, frozen=True, kw_only=True):
    """Where the list of cells and each of them stand in the text."""

    start: int
    end: int
    spans: tuple[CellSpan, ...]


def find_cells(text: str) -> CellList:
    """The text is a notebook that has been parsed."""
    import json

    decode = json.JSONDecoder().raw_decode
    at = _skip(text, text.index("{") + 1)
    found: CellList | None = None
    # As with any reader of JSON, the last of two equal names counts.
    while text[at] == '"':
        name, at = decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if name == "cells" and text[at] == "[":
            found = _elements(text, at, decode)
        _, at = decode(text, at)
        at = _skip(text, at)
        at = _skip(text, at + 1) if text[at] == "," else at
    if found is None:
        raise ValueError("no list of cells")
    return found


def replace_cell(text: str, cells: CellList, at: int, cell: dict[str, Any]) -> str:
    span = cells.spans[at]
    return text[: span.start] + _encode(text, cells, cell) + text[span.end :]


def insert_cell(text: str, cells: CellList, at: int, cell: dict[str, Any]) -> str:
    """Before the cell at that place, or behind the last one."""
    if not cells.spans:
        ahead = _lead(text, cells)
        close = "\n" + _margin(text, cells.start) if "\n" in ahead else ""
        return text[: cells.start + 1] + ahead + _encode(text, cells, cell) + close + text[cells.end - 1 :]
    encoded, between = _encode(text, cells, cell), "," + _gap(text, cells)
    if at < len(cells.spans):
        start = cells.spans[at].start
        return text[:start] + encoded + between + text[start:]
    end = cells.spans[-1].end
    return text[:end] + between + encoded + text[end:]


def delete_cell(text: str, cells: CellList, at: int) -> str:
    spans = cells.spans
    if len(spans) == 1:
        return text[: cells.start + 1] + text[cells.end - 1 :]
    if at + 1 < len(spans):
        return text[: spans[at].start] + text[spans[at + 1].start :]
    return text[: spans[at - 1].end] + text[spans[at].end :]


def load_cell(text: str, span: CellSpan) -> dict[str, Any]:
    import json

    cell: dict[str, Any] = json.loads(text[span.start : span.end])
    return cell


def _elements(text: str, start: int, decode: Any) -> CellList:
    spans = []
    at = _skip(text, start + 1)
    while text[at] != "]":
        _, end = decode(text, at)
        spans.append(CellSpan(at, end))
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return CellList(start=start, end=at + 1, spans=tuple(spans))


def _encode(text: str, cells: CellList, cell: dict[str, Any]) -> str:
    """In the notebook's own manner: its indentation, and its way with letters beyond ASCII."""
    import json

    ascii_only = text.isascii() and "\\u" in text
    lead = _lead(text, cells)
    if "\n" not in lead:
        return json.dumps(cell, ensure_ascii=ascii_only, separators=(",", ":") if _is_tight(text) else None)
    step = _step(text)
    lines = json.dumps(cell, ensure_ascii=ascii_only, indent=step).split("\n")
    return ("\n" + lead.rpartition("\n")[2]).join(lines)


def _lead(text: str, cells: CellList) -> str:
    """The blanks before a cell."""
    if cells.spans:
        return text[cells.start + 1 : cells.spans[0].start]
    return "\n" + _margin(text, cells.start) + _step(text) if "\n" in text.strip() else ""


def _gap(text: str, cells: CellList) -> str:
    """The blanks behind the comma between two cells."""
    if len(cells.spans) > 1:
        return text[cells.spans[0].end : cells.spans[1].start].partition(",")[2]
    lead = _lead(text, cells)
    return lead if "\n" in lead else "" if _is_tight(text) else " "


def _is_tight(text: str) -> bool:
    """No blank follows the first colon."""
    return re.match(r'\s*\{\s*"[^"]*":\S', text) is not None


def _step(text: str) -> str:
    found = re.match(r"\s*\{\r?\n([ \t]+)", text)
    return found[1] if found else " "


def _margin(text: str, at: int) -> str:
    """The indentation of the line in which a place is."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _BLANKS:
        at += 1
    return at
