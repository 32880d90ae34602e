"""A picture file as a block that the model sees."""

from typing import Any

from everturn.core.errors import ToolFault
from everturn.ports.files import Stamp
from everturn.ports.tool import ToolContext, ToolResult
from everturn.tools.media.jobs import Picture, PictureJob
from everturn.tools.media.run import run_job
from everturn.tools.read.text import SeenPage
from everturn.tools.result_types import Dimensions, PictureFile, PictureShown
from everturn.workspace.files import refuse_too_large
from everturn.workspace.opening import OpenFile
from everturn.workspace.replace import load_digest


def run_picture(file: OpenFile, context: ToolContext) -> SeenPage:
    """Raises `ToolFault`."""
    refuse_too_large(file)
    answer = run_job(PictureJob(), file.descriptor, context.folders, stop=lambda: context.abort.raised)
    if answer.problem:
        raise ToolFault(f"{file.path} {answer.problem}.")
    [picture] = answer.pictures
    content: list[dict[str, Any]] = [picture_block(picture)]
    if (picture.width, picture.height) != (picture.original_width, picture.original_height):
        content.append({"type": "text", "text": _scaled(picture)})
    return SeenPage(
        result=ToolResult(content=content, shown=PictureShown(file=_public_form(picture, file.status.st_size))),
        stamp=stamp_media(file),
        whole=False,
        shown_whole=True,
    )


def picture_block(picture: Picture) -> dict[str, Any]:
    source = {"type": "base64", "media_type": picture.media_type, "data": picture.base64}
    return {"type": "image", "source": source}


def stamp_media(file: OpenFile) -> Stamp:
    return Stamp(size=file.status.st_size, mtime_ns=file.status.st_mtime_ns, digest=load_digest(file))


def _scaled(picture: Picture) -> str:
    factor = max(picture.original_width, picture.original_height) / max(picture.width, picture.height)
    return (
        f"(The picture has {picture.original_width} x {picture.original_height} pixels and is shown as "
        f"{picture.width} x {picture.height}; multiply coordinates by {factor:.2f}.)"
    )


def _public_form(picture: Picture, size: int) -> PictureFile:
    return PictureFile(
        base64=picture.base64,
        type=picture.media_type,
        original_size=size,
        dimensions=Dimensions(
            original_width=picture.original_width,
            original_height=picture.original_height,
            display_width=picture.width,
            display_height=picture.height,
        ),
    )
