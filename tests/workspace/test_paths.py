"""A path given by the model leads where the kernel says, and nowhere else."""

import pytest

from everturn.core.errors import ToolFault
from everturn.workspace.paths import is_inside, locate, near_names, shorten


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "project"
    (place / "src").mkdir(parents=True)
    (tmp_path / "elsewhere/sub").mkdir(parents=True)
    (place / "out").symlink_to(tmp_path / "elsewhere/sub")
    return place


@pytest.mark.parametrize(
    ("given", "inside"),
    [
        (".", True),
        ("src/a.py", True),
        ("src/../b", True),
        ("src/../../b", False),
        ("out/x", False),
        ("out/../x", False),
        ("../project-evil/x", False),
        ("/etc/passwd", False),
        ("~/.ssh/id_rsa", False),
        ("~nobody-here/x", True),
        ("$HOME/x", True),
        ("new/folder/x", True),
    ],
)
def test_links_and_dots_are_followed_before_a_place_is_judged(folder, given, inside):
    assert is_inside(str(folder), locate(str(folder), given)) is inside


def test_everything_is_inside_the_root():
    assert is_inside("/", "/etc") is True


def test_places_inside_are_named_briefly(folder):
    assert shorten(str(folder), str(folder / "src/a.py")) == "src/a.py"
    assert shorten(str(folder), "/etc/passwd") == "/etc/passwd"
    assert shorten(str(folder), str(folder)) == str(folder)


@pytest.mark.parametrize("given", ["a\0b", "\ud800"])
def test_what_cannot_be_a_path_is_a_clean_error(folder, given):
    with pytest.raises(ToolFault, match="cannot be a path"):
        locate(str(folder), given)


def test_near_names_are_found_whatever_their_case(folder):
    (folder / "README.md").touch()

    assert near_names(str(folder / "readme.txt")) == (str(folder / "README.md"),)
    assert near_names(str(folder / "nowhere/readme.txt")) == ()
