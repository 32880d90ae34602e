"""Programs of our own are found by whole paths, and never where somebody works."""

import os

import pytest

from everturn.workspace.programs import clean_path, find_local, find_program, is_local


@pytest.fixture
def programs(tmp_path):
    """Of the system, and of the folder; a link outside leads into the folder."""
    for place in ("system", "folder/bin"):
        program = tmp_path / place / "tool"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (tmp_path / "linked").symlink_to(tmp_path / "folder" / "bin")
    return tmp_path


@pytest.mark.parametrize("first", ["", ".", "bin", "{0}/folder/bin", "{0}/linked", "{0}/system/../folder/bin"])
def test_no_entry_of_the_path_leads_into_the_folder(programs, first, monkeypatch):
    monkeypatch.chdir(programs / "folder")
    path = os.pathsep.join([first.format(programs), str(programs / "system")])

    assert find_program("tool", (str(programs / "folder"),), path) == f"{programs}/system/tool"
    assert find_local("tool", (str(programs / "folder"),), path)


def test_what_is_nowhere_else_is_not_found(programs, monkeypatch):
    folder = (str(programs / "folder"),)
    monkeypatch.setenv("PATH", str(programs / "system"))

    assert find_program("tool", folder, f"{programs}/folder/bin") == ""
    assert find_local("tool", folder, os.environ["PATH"]) == find_local("missing", folder, os.environ["PATH"]) == ""


def test_a_path_is_not_searched_for_and_is_none_of_the_folder_either(programs):
    system, own = f"{programs}/system/tool", f"{programs}/folder/bin/tool"
    folders = (str(programs / "folder"),)

    assert find_program(system, folders, "/usr/bin:/bin") == system
    assert [
        find_program(path, folders, "/usr/bin:/bin") for path in (own, f"{programs}/linked/tool", f"{system}2")
    ] == ["", "", ""]
    assert find_local(own, folders, "/usr/bin") == own
    assert find_local(system, folders, "/usr/bin") == ""


def test_what_lies_in_the_folder_or_nobody_knows_where_is_local(programs):
    folders = (str(programs / "folder"),)

    assert [
        is_local(path, folders) for path in ("tool", "./tool", f"{programs}/folder/bin/tool", f"{programs}/linked/tool")
    ] == [True] * 4
    assert not is_local(f"{programs}/system/tool", folders)


def test_of_a_path_the_entries_that_lie_elsewhere_stay(programs):
    path = f"{programs}/system::.:bin:{programs}/linked:{programs}/folder/bin:/usr/bin"

    assert clean_path(path, (str(programs / "folder"),)) == f"{programs}/system:/usr/bin"
    assert clean_path("bin", (str(programs / "folder"),)) == os.defpath
