"""Write and Edit: nothing is overwritten that the model has not seen as it is."""

import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.files import FileState
from everturn.tools.edit.tool import edit_tool
from everturn.tools.patch import plan_patch
from everturn.tools.read import read_tool
from everturn.tools.write import write_tool
from everturn.workspace.files import read_file

EDIT = edit_tool()
WRITE = write_tool()


async def read(desk, name, **fields):
    await desk.use(read_tool(), file_path=name, **fields)


async def test_a_new_file_is_made_with_its_folders(desk, shown):
    result = await desk.use(WRITE, file_path="x/y/new.txt", content="hello\n")

    path = desk.folder / "x/y/new.txt"
    assert path.read_text() == "hello\n"
    assert result.content == f"Created {path}."
    assert shown(result) == {
        "type": "create",
        "filePath": str(path),
        "content": "hello\n",
        "structuredPatch": [],
        "originalFile": None,
    }


async def test_a_file_that_was_written_may_be_written_and_edited_again(desk):
    await desk.use(WRITE, file_path="a.txt", content="one\n")
    await desk.use(WRITE, file_path="a.txt", content="two\n")
    await desk.use(EDIT, file_path="a.txt", old_string="two", new_string="three")

    assert (desk.folder / "a.txt").read_text() == "three\n"


async def test_an_update_shows_the_patch(desk, shown):
    path = desk.write("a.txt", "one\ntwo\nthree\n")
    await read(desk, "a.txt")

    result = await desk.use(WRITE, file_path="a.txt", content="one\n2\nthree\n")

    assert result.content == f"Updated {path}."
    assert shown(result) == {
        "type": "update",
        "filePath": str(path),
        "content": "one\n2\nthree\n",
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3, "lines": [" one", "-two", "+2", " three"]}
        ],
        "originalFile": "one\ntwo\nthree\n",
    }


async def test_an_unread_file_is_not_overwritten(desk):
    path = desk.write("a.txt", "old")

    with pytest.raises(ToolFault, match="has not been read"):
        await desk.use(WRITE, file_path="a.txt", content="new")

    assert path.read_text() == "old"


async def test_a_partly_read_file_is_not_overwritten(desk):
    path = desk.write("a.txt", "one\ntwo\n")
    await read(desk, "a.txt", limit=1)

    with pytest.raises(ToolFault, match="Only a part"):
        await desk.use(WRITE, file_path="a.txt", content="new")

    assert path.read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("tool", "fields"), [(WRITE, {"content": "new"}), (EDIT, {"old_string": "two", "new_string": "new"})]
)
async def test_a_file_that_changed_since_is_left_alone(desk, tool, fields):
    path = desk.write("a.txt", "one")
    await read(desk, "a.txt")
    path.write_text("two")

    with pytest.raises(ToolFault, match="has changed on disk"):
        await desk.use(tool, file_path="a.txt", **fields)

    assert path.read_text() == "two"


async def test_a_file_that_was_only_touched_has_not_changed(desk):
    path = desk.write("a.txt", "one")
    await read(desk, "a.txt")
    os.utime(path, (1, 1))

    await desk.use(EDIT, file_path="a.txt", old_string="one", new_string="two")

    assert path.read_text() == "two"


async def test_a_deleted_file_cannot_be_edited(desk):
    path = desk.write("a.txt", "one")
    await read(desk, "a.txt")
    path.unlink()

    with pytest.raises(ToolFault, match="does not exist"):
        await desk.use(EDIT, file_path="a.txt", old_string="one", new_string="two")


async def test_an_edit_says_where_and_shows_what(desk, shown):
    path = desk.write("a.py", "def f():\n    return 1\n")
    await read(desk, "a.py")

    result = await desk.use(EDIT, file_path="a.py", old_string="return 1", new_string="return 2")

    assert result.content == f"Edited {path}: line 2."
    longer = await desk.use(EDIT, file_path="a.py", old_string="return 2", new_string="one = 1\n    return one\n")
    assert longer.content == f"Edited {path}: lines 2 to 3."
    form = shown(result)
    assert {key: form[key] for key in form if key != "structuredPatch"} == {
        "filePath": str(path),
        "oldString": "return 1",
        "newString": "return 2",
        "originalFile": "def f():\n    return 1\n",
        "userModified": False,
        "replaceAll": False,
    }
    assert desk.context.files.get(str(path)) == FileState(stamp=read_file(str(path)).stamp)


async def test_a_partly_read_file_may_be_edited_and_stays_partly_read(desk):
    path = desk.write("a.txt", "one\ntwo\n")
    await read(desk, "a.txt", limit=1)

    await desk.use(EDIT, file_path="a.txt", old_string="one", new_string="1")

    assert desk.context.files.get(str(path)).partial is True


@pytest.mark.parametrize(
    ("content", "fields", "text"),
    [
        ("a b a", {"old_string": "a", "new_string": "c"}, "`old_string` occurs 2 times (2 places, line 1)"),
        (
            "x\n" * 9,
            {"old_string": "x", "new_string": "y"},
            "`old_string` occurs 9 times (9 places, lines 1, 2, 3, 4, 5 and more)",
        ),
        (
            "def total(items):\n    pass\n",
            {"old_string": "def total(item):", "new_string": "x"},
            "does not occur in the file. The nearest text differs. From line 1 on the file has:\ndef total(items):\nCopy",
        ),
        (
            "abc",
            {"old_string": "zzzzzz", "new_string": "x"},
            "does not occur in the file. Nothing in the file is like it. Read it again",
        ),
    ],
)
async def test_an_edit_that_does_not_fit_says_why(desk, content, fields, text):
    path = desk.write("a.txt", content)
    await read(desk, "a.txt")

    with pytest.raises(ToolFault) as fault:
        await desk.use(EDIT, file_path="a.txt", **fields)

    assert text in str(fault.value)
    assert path.read_text() == content


async def test_an_edit_of_an_unread_file_is_refused(desk):
    desk.write("a.txt", "one")

    with pytest.raises(ToolFault, match="has not been read"):
        await desk.use(EDIT, file_path="a.txt", old_string="one", new_string="two")


async def test_an_edit_that_changes_nothing_is_refused(desk):
    with pytest.raises(InputFault, match="`new_string`: expected a text that differs"):
        await desk.use(EDIT, file_path="a.txt", old_string="one", new_string="one")


async def test_an_empty_old_text_is_refused(desk):
    with pytest.raises(InputFault, match="`old_string`"):
        await desk.use(EDIT, file_path="a.txt", old_string="", new_string="one")


async def test_all_occurrences_are_replaced_on_request(desk):
    path = desk.write("a.txt", "a b a\na")
    await read(desk, "a.txt")

    result = await desk.use(EDIT, file_path="a.txt", old_string="a", new_string="\\1", replace_all=True)

    assert path.read_text() == "\\1 b \\1\n\\1"
    assert result.content == f"Edited {path}: 3 places, lines 1, 2."


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nold\r\n", "a\nold", "a\nnew\nb", b"a\r\nnew\r\nb\r\n"),
        (b"a\r\nb\nold\r\n", "old", "new", b"a\r\nb\nnew\r\n"),
        (b"a\r\nb\nold\r\n", "b\nold", "b\nnew", b"a\r\nb\r\nnew\r\n"),
        (b"a\rold\r", "old", "new", b"a\rnew\r"),
        (b"old", "old", "new", b"new"),
        (b"\xef\xbb\xbfold\n", "old", "new", b"\xef\xbb\xbfnew\n"),
        ("é old\n".encode("latin-1"), "old", "ü", "é ü\n".encode("latin-1")),
        (b"\xff\xfe" + "old\r\n".encode("utf-16-le"), "old", "né", b"\xff\xfe" + "né\r\n".encode("utf-16-le")),
    ],
)
async def test_an_edit_keeps_encoding_mark_and_line_ends(desk, before, old, new, after):
    path = desk.write("a.txt", before)
    await read(desk, "a.txt")

    await desk.use(EDIT, file_path="a.txt", old_string=old, new_string=new)

    assert path.read_bytes() == after


async def test_a_character_that_the_encoding_lacks_is_refused(desk):
    path = desk.write("a.txt", "é\n".encode("latin-1"))
    await read(desk, "a.txt")

    with pytest.raises(ToolFault, match=r"latin-1, which cannot hold the character '→' \(U\+2192\)"):
        await desk.use(EDIT, file_path="a.txt", old_string="é", new_string="→")

    assert path.read_bytes() == "é\n".encode("latin-1")


async def test_a_link_stays_a_link_and_the_mode_stays(desk):
    path = desk.write("run.sh", "old\n")
    path.chmod(0o755)
    link = desk.folder / "link"
    link.symlink_to("run.sh")
    await read(desk, "link")

    await desk.use(WRITE, file_path="link", content="new\n")

    assert link.is_symlink()
    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert sorted(entry.name for entry in desk.folder.iterdir()) == ["link", "run.sh"]


@pytest.mark.parametrize("name", ["pipe", "folder", "file/below"])
async def test_what_is_no_file_is_not_written(desk, name):
    os.mkfifo(desk.folder / "pipe")
    (desk.folder / "folder").mkdir()
    desk.write("file", "x")

    with pytest.raises(ToolFault):
        await desk.use(WRITE, file_path=name, content="new")


def lines_of(text):
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def apply(before, hunks):
    lines = lines_of(before)
    for hunk in reversed(hunks):
        at = hunk.old_start - 1
        assert [line[1:] for line in hunk.lines if line[0] in " -"] == lines[at : at + hunk.old_lines]
        lines[at : at + hunk.old_lines] = [line[1:] for line in hunk.lines if line[0] in " +"]
    return lines


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "a b\x0cc"]), max_size=30).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(before=TEXTS, after=TEXTS)
def test_a_patch_turns_the_one_into_the_other(before, after):
    assert apply(before, plan_patch(before, after)) == lines_of(after)


@settings(max_examples=100, deadline=None)
@given(lead=TEXTS, before=TEXTS, after=TEXTS, trail=TEXTS)
def test_a_change_in_a_long_text_is_shown_where_it_is(lead, before, after, trail):
    one, other = (f"{lead}\n" * 5 + middle + f"\n{trail}" * 5 for middle in (before, after))
    hunks = plan_patch(one, other)

    assert apply(one, hunks) == lines_of(other)
    for hunk in hunks:
        new = [line[1:] for line in hunk.lines if line[0] in " +"]
        assert lines_of(other)[hunk.new_start - 1 :][: hunk.new_lines] == new


def test_a_change_of_everything_is_one_hunk():
    before, after = "a\n" * 5_000, "b\n" * 5_000

    [hunk] = plan_patch(before, after)

    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (1, 5_000, 1, 5_000)
