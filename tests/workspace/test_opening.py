"""A path is walked name by name, and what it led to stays held, whatever happens to the path."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import ToolFault
from everturn.workspace.opening import MAX_LINKS, open_for_reading, open_in, open_place


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "folder"
    (place / "deep/er").mkdir(parents=True)
    (place / "deep/er/file").write_text("text")
    return place


def read(path):
    with open_for_reading(str(path)) as file:
        return file.path, os.pread(file.descriptor, 100, 0)


@pytest.mark.parametrize(
    "path", ["deep/er/file", "deep/../deep/er/./file", "deep//er///file", "up/file", "alias", "round/deep/er/file"]
)
def test_the_path_that_is_told_is_the_real_one(folder, path):
    (folder / "up").symlink_to("deep/er")
    (folder / "alias").symlink_to(folder / "up/file")
    (folder / "round").symlink_to("deep/..")

    assert read(folder / path) == (str(folder / "deep/er/file"), b"text")


NAMES = st.sampled_from(["deep", "er", "file", "up", "top", "..", ".", "nothing", "loop"])


@settings(max_examples=200, deadline=None)
@given(names=st.lists(NAMES, max_size=7))
def test_a_path_leads_where_the_system_says(tmp_path_factory, names):
    folder = tmp_path_factory.getbasetemp().resolve() / "walked"
    if not folder.exists():
        (folder / "deep/er").mkdir(parents=True)
        (folder / "deep/er/file").write_text("text")
        (folder / "up").symlink_to("deep/er")
        (folder / "deep/top").symlink_to(folder)
        (folder / "loop").symlink_to("loop")
    path = "/".join([str(folder), *names])

    try:
        found = os.path.realpath(path, strict=True)
    except OSError:
        found = None
    try:
        with open_place(path) as place:
            walked = place.path if os.stat(place.name, dir_fd=place.folder) else None
    except (ToolFault, OSError):
        walked = None

    assert walked == found


def test_a_loop_of_links_ends(folder):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")

    with pytest.raises(ToolFault, match="Too many levels of symbolic links"):
        read(folder / "a")


def test_as_many_links_are_followed_as_the_system_follows(folder):
    (folder / "0").write_text("end")
    for number in range(MAX_LINKS + 1):
        (folder / str(number + 1)).symlink_to(str(number))

    assert read(folder / str(MAX_LINKS)) == (str(folder / "0"), b"end")
    with pytest.raises(ToolFault, match="Too many levels"):
        read(folder / str(MAX_LINKS + 1))


def test_a_folder_moved_and_replaced_meanwhile_stays_the_one_that_was_found(folder):
    with open_place(str(folder / "deep/er/file")) as place:
        (folder / "deep/er").rename(folder / "moved")
        (folder / "deep/er").mkdir()
        (folder / "deep/er/file").write_text("false")
        with open_in(place) as file:
            assert os.pread(file.descriptor, 100, 0) == b"text"


def test_a_file_swapped_for_a_link_meanwhile_is_not_opened(folder):
    with open_place(str(folder / "deep/er/file")) as place:
        (folder / "deep/er/file").unlink()
        (folder / "deep/er/file").symlink_to("/etc/hostname")
        with pytest.raises(ToolFault, match="it is a link now"), open_in(place):
            pass


def test_missing_folders_are_made_where_links_lead(folder):
    (folder / "there").symlink_to("deep/new")

    with open_place(str(folder / "there/below/file"), make_folders=True) as place:
        assert place.path == str(folder / "deep/new/below/file")

    assert (folder / "deep/new/below").is_dir()


@pytest.mark.parametrize("path", ["/proc/self/status", "/proc/self/mem", "/proc/self/cwd/../environ", "/dev/full"])
def test_what_no_disk_holds_is_refused(path):
    with pytest.raises(ToolFault):
        read(path)


def test_no_descriptor_is_left_open(folder):
    (folder / "loop").symlink_to("loop")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count

    for name in ("deep/er/file", "deep", "nothing/at/all", "loop", "deep/er/file/below"):
        try:
            read(folder / name)
        except ToolFault:
            continue

    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - a count


def test_a_path_that_is_not_absolute_is_no_place():
    with pytest.raises(ToolFault, match="it is not absolute"):
        read("here/and/now")
