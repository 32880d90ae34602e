"""What is in folders, and what of it a command has changed that it may not."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from everturn.core.protected import AGENT_SETTINGS, MEMORY
from everturn.sandbox.placeholders import has_placeholder

OPEN = 0o755
"""Of every folder in a working folder, at first."""


def look_at(path):
    """Whatever is done to a file but reading moves the time that nobody can set."""
    status = os.lstat(path)
    target = os.readlink(path) if stat.S_ISLNK(status.st_mode) else ""  # noqa: PTH115 - paths as text
    return status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, status.st_ctime_ns, target


def take_picture(*tops):
    picture = {str(top): look_at(top) for top in tops}
    waiting = [str(top) for top in tops]
    while waiting:
        # Links are not followed, and what is no folder is none. What goes meanwhile is not there.
        with suppress(NotADirectoryError, FileNotFoundError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
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
        self.before, self.held, self.clean = take_picture(*self.around), self.look(), take_picture(self.work)

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
        """Only what was changed: most of the folder is not, and all of it takes longer than the command."""
        # A command may have closed whatever it could.
        self.open(self.work)
        for folder, names, _ in os.walk(self.work):
            for path in (Path(folder, name) for name in names):
                if not path.is_symlink():
                    self.open(path)
        changed = compare(self.clean, take_picture(self.work))
        for name in {Path(path).relative_to(self.work).parts[0] for path in changed if path != str(self.work)}:
            self.put_back(name)
        self.clean = take_picture(self.work)

    def open(self, folder):
        # What stands for something that is not there goes a moment after the command.
        with suppress(FileNotFoundError):
            if stat.S_IMODE(folder.stat().st_mode) != OPEN:
                folder.chmod(OPEN)

    def put_back(self, name):
        path, original = self.work / name, self.original / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        if original.is_dir() and not original.is_symlink():
            shutil.copytree(original, path, symlinks=True, dirs_exist_ok=True)
        elif os.path.lexists(original):
            shutil.copy2(original, path, follow_symlinks=False)


def compare(before, after):
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
