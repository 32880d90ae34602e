"""The page of all built-in tools, and what the model is told of them, made from the code."""

import re
from collections.abc import Iterable
from typing import Any, get_args

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.tool import Access, Tool
from everturn.ports.web import Hit, SearchQuestion
from everturn.tools import result_types
from everturn.tools.builtin import NAMES, make_tool
from everturn.tools.definition.decorator import tool

INTRODUCTION = """\
# All built-in tools

This page is made from the code: `make pages`. What they do in depth is in [file-tools.md](file-tools.md),
[bash.md](bash.md), [search-and-web.md](search-and-web.md) and [own-tools.md](../how-to/own-tools.md).

Permission is what holds in the mode `default`, without rules. A tool marked ∥ may run beside others. What a result holds beyond its limit goes into a file, and both its ends are shown;
most tools stay below by themselves and say how to go on.
"""
CALLS = """\
## Calls

`?` = may be left out.
"""
RESULTS = """\
## Structured results

What scripts get: `tool_use_result` in stream-json, `CallEnded.shown` in the library. `?` = not always there. Each call also has a line while it runs
(`tool_progress.description`, `CallBegan.line`) and one when it is done (`tool_use_line`, `CallEnded.line`).
"""
SHOWN: dict[str, tuple[type[msgspec.Struct], ...]] = {
    "Bash": (result_types.BashShown,),
    "Edit": (result_types.EditShown,),
    "Glob": (result_types.GlobShown,),
    "Grep": (result_types.GrepShown,),
    "NotebookEdit": (result_types.NotebookEditShown,),
    "Read": (
        result_types.TextShown,
        result_types.UnchangedShown,
        result_types.PictureShown,
        result_types.PdfShown,
        result_types.PdfPartsShown,
        result_types.NotebookShown,
    ),
    "TaskOutput": (result_types.TaskOutputShown,),
    "TaskStop": (result_types.TaskStopShown,),
    "Write": (result_types.WriteShown,),
    "WebFetch": (result_types.WebFetchShown,),
    "WebSearch": (result_types.WebSearchShown,),
    "TodoWrite": (result_types.TodoWriteShown,),
    "AskUserQuestion": (result_types.AskedShown,),
    "EnterPlanMode": (),
    "ExitPlanMode": (result_types.PlanShown,),
    "ToolSearch": (result_types.ToolSearchShown,),
}


class NoSearcher:
    """Never asked: it only brings WebSearch onto the page."""

    async def search(self, question: SearchQuestion) -> tuple[Hit, ...]:
        raise ToolFault(f"Nobody here searches for {question.query!r}.")


@tool(deferred=True)
def example() -> str:
    """Stands for the tools that ToolSearch finds."""
    return ""


def list_tools() -> tuple[Tool, ...]:
    """As their code has them, whatever is written down."""
    given = {"WebSearch": (NoSearcher(),), "ToolSearch": ((example,),)}
    return tuple(make_tool(name, *given.get(name, ())) for name in NAMES)


def render_page() -> str:
    tools = list_tools()
    calls = [(each.name, _what(each), render_permission(each), f"{each.result_limit:,}") for each in tools]
    results = [(each.name, f"`{text}`") for each in tools for struct in SHOWN[each.name] if (text := _fields(struct))]
    return "\n".join(
        [
            INTRODUCTION,
            _rows(("tool", "what it does", "permission", "characters"), calls),
            CALLS,
            _rows(("tool", "input"), [(each.name, f"`{_input(each)}`") for each in tools if each.schema["properties"]]),
            RESULTS,
            _rows(("tool", "fields"), results),
        ]
    )


def render_permission(each: Tool) -> str:
    """As `permissions.modes` judges; a test compares them."""
    traits = each.traits(None)
    if traits.needs_person:
        return "the person answers"
    match traits.access:
        case Access.READ if {"file_path", "path"} & each.schema["properties"].keys():
            return "free in the working folder"
        case Access.READ:
            return "free"
        case Access.EDIT:
            return "asked; `acceptEdits`: free in the working folder"
        case _:
            return "asked"


def _what(each: Tool) -> str:
    first = re.split(r"(?<=[.:])\s|\n\n", each.description, maxsplit=1)[0]
    return " ".join(f"{first.rstrip(':.')}.{' ∥' if each.traits(None).concurrent else ''}".split())


def _input(each: Tool) -> str:
    needed = set(each.schema["required"])
    return ", ".join(name if name in needed else f"{name}?" for name in each.schema["properties"])


def _fields(struct: type[msgspec.Struct]) -> str:
    config = struct.__struct_config__
    parts = [f'{config.tag_field}: "{config.tag}"'] if config.tag else []
    for field in msgspec.structs.fields(struct):
        inner = _struct_in(field.type)
        name = f"{field.encode_name}{'?' if config.omit_defaults and not field.required else ''}"
        parts.append(f"{name} {{{_fields(inner)}}}" if inner else name)
    return ", ".join(parts)


def _struct_in(annotation: Any) -> type[msgspec.Struct] | None:
    """The record that it is, or that it is a list of."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation
    return next((found for part in get_args(annotation) if (found := _struct_in(part))), None)


def _rows(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heading, tuple("---" for _ in heading), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n" for cells in lines)
