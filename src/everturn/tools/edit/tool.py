"""Edit: one exact replacement in a file that the model has seen."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import InputFault, ToolFault
from everturn.core.hiding import MARK
from everturn.ports.files import FileState
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.change_rules import ABSENT, refuse_mark, refuse_unread
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.input_corrections import settle_edit
from everturn.tools.patch import plan_patch
from everturn.tools.result_types import EditShown
from everturn.workspace.files import load_text, replace_text
from everturn.workspace.opening import OpenFile, open_for_reading
from everturn.workspace.paths import absolute
from everturn.workspace.text import FileText, Newline

_NAMED = 5
"""Places that an answer names."""
_UNNUMBERED = "(The line numbers in what was sent are not part of the file and were left out.)"


class EditInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(min_length=1, description="Path of the file, absolute or in the working folder")]
    old_string: Annotated[str, Meta(min_length=1, description="The text to replace, exactly as it stands in the file")]
    new_string: Annotated[str, Meta(description="The text to put in its place")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence")] = False


def edit_tool() -> FunctionTool:
    @tool(
        name="Edit",
        access=Access.EDIT,
        line=lambda call: f"Edit {call.file_path}",
        check=check_edit,
        settle=settle_edit,
        description="""Replaces text in a file: `old_string` must occur exactly once, unless `replace_all` is set.

Read the file first. Copy `old_string` without the line numbers, with its indentation, and with enough lines around it
to be unique.""",
    )
    async def edit(call: EditInput, context: ToolContext) -> ToolResult:
        return await asyncio.to_thread(run_edit, call, context)

    return edit


def run_edit(call: EditInput, context: ToolContext) -> ToolResult:
    """Between looking and writing one folder is held open: nobody can lead the write to another file."""
    refuse_same(call)
    folder, files = context.folder, context.files
    with open_for_reading(absolute(folder, call.file_path), folder=folder, judged=context.judged) as file:
        path = file.path
        before, partial, after = prepare_edit(call, file, context)
        stamp = replace_text(file.place, after.text, like=before)
    files.remember(path, FileState(stamp=stamp, partial=partial))
    shown = EditShown(
        file_path=path,
        old_string=call.old_string,
        new_string=call.new_string,
        original_file=before.text,
        structured_patch=plan_patch(before.text, after.text),
        user_modified=False,
        replace_all=call.replace_all,
    )
    told = f"Edited {path}: {_say_place(call.new_string, after)}."
    return ToolResult(content=" ".join(filter(None, (told, after.note))), shown=shown)


def check_edit(call: EditInput, context: ToolContext) -> None:
    """Raises what `run_edit` would raise; changes nothing."""
    refuse_same(call)
    path = absolute(context.folder, call.file_path)
    with open_for_reading(path, folder=context.folder, judged=context.judged) as file:
        prepare_edit(call, file, context)


def refuse_same(call: EditInput) -> None:
    if call.old_string == call.new_string:
        raise InputFault("`new_string`: expected a text that differs from `old_string`, got the same.")


def prepare_edit(call: EditInput, file: OpenFile, context: ToolContext) -> "tuple[FileText, bool, Replacement]":
    """The text as it is, whether the model has seen only a part of it, and what takes its place. Raises `ToolFault`."""
    if file.path.endswith(".ipynb"):
        raise ToolFault(f"{file.path} is a notebook. Change its cells with NotebookEdit.")
    before = load_text(file)
    partial = refuse_unread(context.files, file.path, before.stamp, "change").partial
    after = plan_edit(before, call)
    refuse_mark(before.text, after.text, file.path, context.hiding)
    return before, partial, after


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    """The whole new text."""
    count: int
    lines: tuple[int, ...]
    """Where it was, as many as are named."""
    note: str = ""


def plan_edit(file: FileText, call: EditInput) -> Replacement:
    """Raises `ToolFault`."""
    text, old, new = file.text, call.old_string, call.new_string
    if file.newline is Newline.MIXED:
        sought, new = _for_mixed_ends(old, new, text)
        places = [found.start() for found in re.finditer(sought, text)]
    else:
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
        sought = None
        places = list(_find_all(text, old))
        if not places and not call.replace_all and (plain := _without_numbers(old, new, text)) is not None:
            return plain
    if not places:
        from everturn.tools.edit.nearest import explain_absence

        why = ABSENT if MARK in old else explain_absence(old, text)
        raise ToolFault(f"`old_string` does not occur in the file.{why}")
    lines = tuple(_lines_of(text, places[:_NAMED]))
    if len(places) > 1 and not call.replace_all:
        raise ToolFault(
            f"`old_string` occurs {len(places)} times ({_where(lines, len(places))}). "
            "Give more of the text around the one you mean, or set replace_all."
        )
    # For long texts, replacing by the plain method is much cheaper than joining what is around.
    after = text.replace(old, new) if sought is None else re.sub(sought, lambda _: new, text)
    return Replacement(text=after, count=len(places), lines=lines)


def _without_numbers(old: str, new: str, text: str) -> Replacement | None:
    from everturn.tools.edit.line_numbers import strip_numbers

    meant = strip_numbers(old, new, text)
    if meant is None:
        return None
    after = text[: meant.place] + meant.new + text[meant.place + len(meant.old) :]
    return Replacement(text=after, count=1, lines=tuple(_lines_of(text, [meant.place])), note=_UNNUMBERED)


def _find_all(text: str, old: str) -> Iterator[int]:
    at = text.find(old)
    while at >= 0:
        yield at
        at = text.find(old, at + len(old))


def _lines_of(text: str, places: list[int]) -> Iterator[int]:
    line, seen = 1, 0
    for place in places:
        line += text.count("\n", seen, place)
        seen = place
        yield line


def _for_mixed_ends(old: str, new: str, text: str) -> tuple[str, str]:
    """Any line end matches a line end; the new text takes the kind that the file uses most."""
    ends = re.findall(r"\r\n|\r|\n", text)
    usual = max(("\n", "\r\n", "\r"), key=ends.count)
    parts = [re.escape(part) for part in re.split(r"\r\n|\r|\n", old)]
    return r"(?:\r\n|\r|\n)".join(parts), re.sub(r"\r\n|\r|\n", usual, new)


def _say_place(new: str, after: Replacement) -> str:
    """With the last line of the new text, so that nobody has to read it again to see where it ends."""
    more = len(new.splitlines()) - 1
    if after.count > 1 or more < 1:
        return _where(after.lines, after.count)
    return f"lines {after.lines[0]} to {after.lines[0] + more}"


def _where(lines: Sequence[int], count: int) -> str:
    if count == 1:
        return f"line {lines[0]}"
    named = tuple(dict.fromkeys(lines))
    more = " and more" if count > len(lines) else ""
    return f"{count} places, {'line' if len(named) == 1 else 'lines'} {', '.join(map(str, named))}{more}"
