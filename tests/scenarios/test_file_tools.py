"""The file tools over HTTP: what the API is sent accepts its own rules, and what scripts get has the names they know."""

import base64
import io
import json

import msgspec
import pytest
from PIL import Image

from everturn.modelserver import call, calls, text


def ended(run):
    """The public form of each call's result, in order."""
    return [msgspec.json.decode(msgspec.json.encode(event.shown)) for event in run.of("tool_end")]


def results(bench, request=-1):
    return [
        block["content"]
        for message in bench.sent[request]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


def png(side):
    out = io.BytesIO()
    Image.effect_noise((side, side), 90).save(out, "PNG")
    return out.getvalue()


async def test_a_file_is_read_edited_and_written(bench):
    path = bench.folder / "a.py"
    path.write_bytes(b"one = 1\r\ntwo = 2\r\n")
    edit = {"file_path": "a.py", "old_string": "two = 2", "new_string": "two = 3"}
    bench.model(
        call("Read", {"file_path": "a.py"}),
        call("Edit", edit),
        call("Write", {"file_path": "sub/b.py", "content": "new\n"}),
        call("Read", {"file_path": "a.py"}),
        text("Done."),
    )

    run = await bench.run(permission_mode="acceptEdits")

    assert path.read_bytes() == b"one = 1\r\ntwo = 3\r\n"
    assert (bench.folder / "sub/b.py").read_text() == "new\n"
    assert results(bench) == [
        "     1\tone = 1\n     2\ttwo = 2",
        f"Edited {path}: line 2.",
        f"Created {bench.folder / 'sub/b.py'}.",
        "     1\tone = 1\n     2\ttwo = 3",
    ]
    assert [event.line for event in run.of("tool_start")] == [
        "Read a.py",
        "Edit a.py",
        "Write sub/b.py",
        "Read a.py",
    ]
    assert ended(run)[1]["structuredPatch"] == [
        {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" one = 1", "-two = 2", "+two = 3"]}
    ]


async def test_a_second_look_at_an_unchanged_file_costs_next_to_nothing(bench):
    (bench.folder / "a.txt").write_text("alpha\n" * 500)
    bench.model(call("Read", {"file_path": "a.txt"}), call("Read", {"file_path": "a.txt"}), text("Done."))

    run = await bench.run()

    assert [form["type"] for form in ended(run)] == ["text", "file_unchanged"]
    assert len(results(bench)[1]) < 200


async def test_pictures_and_documents_pass_the_rules_of_the_api(bench):
    (bench.folder / "large.png").write_bytes(png(2_000))
    pages = [Image.new("RGB", (200, 300), "white") for _ in range(12)]
    pages[0].save(bench.folder / "long.pdf", save_all=True, append_images=pages[1:])
    pages[0].save(bench.folder / "short.pdf")
    bench.model(
        calls(
            ("Read", {"file_path": "large.png"}),
            ("Read", {"file_path": "short.pdf"}),
            ("Read", {"file_path": "long.pdf", "pages": "2-3"}),
            ("Read", {"file_path": "long.pdf"}),
        ),
        text("Done."),
    )

    run = await bench.run()

    large, short, part, whole = results(bench)
    assert [block["type"] for block in large] == ["image", "text"]
    assert max(Image.open(io.BytesIO(base64.b64decode(large[0]["source"]["data"]))).size) == 1_568
    assert [block["type"] for block in short] == ["document"]
    assert [block["type"] for block in part] == ["text", "image"] * 2
    assert "has 12 pages" in whole
    # Readers run together, and end as they can.
    assert {form["type"] for form in ended(run) if form} == {"image", "pdf", "parts"}


async def test_a_notebook_is_read_and_changed(bench):
    cell = {"cell_type": "code", "id": "a1", "metadata": {}, "execution_count": 1, "outputs": [], "source": ["1 + 1"]}
    path = bench.folder / "n.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    change = {"notebook_path": "n.ipynb", "cell_id": "a1", "new_source": "2 + 2"}
    bench.model(call("Read", {"file_path": "n.ipynb"}), call("NotebookEdit", change), text("Done."))

    run = await bench.run(permission_mode="acceptEdits")

    assert json.loads(path.read_text())["cells"] == [cell | {"source": ["2 + 2"], "execution_count": None}]
    assert results(bench)[1] == f"Replaced cell a1 in {path}."
    assert (ended(run)[1]["old_source"], ended(run)[1]["new_source"]) == ("1 + 1", "2 + 2")


@pytest.mark.parametrize(
    ("tool", "fields", "said"),
    [
        ("Read", {"file_path": "nothing.txt"}, "nothing.txt does not exist. Did you mean"),
        ("Read", {"file_path": "."}, "is a folder"),
        ("Read", {"file_path": "program"}, "is a binary file (it seems to be a Linux program or library)"),
        ("Edit", {"file_path": "nothing.md", "old_string": "a", "new_string": "b"}, "has not been read"),
        ("Write", {"file_path": "nothing.md", "content": "b"}, "has not been read"),
    ],
)
async def test_what_cannot_be_done_is_an_error_result_that_helps(bench, tool, fields, said):
    (bench.folder / "nothing.md").write_text("a\n")
    (bench.folder / "program").write_bytes(b"\x7fELF\0")
    bench.model(call(tool, fields), text("I see."))

    run = await bench.run(permission_mode="acceptEdits")

    assert said in results(bench)[0]
    assert [event.is_error for event in run.of("tool_end")] == [True]
    assert (bench.folder / "nothing.md").read_text() == "a\n"
