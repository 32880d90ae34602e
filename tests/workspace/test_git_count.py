"""Git counts changed files by itself: it is the machine's git, and runs nothing that the repository names."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.tools.processes import until

from everturn.workspace.git_count import GitCount

CANARY = "#!/bin/sh\ntouch {mark}\n"
CONFIGS = {
    "a watcher": "[core]\n\tfsmonitor = ./canary\n",
    "a filter": '[filter "evil"]\n\tclean = ./canary\n',
    "a filter of another file": "[include]\n\tpath = ../evil\n",
    "a name that git reads otherwise": '[filter "evil"]\r\n\tclean = ./canary\n',
    "another working tree": "[core]\n\tworktree = ..\n",
}


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("a\n")
    (folder / ".gitattributes").write_text("*.txt filter=evil\n")
    run(folder, "add", ".")
    run(folder, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "a")
    (folder / "a.txt").write_text("b\n")
    (folder / "evil").write_text('[filter "evil"]\n\tclean = ./canary\n')
    for name in ("git", "canary"):
        (folder / name).write_text(CANARY.format(mark=tmp_path / "mark"))
        (folder / name).chmod(0o755)
    return folder


def run(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


async def count(folder, **env):
    counting = GitCount(str(folder), {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **env})
    await until(lambda: counting.is_ready or not counting.has_begun)
    return counting.take()


async def test_it_counts_changed_and_new_files_from_any_folder_inside(repository):
    (repository / "deep").mkdir()

    assert await count(repository) == await count(repository / "deep") == 4


async def test_of_another_working_tree_too(repository, tmp_path):
    run(repository, "worktree", "add", "-q", str(tmp_path / "other"))
    (tmp_path / "other" / "new.txt").write_text("new\n")

    assert await count(tmp_path / "other") == 1


@pytest.mark.parametrize("entry", [".", "", "{folder}", "{folder}/../repository", "repository"])
async def test_a_git_of_the_folder_is_not_run_wherever_the_path_leads(repository, tmp_path, entry):
    path = os.pathsep.join((entry.format(folder=repository), os.environ["PATH"]))

    assert await count(repository, PATH=path) == 4
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("place", [".git/config", ".git/config.worktree"])
async def test_where_the_settings_may_run_something_git_is_not_started(repository, tmp_path, config, place):
    with (repository / place).open("a") as file:
        file.write(config)

    assert await count(repository) is None
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "put", [os.mkfifo, os.mkdir, lambda path: Path(path).symlink_to(path)], ids=["pipe", "folder", "loop"]
)
async def test_settings_that_are_no_plain_file_are_not_waited_for(repository, put):
    (repository / ".git/config").unlink()
    put(repository / ".git/config")

    assert await count(repository) is None


async def test_variables_that_lead_git_elsewhere_do_not_count(repository, tmp_path):
    odd = {
        "GIT_DIR": str(tmp_path / "nowhere"),
        "GIT_CONFIG_PARAMETERS": "'core.fsmonitor=./canary'",
        "GIT_EXEC_PATH": str(repository),
        "LD_LIBRARY_PATH": str(repository),
    }

    assert await count(repository, **odd) == 4
    assert not (tmp_path / "mark").exists()
