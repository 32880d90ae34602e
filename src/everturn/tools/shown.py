"""The half of a result that is for people and programs: the public shapes of the built-in tools' answers."""

from typing import Literal

import msgspec


class Shown(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Encoded with the field names that scripts know (`filePath`)."""


class FilePage(Shown, frozen=True, kw_only=True):
    file_path: str
    content: str
    num_lines: int
    start_line: int
    total_lines: int


class TextShown(Shown, frozen=True, kw_only=True, tag="text"):
    file: FilePage


class SameFile(Shown, frozen=True, kw_only=True):
    file_path: str


class UnchangedShown(Shown, frozen=True, kw_only=True, tag="file_unchanged"):
    file: SameFile


class Hunk(Shown, frozen=True, kw_only=True):
    """Lines begin with ` `, `-` or `+`; numbers count from 1."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


class WriteShown(Shown, frozen=True, kw_only=True):
    type: Literal["create", "update"]
    file_path: str
    content: str
    structured_patch: tuple[Hunk, ...]
    original_file: str | None


class EditShown(Shown, frozen=True, kw_only=True):
    file_path: str
    old_string: str
    new_string: str
    original_file: str
    structured_patch: tuple[Hunk, ...]
    user_modified: bool
    replace_all: bool


class BashShown(Shown, frozen=True, kw_only=True):
    stdout: str
    """Both streams, interleaved."""
    stderr: str
    """Our own notices."""
    interrupted: bool
    is_image: bool
    exit_code: int | None
    """None when a signal ended it."""
    timed_out_after_ms: int | None = None
    return_code_interpretation: str | None = None


class GlobShown(Shown, frozen=True, kw_only=True):
    duration_ms: int
    num_files: int
    filenames: tuple[str, ...]
    truncated: bool
    total_matches: int
    count_is_complete: bool


class GrepShown(Shown, frozen=True, kw_only=True):
    mode: Literal["files_with_matches", "content", "count"]
    num_files: int
    filenames: tuple[str, ...]
    content: str | None = None
    num_lines: int | None = None
    num_matches: int | None = None
    applied_limit: int | None = None
    applied_offset: int | None = None
