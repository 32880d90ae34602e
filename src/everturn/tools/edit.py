"""Edit: one exact replacement in a file that the model has seen."""

import asyncio
import re
from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.files import FileState, FileStates
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.define import FunctionTool, tool
from everturn.tools.patch import plan_patch
from everturn.tools.shown import EditShown
from everturn.workspace.files import read_file, replace_file
from everturn.workspace.paths import locate
from everturn.workspace.text import FileText, Newline

_LIKENESS = 0.6
_COMPARED = 20_000
"""Lines looked at for the nearest candidate."""
_COMPARED_LENGTH = 500
_NAMED = 5


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
        description="""Replaces text in a file: `old_string` must occur exactly once, unless `replace_all` is set.

Read the file first. Copy `old_string` without the line numbers, with its indentation, and with enough lines around it
to be unique.""",
    )
    async def edit(call: EditInput, context: ToolContext) -> ToolResult:
        return await asyncio.to_thread(run_edit, call, context.folder, context.files)

    return edit


def run_edit(call: EditInput, folder: str, files: FileStates) -> ToolResult:
    if call.old_string == call.new_string:
        raise InputFault("`new_string`: expected a text that differs from `old_string`, got the same.")
    path = locate(folder, call.file_path)
    before = read_file(path)
    known = files.get(path)
    if known is None:
        raise ToolFault(f"{path} has not been read. Read it before you change it.")
    if known.stamp.digest != before.stamp.digest:
        files.forget(path)
        raise ToolFault(f"{path} has changed on disk since it was read. Read it again before you change it.")
    after, places = plan_edit(before, call)
    stamp = replace_file(path, after, like=before)
    files.remember(path, FileState(stamp=stamp, partial=known.partial))
    shown = EditShown(
        file_path=path,
        old_string=call.old_string,
        new_string=call.new_string,
        original_file=before.text,
        structured_patch=plan_patch(before.text, after),
        user_modified=False,
        replace_all=call.replace_all,
    )
    return ToolResult(content=f"Edited {path}: {_where(places)}.", shown=shown)


def plan_edit(file: FileText, call: EditInput) -> tuple[str, list[int]]:
    """The new text, and the lines where it was replaced. Raises `ToolFault`."""
    old, new = call.old_string, call.new_string
    if file.newline is Newline.MIXED:
        sought, new = _for_mixed_ends(old, new, file.text)
    else:
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
        sought = re.escape(old)
    places = [found.start() for found in re.finditer(sought, file.text)]
    lines = [file.text.count("\n", 0, place) + 1 for place in places[: _NAMED + 1]]
    if not places:
        raise ToolFault(f"`old_string` does not occur in the file.{_nearest(old, file.text)}")
    if len(places) > 1 and not call.replace_all:
        raise ToolFault(
            f"`old_string` occurs {len(places)} times ({_where(lines, len(places))}). "
            "Give more of the text around the one you mean, or set replace_all."
        )
    return re.sub(sought, lambda _: new, file.text), [*lines, *[0] * (len(places) - len(lines))]


def _for_mixed_ends(old: str, new: str, text: str) -> tuple[str, str]:
    """Any line end matches a line end; the new text takes the kind that the file uses most."""
    ends = re.findall(r"\r\n|\r|\n", text)
    usual = max(("\n", "\r\n", "\r"), key=ends.count)
    parts = [re.escape(part) for part in re.split(r"\r\n|\r|\n", old)]
    return r"(?:\r\n|\r|\n)".join(parts), re.sub(r"\r\n|\r|\n", usual, new)


def _nearest(old: str, text: str) -> str:
    """The line most like the first telling line of what was sought."""
    from difflib import SequenceMatcher

    wanted = next((line.strip()[:_COMPARED_LENGTH] for line in old.splitlines() if line.strip()), "")
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best, best_line = _LIKENESS, ""
    for number, line in enumerate(text.splitlines()[:_COMPARED], 1):
        matcher.set_seq1(line.strip()[:_COMPARED_LENGTH])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        if (ratio := matcher.ratio()) > best:
            best, best_line = ratio, f"{number}: {line[:_COMPARED_LENGTH]}"
    if not best_line:
        return " Read it again and copy the text exactly."
    return f" The nearest line is {best_line!r}. Whitespace counts; copy the text exactly."


def _where(lines: list[int], count: int | None = None) -> str:
    total = len(lines) if count is None else count
    if total == 1:
        return f"line {lines[0]}"
    named = ", ".join(str(line) for line in lines[:_NAMED])
    return f"{total} places, lines {named}{' and more' if total > _NAMED else ''}"
