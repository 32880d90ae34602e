"""Read on pictures and PDFs: within the API's limits, or a clear refusal."""

import base64
import io
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.tool import ToolResult
from everturn.tools.media.jobs import LONG_EDGE, PictureJob
from everturn.tools.media.run import run_job
from everturn.tools.read import read_tool
from everturn.tools.read.pdf import parse_pages
from everturn.tools.result_types import PdfFile, PdfParts, PdfPartsShown, PdfShown


def encode(picture, form, **options):
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def decode(block):
    assert block["source"]["media_type"] in {"image/png", "image/jpeg", "image/gif", "image/webp"}
    return Image.open(io.BytesIO(base64.b64decode(block["source"]["data"])))


def pdf_of(count):
    pages = [Image.new("RGB", (200, 300), "white") for _ in range(count)]
    return encode(pages[0], "PDF", save_all=True, append_images=pages[1:])


TEXT_PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F 24 Tf 40 100 Td (Hello from page) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF
"""


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_small_picture_is_sent_as_it_is(desk, shown, form):
    data = encode(Image.new("RGB", (40, 30), "red"), form)
    desk.write("picture", data)

    result = await desk.use(read_tool(), file_path="picture")

    plain = base64.b64encode(data).decode()
    kind = f"image/{form.lower()}"
    assert result.content == [{"type": "image", "source": {"type": "base64", "media_type": kind, "data": plain}}]
    assert shown(result) == {
        "type": "image",
        "file": {
            "base64": plain,
            "type": kind,
            "originalSize": len(data),
            "dimensions": {"originalWidth": 40, "originalHeight": 30, "displayWidth": 40, "displayHeight": 30},
        },
    }


async def test_a_large_picture_is_scaled_and_the_model_is_told_how(desk):
    desk.write("wide.png", encode(Image.effect_noise((3_136, 1_000), 90), "PNG"))

    result = await desk.use(read_tool(), file_path="wide.png")

    picture, note = result.content
    assert decode(picture).size == (LONG_EDGE, 500)
    assert len(picture["source"]["data"]) < 1_000_000
    assert (
        note["text"] == "(The picture has 3136 x 1000 pixels and is shown as 1568 x 500; multiply coordinates by 2.00.)"
    )


@pytest.mark.parametrize("form", ["BMP", "TIFF"])
async def test_a_form_that_the_api_does_not_take_is_turned_into_one_that_it_does(desk, form):
    desk.write("picture", encode(Image.new("RGB", (40, 30), "red"), form))

    result = await desk.use(read_tool(), file_path="picture")

    assert decode(result.content[0]).convert("RGB").getpixel((5, 5)) == (255, 0, 0)


async def test_a_picture_taken_sideways_is_shown_upright(desk):
    exif = Image.Exif()
    exif[0x0112] = 6
    desk.write("photo.jpg", encode(Image.new("RGB", (40, 30)), "JPEG", exif=exif))

    result = await desk.use(read_tool(), file_path="photo.jpg")

    assert decode(result.content[0]).size == (30, 40)


async def test_what_is_clear_becomes_white_where_a_picture_loses_its_transparency(desk):
    noise = Image.effect_noise((1_400, 1_400), 200).convert("RGBA")
    noise.putalpha(0)
    alpha = Image.effect_noise((1_400, 1_400), 200)
    noise.paste(Image.merge("RGBA", [*[alpha] * 3, alpha]), (0, 10))
    desk.write("clear.png", encode(noise, "PNG"))

    result = await desk.use(read_tool(), file_path="clear.png")

    assert result.content[0]["source"]["media_type"] == "image/jpeg"
    assert min(decode(result.content[0]).getpixel((700, 2))) > 200


@pytest.mark.parametrize("kept", [0.2, 0.9])
async def test_a_picture_that_is_cut_off_never_reaches_the_api(desk, kept):
    data = encode(Image.effect_noise((200, 200), 90), "PNG")
    desk.write("cut.png", data[: int(len(data) * kept)])

    with pytest.raises(ToolFault, match=r"cut\.png cannot be decoded as a picture: it is damaged, or cut off"):
        await desk.use(read_tool(), file_path="cut.png")


async def test_an_unchanged_picture_is_not_sent_twice(desk):
    desk.write("picture.png", encode(Image.new("RGB", (4, 3)), "PNG"))
    tool = read_tool()
    await desk.use(tool, file_path="picture.png")

    assert (await desk.use(tool, file_path="picture.png")).content.startswith("(Unchanged")


@settings(deadline=None)
@given(data=st.binary(max_size=40).map(lambda tail: b"\x89PNG\r\n\x1a\n" + tail))
def test_no_bytes_bring_the_decoder_to_an_answer_that_is_none(data):
    from everturn.tools.media.pictures import run_picture

    answer = run_picture(data)

    assert (answer.problem != "") is (answer.pictures == ())


def test_a_decoder_that_dies_is_an_answer_like_others(monkeypatch, tmp_path):
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL/__init__.py").write_text("import os\nos.abort()\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    answer = run_job(PictureJob(), b"x", ())

    assert answer.problem == "is too much for its decoder (it crashed, or took too much time or memory)"


def test_a_module_in_the_working_folder_is_not_mistaken_for_ours(monkeypatch, tmp_path):
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL/__init__.py").write_text("import os\nos.abort()\n")
    monkeypatch.chdir(tmp_path)

    assert run_job(PictureJob(), encode(Image.new("RGB", (4, 3)), "PNG"), ()).problem == ""


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n%%EOF\n"


def test_no_decoder_starts_another_program(monkeypatch, tmp_path):
    """Pillow has `gs` draw PostScript: what a file in the working folder says would run."""
    ran = tmp_path / "ran"
    program = tmp_path / "gs"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert "cannot be decoded" in run_job(PictureJob(), EPS, ()).problem
    assert not ran.exists()


@pytest.mark.parametrize(
    "start",
    [
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import os; os.fork()",
        "import os; os.execv('/bin/true', ['true'])",
        "import socket; socket.socket()",
    ],
)
def test_a_decoder_that_wants_to_start_something_is_refused(start):
    wanting = f"import sys; from everturn.tools.media.child import refuse_starting; sys.addaudithook(refuse_starting); {start}"

    ended = subprocess.run([sys.executable, "-c", wanting], capture_output=True, text=True, check=False)

    assert "PermissionError: a decoder may not do this" in ended.stderr


def test_an_interrupted_decoder_ends(tmp_path, monkeypatch):
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL/__init__.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(ToolFault, match="interrupted"):
        run_job(PictureJob(), b"x" * 1_000_000, (), stop=lambda: True)


async def test_a_short_pdf_is_sent_whole(desk):
    data = pdf_of(10)
    path = desk.write("short.pdf", data)

    result = await desk.use(read_tool(), file_path="short.pdf")

    plain = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": plain}
    shown = PdfShown(file=PdfFile(file_path=str(path), base64=plain, original_size=len(data)))
    assert result == ToolResult(content=[{"type": "document", "source": source}], shown=shown)


async def test_a_long_pdf_wants_pages(desk):
    path = desk.write("long.pdf", pdf_of(11))

    with pytest.raises(ToolFault) as fault:
        await desk.use(read_tool(), file_path="long.pdf")

    assert str(fault.value) == (
        f'{path} has 11 pages, which is too much at once. Give `pages`, such as "1-5"; at most 20 at a time.'
    )


async def test_pages_are_drawn(desk):
    data = pdf_of(11)
    path = desk.write("long.pdf", data)

    result = await desk.use(read_tool(), file_path="long.pdf", pages="10-11")

    words = [block["text"] for block in result.content if block["type"] == "text"]
    sizes = [decode(block).size for block in result.content if block["type"] == "image"]
    assert words == ["Page 10 of 11.", "Page 11 of 11."]
    assert sizes == [sizes[0]] * 2
    assert max(sizes[0]) <= LONG_EDGE
    assert result.shown == PdfPartsShown(file=PdfParts(file_path=str(path), original_size=len(data), count=2))


async def test_the_text_of_a_page_comes_with_its_picture(desk, shown):
    path = desk.write("text.pdf", TEXT_PDF)

    result = await desk.use(read_tool(), file_path="text.pdf", pages="1")

    assert result.content[0]["text"] == "Page 1 of 1.\nThe text on it:\nHello from page"
    assert decode(result.content[1]).size == (900, 600)
    parts = {"filePath": str(path), "originalSize": len(TEXT_PDF), "count": 1, "outputDir": ""}
    assert shown(result) == {"type": "parts", "file": parts}


@pytest.mark.parametrize(
    ("data", "pages", "problem"),
    [
        (b"%PDF-1.7 and then nothing", {}, "is damaged, or no PDF at all"),
        (pdf_of(2), {"pages": "3"}, "The PDF has 2 pages; there is no page 3"),
    ],
)
async def test_a_pdf_that_cannot_be_shown_is_refused(desk, data, pages, problem):
    desk.write("a.pdf", data)

    with pytest.raises(ToolFault, match=problem):
        await desk.use(read_tool(), file_path="a.pdf", **pages)


@pytest.mark.parametrize(
    ("text", "pages"),
    [("3", (3,)), ("1-3", (1, 2, 3)), ("28-", (28, 29, 30)), ("5, 1-2, 2", (5, 1, 2)), (" 2 - 3 ", (2, 3))],
)
def test_pages_are_understood(text, pages):
    assert parse_pages(text, 30) == pages


@pytest.mark.parametrize("text", ["0", "3-1", "one", "1-21", "-3", "1,,2", "1--2", "²"])
def test_pages_that_make_no_sense_are_refused_by_name(text):
    with pytest.raises(InputFault, match=r"^`pages`: expected"):
        parse_pages(text, 30)


async def test_looking_at_pictures_and_documents_leaves_the_tree_as_it_was(desk):
    desk.write("a.png", encode(Image.new("RGB", (2_000, 10)), "PNG"))
    desk.write("a.pdf", pdf_of(2))
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in desk.folder.iterdir()}

    await desk.use(read_tool(), file_path="a.png")
    await desk.use(read_tool(), file_path="a.pdf")
    await desk.use(read_tool(), file_path="a.pdf", pages="2")

    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in desk.folder.iterdir()} == before


def test_a_picture_that_no_pipe_holds_reaches_its_decoder_whole():
    noise = encode(Image.effect_noise((1_200, 1_200), 90), "PNG")

    answer = run_job(PictureJob(), noise, ())

    assert len(noise) > 1_000_000
    assert (answer.problem, [(each.original_width, each.original_height) for each in answer.pictures]) == (
        "",
        [(1_200, 1_200)],
    )
