"""Real git in a throw-away home, which nothing of the machine's own settings reaches."""

import os
import subprocess
from pathlib import Path

PATIENCE_S = 120


def git_env(home: Path) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    names = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {
        **names,
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }


def run_git(folder: Path, *words: str, check: bool = True, stdin: str = "") -> str:
    """In a home beside the folder. Files may be fetched from, which submodules of a test need."""
    done = subprocess.run(
        ("git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *words),
        cwd=folder,
        env=git_env(folder.parent / "git-home"),
        input=stdin.encode(),
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert not check or done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "replace")


def make_repository(folder: Path, *words: str) -> Path:
    """With one commit of one file."""
    folder.mkdir(parents=True)
    run_git(folder, "init", "-q", *words)
    (folder / "file.txt").write_text("one\n")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-qm", "one")
    return folder


def add_worktree(repository: Path, place: Path) -> Path:
    run_git(repository, "worktree", "add", "-q", str(place))
    return place


def add_submodule(repository: Path, source: Path, name: str) -> Path:
    run_git(repository, "submodule", "--quiet", "add", str(source), name)
    run_git(repository, "commit", "-qm", "a repository inside")
    return repository / name
