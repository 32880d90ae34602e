"""Git's settings that somebody outside has replaced while a command ran: the mount over them is gone then, and the command could write them.

Git itself replaces the file when the person sets something (`git push -u`). What they set stays, unless it could run a program: nobody
can tell whose that is.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from everturn.core.git_config import MAX_CONFIG, UnclearError, parse_config
from everturn.sandbox.aside import Aside
from everturn.sandbox.beneath import NEW, find_status, open_file, open_straight
from everturn.workspace.git_settings import is_harmless_setting

_NAMES = ("config", "config.worktree")


class _Settings(msgspec.Struct, frozen=True):
    mode: int
    content: bytes


class Replaced:
    """One per session."""

    def __init__(self) -> None:
        self._seen: dict[str, _Settings] = {}

    def begin(self, covered: Iterable[str], *, is_first: bool) -> None:
        """Before a command. `is_first`: no other runs, whose changes these could be."""
        if is_first:
            self._seen.clear()
        for path in covered:
            if path.rpartition("/")[2] in _NAMES and path not in self._seen and (found := _read(path)) is not None:
                self._seen[path] = found

    def end(self, aside: Aside) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """When nothing of a command runs any more: what was put back, and what could not be."""
        changed, lost = [], []
        for path, before in self._seen.items():
            now = _read(path)
            # By content: a new file may get the number of the one before.
            if now is not None and (now == before or _adds_nothing(before.content, now.content)):
                continue
            changed.append(path)
            try:
                _put_back(path, before, aside)
            except OSError:
                lost.append(path)
        return tuple(changed), tuple(lost)


def _adds_nothing(before: bytes, now: bytes) -> bool:
    """That could run something."""
    try:
        known = set(parse_config(before))
        return all(setting in known or is_harmless_setting(setting) for setting in parse_config(now))
    except UnclearError:
        return False


def _read(path: str) -> _Settings | None:
    """None where there is no file without a link on the way."""
    folder, _, name = path.rpartition("/")
    with suppress(OSError):
        opened = open_straight(folder)
        try:
            status = find_status(opened, name)
            if status is None or not stat.S_ISREG(status.st_mode):
                return None
            file = open_file(opened, name, status)
            try:
                content = os.read(file, MAX_CONFIG + 1)
            finally:
                os.close(file)
            return _Settings(stat.S_IMODE(status.st_mode), content)
        finally:
            os.close(opened)
    return None


def _put_back(path: str, before: _Settings, aside: Aside) -> None:
    """Raises `OSError`."""
    if len(before.content) > MAX_CONFIG:
        raise OSError("too large to be remembered")
    folder, _, name = path.rpartition("/")
    opened = open_straight(folder)
    try:
        aside.take(opened, name)
        file = os.open(name, NEW, before.mode, dir_fd=opened)
        try:
            os.write(file, before.content)
        finally:
            os.close(file)
    finally:
        os.close(opened)
