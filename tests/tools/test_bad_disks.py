"""Full and read-only disks: an error result, the old file intact, and nothing left beside it."""

import pytest
from tests.tools.disks import ROOM, locked_disk, small_disk

from everturn.core.errors import ToolFault
from everturn.tools.edit.tool import edit_tool
from everturn.tools.read import read_tool
from everturn.tools.write import write_tool

TOO_MUCH = "x" * (2 * ROOM)
CHANGES = [
    (write_tool, {"file_path": "disk/a.txt", "content": TOO_MUCH}),
    (write_tool, {"file_path": "disk/new.txt", "content": TOO_MUCH}),
    (write_tool, {"file_path": "disk/new/deep/b.txt", "content": TOO_MUCH}),
    (edit_tool, {"file_path": "disk/a.txt", "old_string": "old", "new_string": TOO_MUCH}),
]


@pytest.fixture
def disk(desk):
    folder = desk.folder / "disk"
    folder.mkdir()
    return folder


def contents(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("make", "fields"), CHANGES)
async def test_a_full_disk_is_an_error_and_everything_is_as_before(desk, disk, make, fields):
    with small_disk(disk):
        (disk / "a.txt").write_text("old")
        await desk.use(read_tool(), file_path="disk/a.txt")

        with pytest.raises(ToolFault, match=r"could not be written.*untouched"):
            await desk.use(make(), **fields)

        assert contents(disk) == {"a.txt": "old"}
        assert [path.name for path in disk.iterdir()] == ["a.txt"]
        await desk.use(write_tool(), file_path="disk/a.txt", content="new")
        assert contents(disk) == {"a.txt": "new"}


@pytest.mark.parametrize(("make", "fields"), CHANGES)
async def test_a_read_only_disk_is_an_error_and_everything_is_as_before(desk, disk, make, fields):
    with locked_disk(disk) as lock:
        (disk / "a.txt").write_text("old")
        await desk.use(read_tool(), file_path="disk/a.txt")
        lock()

        with pytest.raises(ToolFault, match=r"(?i)read-only|not allowed|permission"):
            await desk.use(make(), **fields)

        assert contents(disk) == {"a.txt": "old"}


async def test_folders_made_for_a_file_that_could_not_be_written_are_taken_away_again(desk):
    desk.write("kept/a.txt", "old")

    with pytest.raises(ToolFault):
        await desk.use(write_tool(), file_path="kept/new/deep/\ud800.txt", content="x")
    with pytest.raises(ToolFault):
        await desk.use(write_tool(), file_path=f"kept/new/{'n' * 300}/b.txt", content="x")
    with pytest.raises(ToolFault):
        await desk.use(write_tool(), file_path="kept/new/b.txt", content="\ud800")

    assert sorted(str(path.relative_to(desk.folder)) for path in desk.folder.rglob("*")) == ["kept", "kept/a.txt"]
