"""How a call ended, in one line for people: from the half of its result that is theirs."""

from collections.abc import Iterable

from everturn.core.notes import Todo, TodoStatus
from everturn.ports.tool import ToolResult
from everturn.tools.result_types import (
    AskedShown,
    BashShown,
    EditShown,
    FilePage,
    GlobShown,
    GrepShown,
    Hunk,
    NotebookEditShown,
    NotebookShown,
    PdfPartsShown,
    PdfShown,
    PictureShown,
    PlanShown,
    TaskOutputShown,
    TaskStopShown,
    TextShown,
    TodoWriteShown,
    ToolSearchShown,
    UnchangedShown,
    WebFetchShown,
    WebSearchShown,
    WriteShown,
)

_MAX_LENGTH = 10_000
"""Characters of a result among which its first line is looked for."""
_CELL = {"replace": "replaced", "insert": "inserted", "delete": "deleted"}


def render_done(result: ToolResult) -> str:
    """What it brought; not what was asked for, which the line of the call tells. Foreign words are left as they are."""
    match result.shown:
        case TextShown() | UnchangedShown() | PictureShown() | PdfShown() | PdfPartsShown() | NotebookShown() as shown:
            return _render_read(shown)
        case WriteShown(type="create", content=content):
            return f"created, {_count(len(content.splitlines()), 'line')}"
        case WriteShown(structured_patch=hunks) | EditShown(structured_patch=hunks):
            return _render_changes(hunks)
        case NotebookEditShown(edit_mode=mode, cell_id=cell):
            return f"cell {cell} {_CELL[mode]}"
        case BashShown() as shown:
            return _render_command(shown)
        case TaskOutputShown(status=status, summary=summary):
            return f"{status}: {summary}"
        case TaskStopShown(message=message):
            return message
        case GlobShown() | GrepShown() as shown:
            return _render_found(shown)
        case WebFetchShown(code=code, code_text=text, bytes=size):
            return f"{code} {text}, {_render_size(size)}"
        case WebSearchShown(results=results):
            return _count(sum(len(each.content) for each in results if not isinstance(each, str)), "hit")
        case TodoWriteShown(new_todos=todos):
            return _render_todos(todos)
        case AskedShown(answers=answers, response=response):
            return ", ".join(answers.values()) or response
        case PlanShown(plan_was_edited=edited):
            return "approved with changes" if edited else "approved"
        case ToolSearchShown(matches=matches):
            return ", ".join(matches) or "nothing found"
    return _render_content(result)


def _render_read(
    shown: TextShown | UnchangedShown | PictureShown | PdfShown | PdfPartsShown | NotebookShown,
) -> str:
    match shown:
        case TextShown(file=page):
            return _render_page(page)
        case UnchangedShown():
            return "unchanged"
        case PictureShown(file=picture):
            return f"{picture.dimensions.original_width} x {picture.dimensions.original_height} pixels"
        case PdfShown(file=document):
            return f"PDF, {_render_size(document.original_size)}"
        case PdfPartsShown(file=parts):
            return _count(parts.count, "page")
        case NotebookShown(file=notebook):
            return _count(len(notebook.cells), "cell")


def _render_page(page: FilePage) -> str:
    if page.num_lines == page.total_lines:
        return _count(page.num_lines, "line")
    return f"{_count(page.num_lines, 'line')} of {page.total_lines:,}"


def _render_changes(hunks: Iterable[Hunk]) -> str:
    lines = [line[:1] for hunk in hunks for line in hunk.lines]
    return f"+{lines.count('+'):,} −{lines.count('-'):,}"  # noqa: RUF001 - a minus sign


def _render_command(shown: BashShown) -> str:
    match shown:
        case BashShown(background_task_id=str(task)):
            return f"in the background as {task}"
        case BashShown(interrupted=True):
            return "interrupted"
        case BashShown(timed_out_after_ms=int(most_ms)):
            return f"ended after {most_ms / 1000:g} s"
        case BashShown(signal=str(name)):
            return name
        case BashShown(is_image=True):
            return "a picture"
        case BashShown(exit_code=0, stdout=""):
            return "no output"
        case BashShown(exit_code=0, stdout=output):
            return _count(output.count("\n") + 1, "line")
        case BashShown(return_code_interpretation=str(meaning)):
            return meaning
        case BashShown(exit_code=int(code)):
            return f"exit {code}"
    return "ended"


def _render_found(shown: GlobShown | GrepShown) -> str:
    match shown:
        case GlobShown(total_matches=total, count_is_complete=complete):
            return f"{_count(total, 'file')}{'' if complete else ' so far'}"
        case GrepShown(mode="content", num_lines=lines, total_lines=total):
            return _count(total or lines or 0, "line")
        case GrepShown(mode="count", num_matches=matches, num_files=files, total_files=total):
            return f"{_count(matches or 0, 'match', 'matches')} in {_count(total or files, 'file')}"
        case GrepShown(num_files=files, total_files=total):
            return _count(total or files, "file")


def _render_todos(todos: tuple[Todo, ...]) -> str:
    done = sum(todo.status is TodoStatus.COMPLETED for todo in todos)
    return f"{done} of {len(todos)} done" if todos else "nothing to do"


def _render_content(result: ToolResult) -> str:
    """Of a tool without a half for people: its first words."""
    content = result.content
    if not isinstance(content, str):
        content = next((block["text"] for block in content if block.get("type") == "text"), "")
    return content[:_MAX_LENGTH].strip().partition("\n")[0]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _render_size(size: int) -> str:
    for unit, large in (("MB", 1_000_000), ("kB", 1_000)):
        if size >= large:
            return f"{size / large:.1f} {unit}"
    return _count(size, "byte")
