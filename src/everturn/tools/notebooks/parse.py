"""A Jupyter notebook as its cells: what Read shows and NotebookEdit changes."""

import re
from typing import Any

import msgspec

from everturn.core.errors import ToolFault

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_OWN_ID = re.compile(r"[\w.:-]{1,64}")
"""Of a cell. What the format does not allow could be read as more than a name."""
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class CellOutput(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    text: str = ""
    picture: str = ""
    """Base64, when the output is one."""


class ParsedCell(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    """Its own, or `cell-N` with its place from 0."""
    type: str
    source: str
    outputs: tuple[CellOutput, ...] = ()


class Notebook(msgspec.Struct, frozen=True, kw_only=True):
    language: str
    has_ids: bool
    """From format 4.5 on each cell has one."""
    cells: tuple[ParsedCell, ...]


CELL_TYPES = ("code", "markdown", "raw")
"""All that the format knows. Anything else is a word of somebody who would like to stand in our tags."""


def parse_notebook(text: str) -> Notebook:
    """Raises `ToolFault` that says what is missing."""
    import json

    try:
        whole: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolFault(f"It is not a notebook: {error}.") from None
    cells = whole.get("cells") if isinstance(whole, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ToolFault("It is not a notebook of format 4: it has no list of cells.")
    return Notebook(
        language=_language(whole),
        has_ids=_format(whole) >= (4, 5),
        cells=tuple(_cell(cell, at) for at, cell in enumerate(cells)),
    )


def find_cell(notebook: Notebook, wanted: str) -> int:
    """By its own id, else by `cell-N`. Raises `ToolFault` that names the ids there are."""
    ids = [cell.id for cell in notebook.cells]
    if wanted in ids:
        return ids.index(wanted)
    if (found := re.fullmatch(r"cell-(\d{1,9})", wanted)) and int(found[1]) < len(ids):
        return int(found[1])
    named = ", ".join(ids[:20]) + (" and more" if len(ids) > 20 else "")  # noqa: PLR2004 - as many as one reads
    raise ToolFault(f"There is no cell {wanted!r}. The cells are: {named or 'none'}.")


def join_lines(value: Any) -> str:
    """Notebooks keep text as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _cell(cell: dict[str, Any], at: int) -> ParsedCell:
    own = cell.get("id")
    outputs = cell.get("outputs")
    return ParsedCell(
        id=own if isinstance(own, str) and _OWN_ID.fullmatch(own) else f"cell-{at}",
        type=kind if isinstance(kind := cell.get("cell_type", "raw"), str) and kind in CELL_TYPES else "unknown",
        source=join_lines(cell.get("source")),
        outputs=tuple(_output(one) for one in outputs if isinstance(one, dict)) if isinstance(outputs, list) else (),
    )


def _output(output: dict[str, Any]) -> CellOutput:
    kind = str(output.get("output_type", ""))
    if kind == "stream":
        return CellOutput(kind=kind, text=_plain(join_lines(output.get("text"))))
    if kind == "error":
        traceback = output.get("traceback")
        lines = [line for line in traceback if isinstance(line, str)] if isinstance(traceback, list) else []
        text = "\n".join(lines) or f"{output.get('ename')}: {output.get('evalue')}"
        return CellOutput(kind=kind, text=_plain(text))
    data = output.get("data")
    if not isinstance(data, dict):
        return CellOutput(kind=kind)
    picture = next((join_lines(data[name]) for name in _PICTURES if name in data), "")
    text = next((join_lines(data[name]) for name in ("text/plain", "text/markdown", "text/html") if name in data), "")
    return CellOutput(kind=kind, text=_plain(text), picture="".join(picture.split()))


def _plain(text: str) -> str:
    return _ESCAPES.sub("", text)


def _language(whole: dict[str, Any]) -> str:
    metadata = whole.get("metadata")
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(section) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(key), str):
            return str(part[key])
    return "python"


def _format(whole: dict[str, Any]) -> tuple[int, int]:
    major, minor = whole.get("nbformat"), whole.get("nbformat_minor")
    return (major, minor) if isinstance(major, int) and isinstance(minor, int) else (4, 0)
