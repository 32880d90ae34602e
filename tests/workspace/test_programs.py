"""Programs of our own are found by whole paths, and never where somebody works."""

import os

import pytest

from everturn.workspace.programs import find_local, find_program


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
