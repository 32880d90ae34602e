"""Reads for the tool Read: finds the kind of the file, shows it, and remembers its version so that a stale change is refused."""

import os

from msgspec import UNSET
from msgspec.structs import replace

from everturn.core.errors import InputFault, ToolFault
from everturn.core.tokens import BYTES_PER_TOKEN
from everturn.ports.files import FileState, Stamp
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.read.text import SeenPage, run_text
from everturn.tools.read.tool import LINE_LENGTH, ReadInput, asks_for_all, span_of
from everturn.tools.result_types import SameFile, UnchangedShown
from everturn.workspace.files import MAX_BYTES, refuse_binary
from everturn.workspace.kinds import is_pdf, judge_picture
from everturn.workspace.opening import OpenFile, open_for_reading
from everturn.workspace.pages import PageSpan
from everturn.workspace.paths import absolute
from everturn.workspace.replace import load_digest
from everturn.workspace.text import is_binary

_HEAD = 8_192


def run_read(call: ReadInput, context: ToolContext, most_tokens: int) -> ToolResult:
    """Raises `ToolFault`, `InputFault`."""
    path = absolute(context.folder, call.file_path)
    with open_for_reading(path, folder=context.folder, judged=context.judged) as file:
        before = context.files.get(file.path)
        if asks_for_all(call) and before is not None and before.shown and _is_as_stamped(file, before):
            return _unchanged(file.path)
        seen = _look(call, context, file, most_tokens)
    same = before if before is not None and _is_same(before.stamp, seen.stamp) else None
    known = same is not None and not same.partial
    shown = seen.shown_whole or (same is not None and same.shown)
    context.files.remember(file.path, FileState(stamp=seen.stamp, partial=not (seen.whole or known), shown=shown))
    return replace(seen.result, files=(file.path,)) if seen.whole else seen.result


def _look(call: ReadInput, context: ToolContext, file: OpenFile, most_tokens: int) -> SeenPage:
    head = os.pread(file.descriptor, _HEAD, 0)
    if is_pdf(head):
        from everturn.tools.read.pdf import run_pdf

        return run_pdf(file, "" if call.pages is UNSET else call.pages, context)
    if call.pages:
        raise InputFault("`pages`: expected only for a PDF, and this file is none. Use `offset` and `limit`.")
    if judge_picture(head):
        from everturn.tools.read.picture import run_picture

        return run_picture(file, context)
    if is_binary(head):
        raise refuse_binary(file.path, head)
    first, count = span_of(call)
    chosen = not asks_for_all(call)
    width = LINE_LENGTH + context.hiding.slack
    span = PageSpan(first=first, count=count, width=width, room=most_tokens * BYTES_PER_TOKEN)
    if file.path.endswith(".ipynb"):
        from everturn.tools.read.notebook import run_notebook

        try:
            return run_notebook(file, span, context)
        except ToolFault:
            # What only is called a notebook is text, and a broken one is mended as text.
            return run_text(file, span, context, chosen=chosen)
    return run_text(file, span, context, chosen=chosen)


def _is_same(one: Stamp, other: Stamp) -> bool:
    return one == other or (bool(one.digest) and one.digest == other.digest)


def _is_as_stamped(file: OpenFile, state: FileState) -> bool:
    stamp, status = state.stamp, file.status
    if status.st_size != stamp.size:
        return False
    return status.st_mtime_ns == stamp.mtime_ns or (stamp.size <= MAX_BYTES and load_digest(file) == stamp.digest)


def _unchanged(path: str) -> ToolResult:
    return ToolResult(
        content="(Unchanged since you last read it; what you saw then still holds. Give `offset` to see it again.)",
        shown=UnchangedShown(file=SameFile(file_path=path)),
    )
