"""One picture within the API's limits: left as it is where that will do, else turned, scaled and compressed."""

import base64
import io
from typing import TYPE_CHECKING, Literal

from everturn.tools.media.jobs import LONG_EDGE, MediaAnswer, Picture

if TYPE_CHECKING:
    from PIL import Image

_MAX_PIXELS = 120_000_000
_MAX_BYTES = 500_000
"""A larger file is compressed: every later request carries it again."""
_QUALITIES = (85, 70, 50)
_ORIENTATION = 0x0112
_UPRIGHT = 1
_AS_THEY_ARE: dict[str, Literal["image/png", "image/jpeg", "image/gif", "image/webp"]] = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}


_DECODED = (*_AS_THEY_ARE, "BMP", "TIFF")
"""No other format: some have their decoder start a program on the file (EPS), or are read by code that few look at."""


def run_picture(data: bytes) -> MediaAnswer:
    from PIL import Image

    # We judge the size ourselves, before anything is decoded; Pillow would only print a warning.
    Image.MAX_IMAGE_PIXELS = None
    try:
        picture = Image.open(io.BytesIO(data), formats=_DECODED)
        width, height = picture.size
        if width * height > _MAX_PIXELS:
            return MediaAnswer(problem=f"has {width:,} × {height:,} pixels, which is too large to be decoded")  # noqa: RUF001
        turned = picture.getexif().get(_ORIENTATION, _UPRIGHT) != _UPRIGHT
        fits = picture.format in _AS_THEY_ARE and max(width, height) <= LONG_EDGE and len(data) <= _MAX_BYTES
        picture.draft("RGB", (LONG_EDGE, LONG_EDGE))
        picture.load()
        if fits and not turned:
            kept = Picture(
                base64=base64.b64encode(data).decode(),
                media_type=_AS_THEY_ARE[str(picture.format)],
                width=width,
                height=height,
                original_width=width,
                original_height=height,
            )
            return MediaAnswer(pictures=(kept,))
        return MediaAnswer(pictures=(encode_picture(upright(picture), (width, height)),))
    except MemoryError:
        return MediaAnswer(problem="needs too much memory to be decoded")
    except (OSError, ValueError, SyntaxError, EOFError):
        return MediaAnswer(problem="cannot be decoded as a picture: it is damaged, or cut off")


def upright(picture: "Image.Image") -> "Image.Image":
    from PIL import ImageOps

    return ImageOps.exif_transpose(picture)


def encode_picture(picture: "Image.Image", original: tuple[int, int]) -> Picture:
    """As PNG, which keeps letters sharp, while that is small enough; else as JPEG."""
    from PIL import Image

    has_alpha = picture.has_transparency_data
    picture = picture.convert("RGBA" if has_alpha else "RGB")
    picture.thumbnail((LONG_EDGE, LONG_EDGE), Image.Resampling.LANCZOS, reducing_gap=3.0)
    data, media_type = _compress(picture)
    return Picture(
        base64=base64.b64encode(data).decode(),
        media_type=media_type,
        width=picture.width,
        height=picture.height,
        original_width=original[0],
        original_height=original[1],
    )


def _compress(picture: "Image.Image") -> tuple[bytes, Literal["image/png", "image/jpeg"]]:
    from PIL import Image

    data = _encode(picture, "PNG")
    if len(data) <= _MAX_BYTES:
        return data, "image/png"
    if picture.mode == "RGBA":
        ground = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(ground, picture).convert("RGB")
    for quality in _QUALITIES:
        data = _encode(picture, "JPEG", quality)
        if len(data) <= _MAX_BYTES:
            break
    return data, "image/jpeg"


def _encode(picture: "Image.Image", form: str, quality: int = 0) -> bytes:
    out = io.BytesIO()
    if quality:
        picture.save(out, form, quality=quality)
    else:
        picture.save(out, form)
    return out.getvalue()
