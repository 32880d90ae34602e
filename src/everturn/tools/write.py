"""Write: a new file, or a whole new content for one that the model has read."""

import asyncio
import os
from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import ToolFault
from everturn.ports.files import FileState
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.change_rules import refuse_mark, refuse_unread
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.input_corrections import settle_file
from everturn.tools.patch import foresee_patch, plan_patch
from everturn.tools.result_types import Hunk, WriteShown
from everturn.workspace.files import exists, load_text, replace_text
from everturn.workspace.opening import Place, is_taken, open_in, open_place
from everturn.workspace.paths import absolute
from everturn.workspace.text import FileText


class WriteInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(min_length=1, description="Path of the file, absolute or in the working folder")]
    content: Annotated[str, Meta(description="The whole new content")]


def write_tool() -> FunctionTool:
    @tool(
        name="Write",
        access=Access.EDIT,
        line=lambda call: f"Write {call.file_path}",
        check=check_write,
        settle=settle_file("file_path"),
        description="""Writes a whole file; missing folders are made.

A file that exists must have been read whole with Read and be unchanged since. To change a part of a file, use Edit.""",
    )
    async def write(call: WriteInput, context: ToolContext) -> ToolResult:
        return await asyncio.to_thread(run_write, call, context)

    return write


def run_write(call: WriteInput, context: ToolContext) -> ToolResult:
    """Between looking and writing one folder is held open: nobody can lead the write to another file."""
    path = absolute(context.folder, call.file_path)
    if not exists(path):
        # Before a folder is made for it.
        refuse_mark(None, call.content, path, context.hiding)
    with open_place(path, make_folders=True, judged=context.judged) as place:
        before = _load_before(place, call, context)
        stamp = replace_text(place, call.content, like=before)
    context.files.remember(place.path, FileState(stamp=stamp))
    original = before.text if before else None
    shown = WriteShown(
        type="update" if before else "create",
        file_path=place.path,
        content=call.content,
        structured_patch=plan_patch(original, call.content) if original is not None else (),
        original_file=original,
    )
    return ToolResult(content=f"{'Updated' if before else 'Created'} {place.path}.", shown=shown)


def check_write(call: WriteInput, context: ToolContext) -> tuple[Hunk, ...]:
    """What `run_write` would change in a file that is there. Raises what it would raise about it and about the text; changes nothing."""
    path = absolute(context.folder, call.file_path)
    if not os.path.lexists(path):
        refuse_mark(None, call.content, path, context.hiding)
        return ()
    with open_place(path, judged=context.judged) as place:
        before = _load_before(place, call, context)
    return foresee_patch(before.text, call.content) if before is not None else ()


def _load_before(place: Place, call: WriteInput, context: ToolContext) -> FileText | None:
    """None where nothing is yet. Raises `ToolFault`, also where the model has not seen all of it."""
    if not is_taken(place):
        refuse_mark(None, call.content, place.path, context.hiding)
        return None
    with open_in(place) as file:
        before = load_text(file)
    refuse_mark(before.text, call.content, place.path, context.hiding)
    if refuse_unread(context.files, place.path, before.stamp, "overwrite").partial:
        raise ToolFault(
            f"Only a part of {place.path} has been read. Read the whole file first, or change it with Edit."
        )
    return before
