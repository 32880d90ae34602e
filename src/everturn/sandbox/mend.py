"""Restores a protected place to its earlier content, below a folder that is open."""

import os
from contextlib import suppress

from everturn.sandbox.aside import Aside
from everturn.sandbox.beneath import LISTED, NEW, OWN, find_status, open_listed, open_up
from everturn.sandbox.remembered import NOTHING, Looker, Rights, Seen, find_kind, find_rights


class Mender:
    """Only what differs is touched: it goes aside, and what was there before takes its place in one step."""

    def __init__(self, looker: Looker, aside: Aside) -> None:
        self._looker = looker
        self._aside = aside

    def mend(self, folder: int, name: str, seen: Seen) -> None:
        """Raises `OSError`."""
        if self._looker.is_same(folder, name, seen):
            return
        open_up(folder)
        status = find_status(folder, name)
        if seen.kind == "folder" and status is not None and find_kind(status) == "folder":
            self._mend_inside(folder, name, seen)
            return
        self._aside.take(folder, name)
        if seen.kind == "file":
            self._write(folder, name, seen)
        elif seen.kind == "link":
            os.symlink(seen.target, name, dir_fd=folder)
        elif seen.kind == "folder":
            os.mkdir(name, OWN, dir_fd=folder)
            self._mend_inside(folder, name, seen)

    def _mend_inside(self, folder: int, name: str, seen: Seen) -> None:
        inner = open_listed(folder, name)
        try:
            open_up(inner)
            for each in {*os.listdir(inner), *seen.entries}:  # noqa: PTH208 - a descriptor
                self.mend(inner, each, seen.entries.get(each, NOTHING))
            _give_rights(inner, seen.rights)
        finally:
            os.close(inner)

    def _write(self, folder: int, name: str, seen: Seen) -> None:
        made = f".everturn-{os.urandom(6).hex()}"
        file = os.open(made, NEW, OWN, dir_fd=folder)
        try:
            if seen.content is not None:
                self._looker.store.copy(seen.content, file)
            _give_rights(file, seen.rights)
            os.utime(file, ns=(seen.modified_ns, seen.modified_ns))
            os.rename(made, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(made, dir_fd=folder)
            raise
        finally:
            os.close(file)


def make_folder(folder: int, name: str, rights: Rights) -> None:
    """Raises `OSError`."""
    os.mkdir(name, OWN, dir_fd=folder)
    made = os.open(name, LISTED, dir_fd=folder)
    try:
        _give_rights(made, rights)
    finally:
        os.close(made)


def _give_rights(descriptor: int, rights: Rights) -> None:
    mode, owner, group = rights
    now = find_rights(os.fstat(descriptor))
    if now[1:] != (owner, group):
        with suppress(PermissionError):
            os.fchown(descriptor, owner, group)
    # After the owner, whose change takes bits away.
    os.fchmod(descriptor, mode)
