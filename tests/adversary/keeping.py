"""What is in folders, and what of it a command has changed that it may not."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from everturn.core.protected import AGENT_SETTINGS, MEMORY
from everturn.sandbox.placeholders import has_placeholder


def look_at(path):
    """Whatever is done to a file but reading moves the time that nobody can set."""
    status = os.lstat(path)
    target = os.readlink(path) if stat.S_ISLNK(status.st_mode) else ""  # noqa: PTH115 - paths as text
    return status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, status.st_ctime_ns, target


def take_picture(*tops):
    picture = {str(top): look_at(top) for top in tops}
    waiting = [str(top) for top in tops]
    while waiting:
        # Links are not followed, and what is no folder is none.
        with suppress(NotADirectoryError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                picture[entry.path] = look_at(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return picture


class Keeper:
    """Tells after each command what has changed that may not, and puts the working folder back as it was."""

    PROTECTED = (
        ".git/config",
        ".git/config.worktree",
        ".git/commondir",
        ".git/hooks",
        "nested/.git/config",
        "nested/.git/commondir",
        "nested/.git/hooks",
        *AGENT_SETTINGS,
        *MEMORY,
        ".vscode",
        ".bashrc",
        ".envrc",
        ".gitmodules",
    )
    """There or not: what is not must not appear."""

    def __init__(self, work, original, around, *, edits=False):
        """`edits`: every command is one."""
        self.edits = edits
        self.work, self.original = Path(work), Path(original)
        self.around = [Path(path) for path in around]
        self.before, self.held = take_picture(*self.around), self.look()

    def look(self):
        """Of folders only that they are there: what is beside the protected may come and go."""
        named = (self.work / name for name in self.PROTECTED)
        # An empty folder of ours stands for what is not there, and goes a moment after the command.
        there = [path for path in named if os.path.lexists(path) and not has_placeholder(str(path))]
        return {path: look[0] if stat.S_ISDIR(look[0]) else look for path, look in take_picture(*there).items()}

    def find_changes(self, *, edits):
        after = take_picture(*self.around)
        changed = compare(self.before, after) + compare(self.held, self.look())
        if edits or self.edits:
            self.restore()
            self.held = self.look()
        self.before = after
        return changed

    def restore(self):
        # A command may have closed whatever it could.
        self.work.chmod(0o755)
        for folder, names, _ in os.walk(self.work):
            for path in (Path(folder, name) for name in names):
                if not path.is_symlink():
                    path.chmod(0o755)
        for path in self.work.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        shutil.copytree(self.original, self.work, symlinks=True, dirs_exist_ok=True)


def compare(before, after):
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
