"""Repositories that a command has made or changed: what git would run because of them is taken away.

Git runs programs that a repository names, for whoever uses it, and for the one around it that knows it as a submodule. Those that were
there are protected by name. New ones may appear in any folder, also without the name `.git`.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress

import msgspec

from everturn.sandbox.aside import Aside
from everturn.sandbox.beneath import FOLDER, find_status, open_file, open_listed, open_straight
from everturn.sandbox.git_settings import MOST_BYTES, is_harmless
from everturn.sandbox.remembered import IN_MEMORY, Stamp, find_stamp

GIT = ".git"
MOST_FOLDERS = 20_000
_INNER = ("modules", "worktrees")
_SETTINGS = ("config", "config.worktree")
_HOOKS = "hooks"
_ELSEWHERE = "commondir"
"""It sends git to another folder for both."""
_SHAPES = (frozenset({"HEAD", "objects", "refs"}), frozenset({"HEAD", _ELSEWHERE}))
"""What a folder holds that git takes for a repository, whatever its name."""
_NEVER_RUN = ".sample"
_ODD = b"\0"
FILE_CLOCK = 5
"""The one that Linux stamps files with (CLOCK_REALTIME_COARSE)."""
_RECENT_NS = 2_000_000_000
"""A change so shortly before could be followed by another within one tick of the file system's clock."""


class Folder(msgspec.Struct, frozen=True):
    stamp: tuple[int, int, int]
    is_recent: bool
    children: tuple[str, ...]
    shapes: tuple[str, ...]
    """Paths that git would take for a repository, or for the way to one."""


class Piece(msgspec.Struct, frozen=True):
    """Of a repository, what may have git run something."""

    path: str
    folder: int
    """Held open."""
    name: str
    status: os.stat_result
    changed_ns: int
    """It, or the repository: what is moved to a new name has a new time, too."""


class Repositories:
    """One per session: a folder that is unchanged is not listed again."""

    def __init__(self) -> None:
        self._folders: dict[str, Folder] = {}
        self._shapes: list[str] = []
        self._known: frozenset[str] = frozenset()
        self._began_ns = 0
        self._seen: dict[str, tuple[Stamp, bytes | None]] = {}

    @property
    def size(self) -> int:
        """Folders that are known."""
        return len(self._folders)

    def begin(self, roots: Iterable[str], without: frozenset[str], *, is_known: bool) -> None:
        """What is there before a command is the person's. `without`: paths that are protected otherwise.

        `is_known`: the folders were looked at when the last command had ended. What appeared since is told by its time.
        """
        if not is_known:
            self._shapes = self._find_shapes(roots)
        self._known = frozenset(self._shapes)
        self._seen.clear()
        self._began_ns = time.clock_gettime_ns(FILE_CLOCK)
        now = time.time_ns()
        for path in _leave_out(self._shapes, without):
            for piece in _find_pieces(path):
                status = piece.status
                is_sure = status.st_ctime_ns < now - _RECENT_NS and os.major(status.st_dev) != IN_MEMORY
                content = None if is_sure else _read(piece.folder, piece.name, status)
                self._seen[piece.path] = find_stamp(status), content

    def end(self, roots: Iterable[str], without: frozenset[str], aside: Aside) -> tuple[str, ...]:
        """What was taken away."""
        taken: list[str] = []
        before = self._folders
        self._shapes = self._find_shapes(roots)
        looked_at = frozenset(self._shapes)
        for path in _leave_out(self._shapes, without):
            is_known = path in self._known
            moved_ns = 0 if is_known else self._find_moved(path, before)
            for piece in _find_pieces(path):
                if not is_known and max(moved_ns, piece.changed_ns) < self._began_ns:
                    continue
                with suppress(OSError):
                    if (
                        not self._is_seen(piece)
                        and not _is_fine(piece, looked_at)
                        and aside.take(piece.folder, piece.name)
                    ):
                        taken.append(piece.path)
        return tuple(taken)

    def _find_moved(self, path: str, before: dict[str, Folder]) -> int:
        """When a folder around it got its name, at the latest: what is in a folder that was moved has the times from before."""
        latest = 0
        outer = path.rpartition("/")[0]
        while outer in self._folders:
            inode, _, changed_ns = self._folders[outer].stamp
            if outer not in before or before[outer].stamp[0] != inode:
                latest = max(latest, changed_ns)
            outer = outer.rpartition("/")[0]
        return latest

    def _is_seen(self, piece: Piece) -> bool:
        stamp, content = self._seen.get(piece.path, (None, None))
        if stamp != find_stamp(piece.status):
            return False
        return content is None or content == _read(piece.folder, piece.name, piece.status)

    def _find_shapes(self, roots: Iterable[str]) -> list[str]:
        shapes: list[str] = []
        found: dict[str, Folder] = {}
        ahead = list(roots)
        now = time.time_ns()
        while ahead and len(found) < MOST_FOLDERS:
            path = ahead.pop()
            folder = self._look(path, now) if path not in found else None
            if folder is not None:
                found[path] = folder
                shapes += folder.shapes
                ahead += folder.children
        self._folders = found
        return shapes

    def _look(self, path: str, now: int) -> Folder | None:
        try:
            status = os.lstat(path)
        except OSError:
            return None
        stamp = status.st_ino, status.st_mtime_ns, status.st_ctime_ns
        known = self._folders.get(path)
        if known is not None and known.stamp == stamp and not known.is_recent:
            return known
        if not stat.S_ISDIR(status.st_mode):
            return None
        return _list(path, stamp, is_recent=status.st_ctime_ns > now - _RECENT_NS)


def _list(path: str, stamp: tuple[int, int, int], *, is_recent: bool) -> Folder | None:
    try:
        with os.scandir(path) as entries:
            names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    except OSError:
        return None
    shapes = [f"{path}/{GIT}"] if GIT in names else []
    if path.rpartition("/")[2] == GIT or any(names.keys() >= shape for shape in _SHAPES) or _is_worktree(path):
        # Of a repository only what holds others: the rest is many folders of objects.
        shapes += [path] if not path.endswith(f"/{GIT}") else []
        children = [name for name in _INNER if names.get(name)]
    else:
        children = [name for name, is_folder in names.items() if is_folder]
    return Folder(stamp, is_recent, tuple(f"{path}/{name}" for name in children), tuple(shapes))


def _is_worktree(path: str) -> bool:
    return path.rpartition("/")[0].endswith(f"/{GIT}/worktrees")


def _leave_out(shapes: Iterable[str], without: frozenset[str]) -> list[str]:
    return [path for path in shapes if path not in without and f"{path}/config" not in without]


def _find_pieces(path: str) -> Iterator[Piece]:
    """Their folders are open as long as this is asked for the next."""
    outer, _, name = path.rpartition("/")
    with ExitStack() as opened, suppress(OSError):
        folder = _hold(opened, open_straight(outer))
        status = find_status(folder, name)
        if status is None:
            return
        if not stat.S_ISDIR(status.st_mode):
            yield Piece(path, folder, name, status, status.st_ctime_ns)
            return
        moved_ns = status.st_ctime_ns
        git = _hold(opened, os.open(name, FOLDER, dir_fd=folder))
        for each in (*_SETTINGS, _ELSEWHERE, _HOOKS):
            status = find_status(git, each)
            if status is not None and (each != _HOOKS or not stat.S_ISDIR(status.st_mode)):
                yield Piece(f"{path}/{each}", git, each, status, max(moved_ns, status.st_ctime_ns))
        hooks = _hold(opened, open_listed(git, _HOOKS))
        for each in os.listdir(hooks):  # noqa: PTH208 - a descriptor
            status = find_status(hooks, each) if not each.endswith(_NEVER_RUN) else None
            if status is not None:
                yield Piece(f"{path}/{_HOOKS}/{each}", hooks, each, status, max(moved_ns, status.st_ctime_ns))


def _hold(opened: ExitStack, descriptor: int) -> int:
    opened.callback(os.close, descriptor)
    return descriptor


def _is_fine(piece: Piece, looked_at: frozenset[str]) -> bool:
    outer = piece.path.rpartition("/")[0]
    if piece.name in _SETTINGS:
        return is_harmless(_read(piece.folder, piece.name, piece.status), of_module=f"/{GIT}/modules/" in piece.path)
    if piece.name == _ELSEWHERE:
        return _is_worktree(outer) and _read(piece.folder, piece.name, piece.status).strip() == b"../.."
    return piece.name == GIT and _leads_inside(piece, outer, looked_at)


def _leads_inside(piece: Piece, outer: str, looked_at: frozenset[str]) -> bool:
    """To a submodule or another worktree of a repository, which is looked at itself: neither elsewhere nor inside of one."""
    word, _, target = _read(piece.folder, piece.name, piece.status).partition(b":")
    if word != b"gitdir" or b"\n" in target.rstrip(b"\n"):
        return False
    place = os.path.realpath(os.path.join(outer, os.fsdecode(target.strip())))  # noqa: PTH118 - as text
    return place in looked_at and any(f"/{GIT}/{inner}/" in place for inner in _INNER)


def _read(folder: int, name: str, status: os.stat_result) -> bytes:
    """What is no file, or too large, reads as something that cannot be harmless."""
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
        return _ODD
    try:
        file = open_file(folder, name, status)
    except OSError:
        return _ODD
    try:
        return os.read(file, MOST_BYTES)
    finally:
        os.close(file)
