"""NotebookEdit: one cell replaced, inserted or deleted in a notebook that the model has seen."""

import asyncio
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.input_corrections import settle_file


class NotebookEditInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    notebook_path: Annotated[str, Meta(min_length=1, description="Path of the .ipynb file")]
    new_source: Annotated[str, Meta(description="The cell's whole new source; empty to delete")]
    cell_id: (
        Annotated[str, Meta(description="The cell, as Read names it. To insert: the cell before; none: the beginning")]
        | UnsetType
    ) = UNSET
    cell_type: (
        Annotated[Literal["code", "markdown"], Meta(description="Of the new cell; needed to insert")] | UnsetType
    ) = UNSET
    edit_mode: Annotated[
        Literal["replace", "insert", "delete"], Meta(description="What to do; replace if left out")
    ] = "replace"


def notebook_edit_tool() -> FunctionTool:
    @tool(
        name="NotebookEdit",
        access=Access.EDIT,
        line=_line,
        check=_check,
        settle=settle_file("notebook_path"),
        description="""Changes a Jupyter notebook: replaces the source of a cell, inserts a cell, or deletes one.

Read the notebook first; it shows each cell's id. The outputs of a code cell that is replaced are cleared.""",
    )
    async def notebook_edit(call: NotebookEditInput, context: ToolContext) -> ToolResult:
        from everturn.tools.notebooks.change import run_notebook_edit

        return await asyncio.to_thread(run_notebook_edit, call, context)

    return notebook_edit


def _check(call: NotebookEditInput, context: ToolContext) -> None:
    from everturn.tools.notebooks.change import check_notebook_edit

    check_notebook_edit(call, context)


def _line(call: NotebookEditInput) -> str:
    cell = "" if call.cell_id is UNSET else f" {call.cell_id}"
    verb = {"replace": "cell", "insert": "insert after" if cell else "insert first", "delete": "delete"}[call.edit_mode]
    return f"NotebookEdit {call.notebook_path} ({verb}{cell})"
