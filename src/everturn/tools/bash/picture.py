"""A command that printed a picture, as a data URI: the model sees it."""

import base64
import binascii
import re
from pathlib import Path

import msgspec

from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.bash.output import Output
from everturn.tools.media.jobs import PictureJob
from everturn.tools.media.run import run_job
from everturn.tools.read.picture import picture_block

MAX_BYTES = 20_000_000
_URI = re.compile(rb"data:image/[\w.+-]+;base64,([A-Za-z0-9+/=\s]+)")


def run_picture(result: ToolResult, output: Output, context: ToolContext) -> ToolResult:
    """Blocks. What is no picture after all stays the text that it is. Raises `ToolFault` on abort."""
    data = parse_uri(_load(output))
    answer = run_job(PictureJob(), data, context.folders, stop=lambda: context.abort.raised) if data else None
    if answer is None or answer.problem:
        return result
    [picture] = answer.pictures
    shown = msgspec.structs.replace(
        result.shown, stdout=f"data:{picture.media_type};base64,{picture.base64}", is_image=True
    )
    notices = [{"type": "text", "text": shown.stderr}] if shown.stderr else []
    return ToolResult(content=[picture_block(picture), *notices], shown=shown)


def parse_uri(printed: bytes) -> bytes:
    """Empty where it is none."""
    found = _URI.fullmatch(printed.strip())
    try:
        return base64.b64decode(b"".join(found[1].split()), validate=True) if found else b""
    except (binascii.Error, ValueError):
        return b""


def _load(output: Output) -> bytes:
    """All of it; nothing where that is too much, or is not there any more."""
    if (kept := output.whole) is not None:
        return kept
    if output.path is None or output.saved < output.length or output.length > MAX_BYTES:
        return b""
    try:
        return Path(output.path).read_bytes()
    except OSError:
        return b""
