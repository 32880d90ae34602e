"""A copy of the few system files that a view shows, made once: to mount each of them would take longer than the command."""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress

_ROOT = "/etc"


def is_mounted(path: str) -> bool:
    """The rest is copied, or the kernel's own: a view has that by itself."""
    return not path.startswith((f"{_ROOT}/", "/proc/", "/sys/"))


def stage(paths: Iterable[str], folder: str) -> str:
    """Copies those below `/etc` into the folder, and returns what stands for it.

    Links stay links: they lead to what is shown, or nowhere.
    """
    root = f"{folder}{_ROOT}"
    os.makedirs(root, exist_ok=True)  # noqa: PTH103 - paths as text
    for path in paths:
        if not path.startswith(f"{_ROOT}/"):
            continue
        target = f"{folder}{path}"
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120 - paths as text
        # What cannot be read, or is gone, is not shown.
        with suppress(OSError, shutil.Error):
            if os.path.islink(path):  # noqa: PTH114 - paths as text
                os.symlink(os.readlink(path), target)  # noqa: PTH115, PTH211 - paths as text
            elif os.path.isdir(path):  # noqa: PTH112 - paths as text
                shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copyfile(path, target)
    return root
