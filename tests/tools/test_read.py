"""Read: what the model sees of a file, and what is remembered of it."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import ToolFault
from everturn.ports.files import FileState, Stamp
from everturn.ports.tool import ToolResult
from everturn.tools.read import plan_page, read_tool, split_lines
from everturn.tools.shown import FilePage, TextShown
from everturn.workspace.files import read_file
from everturn.workspace.text import FileText, Newline


async def test_lines_are_numbered_and_the_file_is_remembered_whole(desk):
    path = desk.write("a.txt", "one\ntwo\n")

    result = await desk.use(read_tool(), file_path="a.txt")

    page = FilePage(file_path=str(path), content="one\ntwo", num_lines=2, start_line=1, total_lines=2)
    assert result == ToolResult(content="     1\tone\n     2\ttwo", shown=TextShown(file=page))
    assert desk.context.files.get(str(path)) == FileState(stamp=read_file(str(path)).stamp)


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

    assert result.content == f"     1\t{'x' * 2_000}… (line cut)"
    assert desk.context.files.get(str(path)).partial is True


async def test_a_page_never_outgrows_what_the_engine_lets_through(desk):
    path = desk.write("a.txt", ("y" * 1_500 + "\n") * 500)
    tool = read_tool()

    result = await desk.use(tool, file_path="a.txt")

    assert len(result.content) <= tool.result_limit
    assert result.content.endswith("of 500. Go on with offset=66.)")
    assert desk.context.files.get(str(path)).partial is True


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


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8), max_size=40
    ),
    limit=st.integers(1, 7),
    ended=st.booleans(),
)
def test_paging_shows_every_line_once(lines, limit, ended):
    text = "\n".join(lines) + ("\n" if ended and lines else "")
    file = FileText(text=text, encoding="utf-8", newline=Newline.LF, stamp=Stamp(size=0, mtime_ns=0, digest=""))
    seen = []
    offset = 1
    while (page := plan_page(file, offset, limit)).count:
        rows = page.numbered.split("\n")
        seen += [row.split("\t", 1) for row in rows]
        offset += page.count

    expected = split_lines(text)
    assert [int(number) for number, _ in seen] == list(range(1, len(expected) + 1))
    assert [line for _, line in seen] == expected
    assert plan_page(file, 1, 1_000).whole is True
    assert msgspec.structs.asdict(plan_page(file, 1, 1_000))["total"] == len(expected)
