"""Removes a folder with all that is in it, by descriptors, however deep it is and whoever still writes into it."""

import os
from contextlib import suppress

from everturn.sandbox.beneath import FOLDER, open_listed, open_up

_ROUNDS = 100_000
"""Each takes one level away. A folder that somebody fills faster is left."""


def remove_tree(folder: int, name: str) -> bool:
    """The one with this name in the folder. No link is followed. False: something is left of it."""
    with suppress(OSError):
        top = open_listed(folder, name)
        try:
            open_up(top)
            empty_folder(top)
        finally:
            os.close(top)
        os.rmdir(name, dir_fd=folder)
        return True
    return False


def empty_folder(top: int) -> None:
    """A folder that can be listed. One inside is emptied by moving what is in it to the top: no depth costs descriptors, or a stack.

    Raises `OSError`.
    """
    for _ in range(_ROUNDS):
        with os.scandir(top) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        removed = 0
        for name, is_folder in found:
            with suppress(OSError):
                if is_folder:
                    _lift(top, name)
                else:
                    os.unlink(name, dir_fd=top)
                removed += 1
        if not removed:
            return


def _lift(top: int, name: str) -> None:
    """Raises `OSError`."""
    inner = open_listed(top, name)
    try:
        open_up(inner)
        with os.scandir(inner) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for each, is_folder in found:
            if is_folder:
                _own(inner, each)
                os.rename(each, os.urandom(12).hex(), src_dir_fd=inner, dst_dir_fd=top)
            else:
                os.unlink(each, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def _own(folder: int, name: str) -> None:
    """To be moved elsewhere a folder must be ours to write."""
    descriptor = os.open(name, FOLDER, dir_fd=folder)
    try:
        open_up(descriptor)
    finally:
        os.close(descriptor)
