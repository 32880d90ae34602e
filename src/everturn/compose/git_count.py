"""How many files of a repository are changed, counted by git beside the start: whoever asks takes the answer, or does without."""

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from everturn.sessions.branch import load_branch
from everturn.settings.setup import Setup

COMMAND = ("git", "--no-optional-locks", "status", "--porcelain", "--no-renames", "-z")
MOST_BYTES = 60_000
"""Of git's answer, which is as much as a pipe holds: a longer one is not waited for."""


class GitCount:
    """Only for a folder that the user has trusted: its settings may have git run programs. Never raises, never waits."""

    def __init__(self, folder: str, env: Mapping[str, str]) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError, ValueError):
            self._process = subprocess.Popen(
                COMMAND,
                cwd=folder,
                env={**env, "GIT_TERMINAL_PROMPT": "0"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

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
            listed = os.read(answer.fileno(), MOST_BYTES + 1)
        return listed.count(b"\0") if process.returncode == 0 else None

    def close(self) -> None:
        self.take()


def begin_count(setup: Setup, env: Mapping[str, str]) -> GitCount | None:
    """For a new session in a folder that the user has trusted; a resumed one was told."""
    options = setup.options
    resumes = options.continue_conversation or options.resume is not None
    if not setup.trusted or resumes or not options.environment or not load_branch(setup.folder):
        return None
    return GitCount(str(setup.folder), env)
