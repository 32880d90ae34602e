"""Write: a new file, or a whole new content for one that the model has read."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import ToolFault
from everturn.ports.files import FileState, FileStates
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.define import FunctionTool, tool
from everturn.tools.patch import plan_patch
from everturn.tools.shown import WriteShown
from everturn.workspace.files import exists, read_file, replace_file
from everturn.workspace.paths import locate


class WriteInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(min_length=1, description="Path of the file, absolute or in the working folder")]
    content: Annotated[str, Meta(description="The whole new content")]


def write_tool() -> FunctionTool:
    @tool(
        name="Write",
        access=Access.EDIT,
        line=lambda call: f"Write {call.file_path}",
        description="""Writes a whole file; missing folders are made.

A file that exists must have been read whole with Read and be unchanged since. To change a part of a file, use Edit.""",
    )
    async def write(call: WriteInput, context: ToolContext) -> ToolResult:
        return await asyncio.to_thread(run_write, call, context.folder, context.files)

    return write


def run_write(call: WriteInput, folder: str, files: FileStates) -> ToolResult:
    path = locate(folder, call.file_path)
    before = read_file(path) if exists(path) else None
    if before is not None:
        known = files.get(path)
        if known is None:
            raise ToolFault(f"{path} exists and has not been read. Read it before you overwrite it.")
        if known.stamp.digest != before.stamp.digest:
            raise ToolFault(f"{path} has changed on disk since it was read. Read it again before you overwrite it.")
        if known.partial:
            raise ToolFault(f"Only a part of {path} has been read. Read the whole file first, or change it with Edit.")
    stamp = replace_file(path, call.content, like=before)
    files.remember(path, FileState(stamp=stamp))
    original = before.text if before else None
    shown = WriteShown(
        type="update" if before else "create",
        file_path=path,
        content=call.content,
        structured_patch=plan_patch(original, call.content) if original is not None else (),
        original_file=original,
    )
    return ToolResult(content=f"{'Updated' if before else 'Created'} {path}.", shown=shown)
