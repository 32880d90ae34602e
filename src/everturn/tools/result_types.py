"""The half of a result that is for people and programs: the public shapes of the built-in tools' answers."""

from typing import Any, Literal

import msgspec

from everturn.core.notes import Todo


class ShownResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Encoded with the field names that scripts know (`filePath`)."""


class FilePage(ShownResult, frozen=True, kw_only=True):
    file_path: str
    content: str
    num_lines: int
    start_line: int
    total_lines: int
    """Of a file too large to be looked through, an estimate."""
    truncated_by_token_cap: bool = False


class TextShown(ShownResult, frozen=True, kw_only=True, tag="text"):
    file: FilePage


class SameFile(ShownResult, frozen=True, kw_only=True):
    file_path: str


class UnchangedShown(ShownResult, frozen=True, kw_only=True, tag="file_unchanged"):
    file: SameFile


class Dimensions(ShownResult, frozen=True, kw_only=True):
    original_width: int
    original_height: int
    display_width: int
    display_height: int


class PictureFile(ShownResult, frozen=True, kw_only=True):
    base64: str
    type: str
    original_size: int
    dimensions: Dimensions


class PictureShown(ShownResult, frozen=True, kw_only=True, tag="image"):
    file: PictureFile


class PdfFile(ShownResult, frozen=True, kw_only=True):
    file_path: str
    base64: str
    original_size: int


class PdfShown(ShownResult, frozen=True, kw_only=True, tag="pdf"):
    file: PdfFile


class PdfParts(ShownResult, frozen=True, kw_only=True, omit_defaults=False):
    file_path: str
    original_size: int
    count: int
    output_dir: str = ""
    """Always empty: the pages go to the model, and nothing is written for them."""


class PdfPartsShown(ShownResult, frozen=True, kw_only=True, tag="parts"):
    file: PdfParts


class NotebookOutput(ShownResult, frozen=True, kw_only=True):
    output_type: str
    text: str = ""
    image: bool = False
    """A picture was put out."""


class NotebookCell(ShownResult, frozen=True, kw_only=True):
    cell_id: str
    cell_type: str
    source: str
    language: str | None = None
    outputs: tuple[NotebookOutput, ...] = ()


class NotebookFile(ShownResult, frozen=True, kw_only=True):
    file_path: str
    cells: tuple[NotebookCell, ...]


class NotebookShown(ShownResult, frozen=True, kw_only=True, tag="notebook"):
    file: NotebookFile


class NotebookEditShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Its public names have underscores, other than all the rest."""

    new_source: str
    old_source: str | None = None
    cell_id: str | None = None
    cell_type: str
    language: str
    edit_mode: Literal["replace", "insert", "delete"]
    notebook_path: str
    original_file: str
    updated_file: str


class Hunk(ShownResult, frozen=True, kw_only=True):
    """Lines begin with ` `, `-` or `+`; numbers count from 1."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


class WriteShown(ShownResult, frozen=True, kw_only=True):
    type: Literal["create", "update"]
    file_path: str
    content: str
    structured_patch: tuple[Hunk, ...]
    original_file: str | None


class EditShown(ShownResult, frozen=True, kw_only=True):
    file_path: str
    old_string: str
    new_string: str
    original_file: str
    structured_patch: tuple[Hunk, ...]
    user_modified: bool
    replace_all: bool


class BashShown(ShownResult, frozen=True, kw_only=True):
    stdout: str
    """Both streams, interleaved."""
    stderr: str
    """Our own notices."""
    interrupted: bool
    is_image: bool
    exit_code: int | None
    """None when a signal ended it, or when it goes on."""
    signal: str | None = None
    """`SIGSEGV`: what ended it."""
    duration_ms: int
    timed_out_after_ms: int | None = None
    background_task_id: str | None = None
    """It goes on as this task."""
    return_code_interpretation: str | None = None
    persisted_output_path: str | None = None
    """A file with all of the output, up to 64 MiB."""
    persisted_output_size: int | None = None


class TaskOutputShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of tasks are spelled as the API spells its own."""

    task_id: str
    task_type: str
    status: str
    summary: str
    output: str
    output_file: str | None = None
    command: str | None = None
    exit_code: int | None = None


class TaskStopShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    message: str
    task_id: str
    task_type: str
    command: str | None = None


class GlobShown(ShownResult, frozen=True, kw_only=True):
    duration_ms: int
    num_files: int
    filenames: tuple[str, ...]
    truncated: bool
    total_matches: int
    count_is_complete: bool


class GrepShown(ShownResult, frozen=True, kw_only=True):
    mode: Literal["files_with_matches", "content", "count"]
    num_files: int
    filenames: tuple[str, ...]
    content: str | None = None
    num_lines: int | None = None
    num_matches: int | None = None
    total_files: int | None = None
    total_lines: int | None = None
    applied_limit: int | None = None
    applied_offset: int | None = None


class WebFetchShown(ShownResult, frozen=True, kw_only=True):
    bytes: int
    code: int
    code_text: str
    result: str
    duration_ms: int
    url: str


class SearchHit(ShownResult, frozen=True, kw_only=True):
    title: str
    url: str


class SearchHits(msgspec.Struct, frozen=True, kw_only=True):
    tool_use_id: str
    content: tuple[SearchHit, ...]


class WebSearchShown(ShownResult, frozen=True, kw_only=True):
    query: str
    results: tuple[SearchHits | str, ...]
    """What was found, then what is to be said about it."""
    duration_seconds: float
    search_count: int


class TodoWriteShown(ShownResult, frozen=True, kw_only=True):
    old_todos: tuple[Todo, ...]
    new_todos: tuple[Todo, ...]


class AskedShown(ShownResult, frozen=True, kw_only=True):
    questions: tuple[Any, ...]
    """As they were asked."""
    answers: dict[str, str]
    response: str = ""
    annotations: dict[str, Any] = {}


class PlanShown(ShownResult, frozen=True, kw_only=True):
    plan: str
    is_agent: bool
    plan_was_edited: bool = False


class ToolSearchShown(ShownResult, frozen=True, kw_only=True):
    matches: tuple[str, ...]
    query: str
    total_deferred_tools: int
