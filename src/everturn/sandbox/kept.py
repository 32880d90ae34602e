"""What nothing can be put over is looked at before a command, and put back where it changed, when nothing of the command runs.

Always by descriptors: a folder that was opened before the command is the same folder afterwards, wherever a command has moved
it and whatever it has put in its place.
"""

import os
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from everturn.sandbox.aside import Aside
from everturn.sandbox.beneath import (
    FOLDER,
    OWN,
    find_mode,
    find_place,
    find_status,
    open_straight,
    open_up,
    set_mode,
)
from everturn.sandbox.mend import Mender, make_folder
from everturn.sandbox.remembered import Looker, Rights, Seen, TooMuchToRememberError, find_kind, find_rights

MAX_FOLDERS = 256
"""Held open at once."""
_TRIES = 3
"""Another command, that still runs, may change it while we put it back. At its own end it is put back for good."""


class _Anchor(msgspec.Struct):
    """A folder that something protected lies in."""

    descriptor: int
    name: str
    above: "_Anchor | None"
    """None: no command can move it."""
    identity: tuple[int, int]
    rights: Rights


class PutBack(msgspec.Struct, frozen=True):
    """What was done behind a command."""

    changed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """Of these, what could not be put back."""
    aside: str = ""
    """Where that is which was there instead."""
    disarmed: tuple[str, ...] = ()
    """Taken away, since git would have run something because of it."""
    armed: tuple[str, ...] = ()
    """As these, but it could not be taken away."""
    is_whole: bool = True
    """Every folder was looked at for such."""
    is_over: bool = True
    """Nothing of the command runs any more, for certain."""

    @property
    def is_sure(self) -> bool:
        """Nothing is left that must not be."""
        return self.is_whole and self.is_over and not (self.lost or self.armed)

    @property
    def is_told(self) -> bool:
        return bool(self.changed or self.disarmed) or not self.is_sure


class Keeper:
    """One per session. Commands that overlap share what was seen before the first of them: a later one starts amid their changes."""

    def __init__(self) -> None:
        self._looker = Looker()
        self._running = 0
        self._anchors: dict[str, _Anchor] = {}
        self._seen: dict[str, Seen] = {}
        self._first: frozenset[str] = frozenset()
        """What could be remembered before the last command: it comes first, so that no command pushes it out by making more."""
        self._absent: dict[str, str] = {}
        """Paths whose folder was not there, each with the root that it lies below."""
        self.unheld: dict[str, None] = {}
        """Too large to be remembered, or not for us to read; as far as was looked."""

    def begin(self, paths: Iterable[str], roots: Iterable[str]) -> None:
        """Before a command: `paths` are kept as they are, as far as they lie below `roots`; what is above these nobody moves."""
        if not self._running:
            self._looker.begin()
            self.unheld.clear()
        above = sorted(roots, key=len)
        self._running += 1
        try:
            for path in sorted(paths, key=lambda path: (path not in self._first, path)):
                if path not in self._seen and path not in self._absent:
                    root = next((root for root in above if path.startswith(root.rstrip("/") + "/")), None)
                    if root is not None:
                        self._remember(root.rstrip("/"), path)
        except BaseException:
            self._note_end()
            raise
        self._first = frozenset(path for path, seen in self._seen.items() if seen.kind != "none")

    def end(self, aside: Aside) -> PutBack:
        """After a command, when nothing of it runs any more."""
        try:
            return self._put_back(aside)
        finally:
            self._note_end()

    def close(self) -> None:
        self._let_go()
        self._looker.close()

    def _put_back(self, aside: Aside) -> PutBack:
        mender = Mender(self._looker, aside)
        changed: dict[str, None] = {}
        lost: dict[str, None] = {}
        modes = {path: _choose_mode(anchor) for path, anchor in self._anchors.items()}
        # All, and those above before those below: in a folder that is closed nothing is found.
        for path, anchor in self._anchors.items():
            if find_mode(anchor.descriptor) != modes[path]:
                changed[path] = None
                open_up(anchor.descriptor)
        for path, anchor in self._anchors.items():
            if not _is_in_place(anchor):
                changed[path] = None
                if not self._bring_back(anchor, aside):
                    lost[path] = None
        for path, seen in self._seen.items():
            folder, _, name = path.rpartition("/")
            descriptor = self._anchors[folder].descriptor
            if not self._looker.is_same(descriptor, name, seen):
                changed[path] = None
                if not self._mend(mender, descriptor, name, seen):
                    lost[path] = None
        for path, root in self._absent.items():
            try:
                is_taken = _take_new(self._anchors[root].descriptor, path[len(root) + 1 :].split("/"), aside)
            except OSError:
                is_taken = True
                lost[path] = None
            if is_taken:
                changed[path] = None
        for path, anchor in self._anchors.items():
            if find_mode(anchor.descriptor) != modes[path]:
                set_mode(anchor.descriptor, modes[path])
        return PutBack(tuple(changed), tuple(lost), aside.place)

    def _note_end(self) -> None:
        self._running -= 1
        if not self._running:
            self._let_go()

    def _remember(self, root: str, path: str) -> None:
        folder, _, name = path.rpartition("/")
        try:
            anchor = self._anchor(root, folder)
            self._seen[path] = self._looker.look(anchor.descriptor, name)
        except FileNotFoundError:
            if root in self._anchors:
                self._absent[path] = root
            else:
                self.unheld[path] = None
        except (OSError, TooMuchToRememberError):
            self.unheld[path] = None

    def _anchor(self, root: str, folder: str) -> _Anchor:
        """Raises `OSError`."""
        if (known := self._anchors.get(folder)) is not None:
            return known
        if len(self._anchors) >= MAX_FOLDERS:
            raise OSError("too many folders")
        if folder == root:
            above, name, descriptor = None, "", open_straight(folder or "/")
        else:
            outer, _, name = folder.rpartition("/")
            above = self._anchor(root, outer)
            descriptor = os.open(name, FOLDER, dir_fd=above.descriptor)
        status = os.fstat(descriptor)
        made = _Anchor(descriptor, name, above, (status.st_dev, status.st_ino), find_rights(status))
        self._anchors[folder] = made
        return made

    def _bring_back(self, anchor: _Anchor, aside: Aside) -> bool:
        """The folder itself, from where a command has moved it; where it is gone, an empty one for what belongs in it."""
        above = anchor.above.descriptor if anchor.above else -1
        with suppress(OSError):
            aside.take(above, anchor.name)
            place = find_place(anchor.descriptor)
            if place is not None:
                outer, name = place
                try:
                    open_up(outer)
                    open_up(anchor.descriptor)
                    os.rename(name, anchor.name, src_dir_fd=outer, dst_dir_fd=above)
                finally:
                    os.close(outer)
                return True
        return _replace(anchor, above)

    def _mend(self, mender: Mender, folder: int, name: str, seen: Seen) -> bool:
        for _ in range(_TRIES):
            with suppress(OSError):
                mender.mend(folder, name, seen)
            if self._looker.is_same(folder, name, seen):
                return True
        return False

    def _let_go(self) -> None:
        for anchor in self._anchors.values():
            os.close(anchor.descriptor)
        self._anchors.clear()
        self._seen.clear()
        self._absent.clear()


def _take_new(folder: int, names: list[str], aside: Aside) -> bool:
    """What has appeared at the end of a way that was not there: it goes aside, or a link on the way does. Raises `OSError`."""
    status = find_status(folder, names[0])
    if status is None:
        return False
    if len(names) == 1 or find_kind(status) == "link":
        return aside.take(folder, names[0])
    if find_kind(status) != "folder":
        return False
    inner = os.open(names[0], FOLDER, dir_fd=folder)
    try:
        open_up(inner)
        return _take_new(inner, names[1:], aside)
    finally:
        os.close(inner)


def _choose_mode(anchor: _Anchor) -> int:
    """The one that it shall have: as it is, unless a command has closed it to its owner."""
    now, before = find_mode(anchor.descriptor), anchor.rights[0]
    return before if before & OWN & ~now else now


def _is_in_place(anchor: _Anchor) -> bool:
    if anchor.above is None:
        return True
    try:
        status = find_status(anchor.above.descriptor, anchor.name)
    except OSError:
        return False
    return status is not None and (status.st_dev, status.st_ino) == anchor.identity


def _replace(anchor: _Anchor, above: int) -> bool:
    try:
        make_folder(above, anchor.name, anchor.rights)
        descriptor = os.open(anchor.name, FOLDER, dir_fd=above)
    except OSError:
        return False
    os.close(anchor.descriptor)
    status = os.fstat(descriptor)
    anchor.descriptor, anchor.identity = descriptor, (status.st_dev, status.st_ino)
    return True
