"""What a search asks for, and what either engine returns: lines of files, before they are cut and rendered."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from everturn.tools.wildcards import split_globs

Mode = Literal["files_with_matches", "content", "count"]
LIMIT = 250

_Lines = Annotated[int, Meta(ge=0, le=1_000)] | UnsetType


class GrepInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(min_length=1, description="Regular expression")]
    path: Annotated[str, Meta(min_length=1, description="File or folder; the working folder if left out")] = "."
    glob: Annotated[str, Meta(min_length=1, description="Only files that fit, such as `*.{ts,tsx}`")] | UnsetType = (
        UNSET
    )
    type: (
        Annotated[str, Meta(pattern="^[a-z0-9-]+$", description="Only files of a type: py, js, rust…")] | UnsetType
    ) = UNSET
    output_mode: Annotated[Mode, Meta(description="Names of files, matching lines, or counts")] = "files_with_matches"
    ignore_case: Annotated[bool, Meta(description="Ignore case")] = msgspec.field(default=False, name="-i")
    numbers: Annotated[bool, Meta(description="Line numbers (content)")] = msgspec.field(default=True, name="-n")
    only: Annotated[bool, Meta(description="Only the matching part (content)")] = msgspec.field(
        default=False, name="-o"
    )
    after: Annotated[_Lines, Meta(description="Lines after each match (content)")] = msgspec.field(
        default=UNSET, name="-A"
    )
    before: Annotated[_Lines, Meta(description="Lines before each match (content)")] = msgspec.field(
        default=UNSET, name="-B"
    )
    around: Annotated[_Lines, Meta(description="Lines before and after each match (content)")] = msgspec.field(
        default=UNSET, name="-C"
    )
    context: Annotated[_Lines, Meta(description="The same as -C")] = UNSET
    head_limit: Annotated[int, Meta(ge=0, description=f"Lines or files at most, 0 = all; {LIMIT} if left out")] = LIMIT
    offset: Annotated[int, Meta(ge=0, description="Lines or files to skip first")] = 0
    multiline: Annotated[bool, Meta(description="Let a match span lines; `.` matches line ends too")] = False


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """One search, with its place resolved."""

    pattern: str
    root: str
    """A folder, or the folder of `file`."""
    file: str | None
    """The name of the only file to search, in `root`."""
    globs: tuple[str, ...]
    """A file fits if one of them does; of those with `!` the last that fits decides."""
    type: str | None
    mode: Mode
    ignore_case: bool
    only: bool
    before: int
    after: int
    multiline: bool

    @property
    def closed(self) -> tuple[str, ...]:
        """What no search enters: git's own files, and the kernel's, among which are the secrets of processes."""
        return ("!.git", "!/proc") if self.root == "/" else ("!.git",)


class FoundLine(msgspec.Struct, frozen=True):
    number: int
    text: str
    matched: bool
    """False: context."""


class FileMatches(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    """Relative to the root of the query."""
    count: int = 0
    """Mode `count`: matching lines, or matches when they may span lines."""
    lines: tuple[FoundLine, ...] = ()
    """Mode `content`, in order."""


class Matches(msgspec.Struct, frozen=True, kw_only=True):
    files: tuple[FileMatches, ...]
    """In no particular order."""
    complete: bool = True


def plan_query(call: GrepInput, root: str, file: str | None) -> Query:
    around = next((lines for lines in (call.around, call.context) if lines is not UNSET), 0)
    content = call.output_mode == "content" and not call.only
    return Query(
        pattern=call.pattern,
        root=root,
        file=file,
        globs=() if call.glob is UNSET else split_globs(call.glob),
        type=None if call.type is UNSET else call.type,
        mode=call.output_mode,
        ignore_case=call.ignore_case,
        only=call.only and call.output_mode == "content",
        before=(around if call.before is UNSET else call.before) if content else 0,
        after=(around if call.after is UNSET else call.after) if content else 0,
        multiline=call.multiline,
    )
