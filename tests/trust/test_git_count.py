"""Git is run to count changed files in a trusted folder only: settings of a repository may have it run programs."""

import os

import pytest

from everturn.workspace.git_count import COMMAND

FAKE = "#!/bin/sh\necho \"$@\" >> {mark}\nprintf '?? a\\0 M b\\0'\n"


@pytest.fixture
def mark(program, tmp_path):
    """A file that a git of our own writes when it is run."""
    place = tmp_path / "programs"
    place.mkdir()
    (place / "git").write_text(FAKE.format(mark=tmp_path / "mark"))
    (place / "git").chmod(0o755)
    program.env["PATH"] = f"{place}:{os.environ['PATH']}"
    (program.folder / ".git").mkdir()
    (program.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return tmp_path / "mark"


def environment(program):
    return program.requests[-1].body["system"][-1]["text"].splitlines()


async def test_before_trust_git_is_not_run(program, mark):
    await program.run("-p", "Hello?")
    await program.run("prompt")

    assert "git: branch main" in environment(program)
    assert not mark.exists()


async def test_in_a_trusted_folder_it_only_looks_and_only_once_in_a_session(program, mark):
    program.model("Hello.", "Hello.")
    await program.run("-p", "Hello?", "--trust")
    await program.run("-p", "And now?", "--trust", "--continue")

    assert set(environment(program)) & {"git: branch main", "trusted by the user: yes"} == {
        "git: branch main",
        "trusted by the user: yes",
    }
    # Where it was not ready in time it may have been ended before its first word.
    ran = mark.read_text().splitlines() if mark.exists() else []
    place = f"--git-dir={program.folder}/.git --work-tree={program.folder}"
    assert ran in ([], [f"{place} {' '.join(COMMAND)}"])


async def test_a_folder_that_is_no_repository_needs_no_git(program, mark):
    (program.folder / ".git" / "HEAD").unlink()

    await program.run("-p", "Hello?", "--trust")

    assert "git: not a repository" in environment(program)
    assert not mark.exists()
