"""Read: what the model sees of a file, and what is remembered of it."""

import os

import pytest

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.files import FileState
from everturn.ports.tool import ToolResult
from everturn.tools.read import read_tool
from everturn.tools.result_types import FilePage, TextShown
from everturn.workspace.files import read_file


async def test_lines_are_numbered_and_the_file_is_remembered_whole(desk):
    path = desk.write("a.txt", "one\ntwo\n")

    result = await desk.use(read_tool(), file_path="a.txt")

    page = FilePage(file_path=str(path), content="one\ntwo", num_lines=2, start_line=1, total_lines=2)
    told = "     1\tone\n     2\ttwo"
    assert result == ToolResult(content=told, shown=TextShown(file=page), files=(str(path),))
    assert desk.context.files.get(str(path)) == FileState(stamp=read_file(str(path)).stamp, shown=True)


async def test_the_public_form_has_the_names_that_scripts_know(desk, shown):
    path = desk.write("a.txt", "one\n")

    result = await desk.use(read_tool(), file_path=str(path))

    assert shown(result) == {
        "type": "text",
        "file": {"filePath": str(path), "content": "one", "numLines": 1, "startLine": 1, "totalLines": 1},
    }


async def test_a_part_is_remembered_as_a_part_and_says_how_to_go_on(desk):
    path = desk.write("a.txt", "".join(f"line {n}\n" for n in range(1, 11)))

    result = await desk.use(read_tool(), file_path="a.txt", offset=3, limit=2)

    assert result.content == "     3\tline 3\n     4\tline 4\n\n(Lines 3 to 4 of 10. Go on with offset=5.)"
    assert desk.context.files.get(str(path)).partial is True


async def test_a_part_after_the_whole_does_not_forget_the_whole(desk):
    path = desk.write("a.txt", "one\ntwo\n")
    tool = read_tool()
    await desk.use(tool, file_path="a.txt")

    await desk.use(tool, file_path="a.txt", limit=1)

    assert desk.context.files.get(str(path)).partial is False


async def test_an_unchanged_file_is_not_shown_twice(desk, shown):
    path = desk.write("a.txt", "one\n")
    tool = read_tool()
    await desk.use(tool, file_path="a.txt")

    again = await desk.use(tool, file_path="a.txt")

    assert again.content.startswith("(Unchanged since you last read it")
    assert shown(again) == {"type": "file_unchanged", "file": {"filePath": str(path)}}


async def test_an_unchanged_file_is_shown_again_when_the_engine_forgot_it(desk):
    path = desk.write("a.txt", "one\n")
    tool = read_tool()
    await desk.use(tool, file_path="a.txt")
    desk.context.files.forget(str(path))

    assert (await desk.use(tool, file_path="a.txt")).content == "     1\tone"


async def test_a_file_that_was_only_written_is_shown(desk):
    path = desk.write("a.txt", "one\n")
    desk.context.files.remember(str(path), FileState(stamp=read_file(str(path)).stamp))

    assert (await desk.use(read_tool(), file_path="a.txt")).content == "     1\tone"


async def test_a_changed_file_is_shown_again(desk):
    path = desk.write("a.txt", "one\n")
    tool = read_tool()
    await desk.use(tool, file_path="a.txt")
    path.write_text("two\n")

    assert (await desk.use(tool, file_path="a.txt")).content == "     1\ttwo"


@pytest.mark.parametrize(
    ("content", "offset", "text"),
    [
        ("", 1, "(The file exists and is empty.)"),
        ("one\ntwo\n", 5, "(The file has 2 lines; line 5 is past its end.)"),
    ],
)
async def test_nothing_to_show_is_said(desk, content, offset, text):
    desk.write("a.txt", content)

    assert (await desk.use(read_tool(), file_path="a.txt", offset=offset)).content == text


async def test_a_long_line_is_cut_and_the_file_counts_as_partly_read(desk):
    path = desk.write("a.txt", "x" * 3_000)

    result = await desk.use(read_tool(), file_path="a.txt")

    assert result.content == f"     1\t{'x' * 2_000}… (line cut, 3,000 characters in all)"
    assert desk.context.files.get(str(path)).partial is True


async def test_a_page_is_full_before_it_outgrows_what_the_engine_lets_through(desk, shown):
    path = desk.write("a.txt", ("y" * 1_500 + "\n") * 500)
    tool = read_tool()

    result = await desk.use(tool, file_path="a.txt")

    assert len(result.content) <= tool.result_limit
    assert result.content.endswith(
        "(PARTIAL view: the page is full. Lines 1 to 49 of 500. Go on with offset=50 and limit=49.)"
    )
    assert shown(result)["file"]["truncatedByTokenCap"] is True
    assert desk.context.files.get(str(path)).partial is True


async def test_the_token_cap_can_be_set(desk):
    desk.write("a.txt", "12345678\n" * 10)

    result = await desk.use(read_tool(most_tokens=9), file_path="a.txt")

    assert result.content.endswith("Lines 1 to 3 of 10. Go on with offset=4 and limit=3.)")


@pytest.mark.parametrize(
    ("fields", "asked", "fits"),
    [
        ({"limit": 5}, "5 lines from line 1 on", "offset=1 and limit=3 fit, then offset=4"),
        ({"offset": 4}, "2,000 lines from line 4 on", "offset=4 and limit=3 fit, then offset=7"),
        ({"offset": 4, "limit": 4}, "4 lines from line 4 on", "offset=4 and limit=3 fit, then offset=7"),
    ],
)
async def test_a_chosen_part_beyond_the_cap_is_refused_with_one_that_fits(desk, fields, asked, fits):
    path = desk.write("a.txt", "12345678\n" * 10)
    tool = read_tool(most_tokens=9)

    with pytest.raises(ToolFault) as fault:
        await desk.use(tool, file_path="a.txt", **fields)

    assert str(fault.value) == (
        f"The part that was asked for ({asked}) is more than 9 tokens. Page through it: {fits}. "
        "Or find the place with Grep."
    )
    assert desk.context.files.get(str(path)) is None
    assert (await desk.use(tool, file_path="a.txt", offset=4, limit=3)).content.startswith("     4\t12345678\n")


async def test_a_nul_far_into_a_text_is_shown_as_a_sign_and_the_file_counts_as_partly_read(desk, shown):
    lines = [f"line {number}" for number in range(1_000)]
    path = desk.write("a.log", "\n".join([*lines, "torn \0\0 line"]))

    result = await desk.use(read_tool(), file_path="a.log")

    assert result.content.endswith("  1001\ttorn ␀␀ line\n\n(The file has NUL bytes, shown as ␀: it may be no text.)")
    assert "\0" not in result.content
    assert shown(result)["file"]["content"].endswith("torn \0\0 line")
    assert desk.context.files.get(str(path)).partial is True


async def test_a_touched_file_is_unchanged_still(desk):
    path = desk.write("a.txt", "one\n")
    tool = read_tool()
    await desk.use(tool, file_path="a.txt")
    os.utime(path, (1, 1))

    assert (await desk.use(tool, file_path="a.txt")).content.startswith("(Unchanged")


async def test_a_link_and_its_target_are_one_file(desk):
    path = desk.write("a.txt", "one\n")
    (desk.folder / "link").symlink_to("a.txt")

    await desk.use(read_tool(), file_path="link")

    assert [name for name, _ in desk.context.files] == [str(path)]


async def test_a_wrong_name_brings_the_near_ones(desk):
    path = desk.write("settings.py", "x")

    with pytest.raises(ToolFault) as fault:
        await desk.use(read_tool(), file_path="setting.py")

    assert str(fault.value) == f"{desk.folder}/setting.py does not exist. Did you mean {path}?"


@pytest.mark.parametrize(
    ("given", "meant"),
    [("src/app.ts", "src/app.tsx"), ("src/APP.tsx", "src/app.tsx"), ("/src/app.tsx", "src/app.tsx"),
     ("project/src/app.tsx", "src/app.tsx"), ("src/ap.tsx", "src/app.tsx")],
)  # fmt: skip
async def test_a_path_that_does_not_exist_brings_the_one_that_was_meant(desk, given, meant):
    desk.write("src/app.tsx", "x")

    with pytest.raises(ToolFault, match=f"does not exist. Did you mean {desk.folder}/{meant}"):
        await desk.use(read_tool(), file_path=given)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\2\1\1\0", r" \(it seems to be a Linux program or library\)"),
        (b"PK\x03\x04\0\0", r" \(it seems to be a zip archive, an Office document or a jar\)"),
        (b"SQLite format 3\0", r" \(it seems to be an SQLite database\)"),
        (b"\0" * 257 + b"ustar", r" \(it seems to be a tar archive\)"),
        (b"what\0ever", ""),
    ],
)
async def test_a_binary_file_is_refused_with_what_it_seems_to_be(desk, data, kind):
    desk.write("thing", data)

    with pytest.raises(ToolFault, match=f"thing is a binary file{kind}\\. Look into it"):
        await desk.use(read_tool(), file_path="thing")


async def test_pages_of_what_is_no_pdf_are_refused(desk):
    desk.write("a.txt", "one\n")

    with pytest.raises(InputFault, match="`pages`: expected only for a PDF"):
        await desk.use(read_tool(), file_path="a.txt", pages="1")


async def test_an_interrupted_reading_ends(desk):
    desk.write("a.txt", "one\n")
    desk.abort.abort()

    with pytest.raises(ToolFault, match="interrupted"):
        await desk.use(read_tool(), file_path="a.txt")
