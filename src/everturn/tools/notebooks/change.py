"""What NotebookEdit does: finds the cell, changes it in the text, and puts the file in place."""

import os
from typing import Any

import msgspec
from msgspec import UNSET

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.files import FileState, FileStates
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.change_rules import refuse_mark, refuse_unread
from everturn.tools.notebook_edit import NotebookEditInput
from everturn.tools.notebooks.parse import CELL_TYPES, Notebook, find_cell, parse_notebook
from everturn.tools.notebooks.splice import CellList, delete_cell, find_cells, insert_cell, load_cell, replace_cell
from everturn.tools.result_types import NotebookEditShown
from everturn.workspace.files import load_text, replace_text
from everturn.workspace.opening import OpenFile, open_for_reading
from everturn.workspace.paths import absolute
from everturn.workspace.text import FileText

_DONE = {"replace": "Replaced", "insert": "Inserted", "delete": "Deleted"}


class CellChange(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    cell_id: str
    cell_type: str
    old_source: str | None


def run_notebook_edit(call: NotebookEditInput, context: ToolContext) -> ToolResult:
    """Raises `ToolFault`, `InputFault`."""
    folder, files = context.folder, context.files
    with open_for_reading(absolute(folder, call.notebook_path), folder=folder, judged=context.judged) as file:
        path = file.path
        before, partial = _load_seen(file, files)
        notebook = parse_notebook(before.text)
        change = plan_change(before.text, notebook, call)
        refuse_mark(before.text, change.text, path, context.hiding)
        stamp = replace_text(file.place, change.text, like=before)
    files.remember(path, FileState(stamp=stamp, partial=partial))
    shown = NotebookEditShown(
        new_source=call.new_source,
        old_source=change.old_source,
        cell_id=change.cell_id,
        cell_type=change.cell_type,
        language=notebook.language,
        edit_mode=call.edit_mode,
        notebook_path=path,
        original_file=before.text,
        updated_file=change.text,
    )
    return ToolResult(content=f"{_DONE[call.edit_mode]} cell {change.cell_id} in {path}.", shown=shown)


def check_notebook_edit(call: NotebookEditInput, context: ToolContext) -> None:
    """Raises what `run_notebook_edit` would raise; changes nothing."""
    path = absolute(context.folder, call.notebook_path)
    with open_for_reading(path, folder=context.folder, judged=context.judged) as file:
        before, _ = _load_seen(file, context.files)
        change = plan_change(before.text, parse_notebook(before.text), call)
        refuse_mark(before.text, change.text, file.path, context.hiding)


def _load_seen(file: OpenFile, files: FileStates) -> tuple[FileText, bool]:
    """The notebook as it is, and whether the model has seen only a part of it. Raises `ToolFault`."""
    if not file.path.endswith(".ipynb"):
        raise ToolFault(f"{file.path} is not a notebook (.ipynb). Change it with Edit.")
    before = load_text(file)
    return before, refuse_unread(files, file.path, before.stamp, "change").partial


def plan_change(text: str, notebook: Notebook, call: NotebookEditInput) -> CellChange:
    """Raises `ToolFault`, `InputFault`."""
    cells = find_cells(text)
    if call.edit_mode == "insert":
        return _plan_insert(text, notebook, cells, call)
    if call.cell_id is UNSET:
        raise InputFault("`cell_id` is missing: expected the id of a cell, as Read shows it.")
    at = find_cell(notebook, call.cell_id)
    old = notebook.cells[at]
    if call.edit_mode == "delete":
        return CellChange(text=delete_cell(text, cells, at), cell_id=old.id, cell_type=old.type, old_source=old.source)
    kind = old.type if call.cell_type is UNSET else call.cell_type
    cell = _with_source(load_cell(text, cells.spans[at]), kind, call.new_source)
    return CellChange(text=replace_cell(text, cells, at, cell), cell_id=old.id, cell_type=kind, old_source=old.source)


def _plan_insert(text: str, notebook: Notebook, cells: CellList, call: NotebookEditInput) -> CellChange:
    if call.cell_type is UNSET:
        raise InputFault('`cell_type` is missing: expected "code" or "markdown" for the new cell.')
    at = 0 if call.cell_id is UNSET else find_cell(notebook, call.cell_id) + 1
    name = os.urandom(4).hex() if notebook.has_ids else ""
    empty = {"cell_type": call.cell_type, **({"id": name} if name else {}), "metadata": {}, "source": []}
    cell = _with_source(empty, call.cell_type, call.new_source)
    return CellChange(
        text=insert_cell(text, cells, at, cell),
        cell_id=name or f"cell-{at}",
        cell_type=call.cell_type,
        old_source=None,
    )


def _with_source(cell: dict[str, Any], kind: str, source: str) -> dict[str, Any]:
    """A code cell forgets what it put out; another kind of cell has no outputs at all."""
    as_lines = isinstance(cell.get("source"), list)
    changed = {**cell, "source": source.splitlines(keepends=True) if as_lines else source}
    if kind in CELL_TYPES:
        changed["cell_type"] = kind
    if kind == "code":
        return {**changed, "execution_count": None, "outputs": []}
    return {key: value for key, value in changed.items() if key not in {"execution_count", "outputs"}}
