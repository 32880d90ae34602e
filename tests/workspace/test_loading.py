"""Where our own processes load modules and libraries from."""

import subprocess
import sys
from pathlib import Path

import pytest

import everturn
from everturn.workspace.load_paths import CHILD, encode_child, list_libraries, list_module_folders


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project/.git").mkdir(parents=True)
    (tmp_path / "project/src").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "project/src")
    return tmp_path / "project"


def test_entries_in_a_working_folder_are_left_out_by_links_and_in_the_repository_around_it_too(project):
    usual = [entry for entry in sys.path if entry.startswith(sys.base_prefix)]
    entries = ["", ".", "src", str(project), str(project / "src"), str(project.parent / "link")]

    kept = list_module_folders((str(project / "src"),), [*entries, str(project.parent / "outside"), *usual])

    assert kept == [str(project.parent / "outside"), *usual]


def test_the_own_interpreter_may_lie_in_a_working_folder():
    """As a virtual environment of the project: its files are protected paths."""
    around, inside = str(Path(sys.prefix).parent), f"{sys.prefix}/lib/somewhere"

    assert list_module_folders((around,), [f"{around}/src", inside]) == [inside]


def test_libraries_of_a_working_folder_are_left_out(project, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", f":/opt/lib:{project}/lib:lib:.:")

    assert list_libraries((str(project),)) == {"LD_LIBRARY_PATH": "/opt/lib"}


def test_where_nothing_is_left_there_is_no_variable(project, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", ":")

    assert list_libraries((str(project),)) == {}


def test_a_child_finds_our_package_and_nothing_beside_it():
    code = f"{CHILD}import everturn.core.marks, sys, os\nprint(os.path.dirname(os.path.dirname(everturn.__file__)) in sys.path)"

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, encode_child((str(Path(everturn.__file__).parents[1]),))],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "False\n"
