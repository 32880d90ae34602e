"""The number of changed files of a repository, counted by git beside the start. The prompt has it only if it is known in time."""

import os
import stat
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from everturn.workspace.git_branch import find_git
from everturn.workspace.load_paths import list_libraries
from everturn.workspace.programs import clean_path, find_program

COMMAND = ("--no-optional-locks", "status", "--porcelain", "--no-renames", "--ignore-submodules=all", "-z")
"""Submodules have settings of their own, which nobody has looked at."""
MAX_BYTES = 60_000
"""Of git's answer, which is as much as a pipe holds: a longer one is not waited for."""
_SETTLED = {
    "GIT_TERMINAL_PROMPT": "0",
    # What is missing is not fetched.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
}


class GitCount:
    """Only for a folder that the user has trusted. Never raises, never waits.

    Nothing of the repository runs: where its settings are not all harmless, git is not started.
    """

    def __init__(self, folder: str, env: Mapping[str, str]) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError, ValueError):
            self._process = _start(folder, env)

    @property
    def has_begun(self) -> bool:
        """And nobody has asked yet."""
        return self._process is not None

    @property
    def is_ready(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def take(self) -> int | None:
        """What it has counted; None where it is not ready, or has failed. It is asked once."""
        process, self._process = self._process, None
        if process is None or process.stdout is None:
            return None
        with process.stdout as answer:
            if process.poll() is None:
                process.kill()
                process.wait()
                return None
            listed = os.read(answer.fileno(), MAX_BYTES + 1)
        return listed.count(b"\0") if process.returncode == 0 else None

    def close(self) -> None:
        self.take()


def _start(folder: str, env: Mapping[str, str]) -> "subprocess.Popen[bytes] | None":
    """None where git would run something of the repository. Raises `OSError` and `ValueError`."""
    found, path = find_git(Path(folder)), env.get("PATH", os.defpath)
    program = find_program("git", (folder,), path) if found is not None else ""
    if found is None or not program or not _is_harmless(found[1]):
        return None
    tree, git = found
    # What was looked at is what git reads: it finds no other repository.
    return subprocess.Popen(
        (program, f"--git-dir={git}", f"--work-tree={tree}", *COMMAND),
        cwd=folder,
        env={**_choose_variables(env, folder), **_SETTLED, "PATH": clean_path(path, (folder,))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _choose_variables(env: Mapping[str, str], folder: str) -> dict[str, str]:
    """Without those that lead git or its libraries elsewhere."""
    kept = {name: value for name, value in env.items() if not name.startswith(("GIT_", "LD_", "DYLD_"))}
    return kept | list_libraries((folder,))


def _is_harmless(git: str) -> bool:
    """All settings of the repository, as git finds them. Raises `OSError` and `ValueError`."""
    from everturn.workspace.git_settings import MAX_BYTES as MAX_SETTINGS
    from everturn.workspace.git_settings import is_harmless

    common = os.path.normpath(os.path.join(git, _read(f"{git}/commondir", MAX_SETTINGS).decode().strip()))  # noqa: PTH118
    places = dict.fromkeys(f"{folder}/{name}" for folder in (common, git) for name in ("config", "config.worktree"))
    return all(is_harmless(_read(place, MAX_SETTINGS + 1)) for place in places)


def _read(path: str, most: int) -> bytes:
    """Empty where there is nothing. Raises `OSError`, also for what is no plain file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no plain file")
        return file.read(most)
