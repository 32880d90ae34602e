"""Repositories that a command has made or changed: what git would run because of them is taken away.

Git runs programs that a repository names, for whoever uses it, and for the one around it that knows it as a submodule. Those that were
there are protected by name. New ones may appear in any folder, also without the name `.git`.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Container, Iterable, Iterator
from contextlib import ExitStack, closing, suppress

import msgspec

from everturn.sandbox.aside import Aside
from everturn.sandbox.beneath import LISTED, find_status, open_file, open_straight
from everturn.sandbox.closed_folders import FolderOpener, is_closed
from everturn.sandbox.git_states import STATES, is_harmless_state
from everturn.sandbox.kept import PutBack
from everturn.sandbox.remembered import IN_MEMORY, Stamp, find_stamp
from everturn.workspace.git_settings import MAX_BYTES, is_harmless

GIT = ".git"
MAX_FOLDERS = 50_000
"""More take too long, and too much room, to be remembered: then commands are asked about."""
_INNER = ("modules", "worktrees")
_SETTINGS = ("config", "config.worktree")
_HOOKS = "hooks"
_ELSEWHERE = "commondir"
"""It sends git to another folder for both."""
_SHAPES = (frozenset({"HEAD", "objects", "refs"}), frozenset({"HEAD", _ELSEWHERE}))
"""What a folder holds that git takes for a repository, whatever its name."""
_NEVER_RUN = ".sample"
_POINTER = b"gitdir: "
_ODD = b"\0"
FILE_CLOCK = 5
"""The one that Linux stamps files with (CLOCK_REALTIME_COARSE)."""
_RECENT_NS = 2_000_000_000
"""A change so shortly before could be followed by another within one tick of the file system's clock."""


class _Folder(msgspec.Struct, frozen=True):
    stamp: tuple[int, int, int]
    is_recent: bool
    children: tuple[str, ...]
    shapes: tuple[str, ...]
    """Paths that git would take for a repository, or for the way to one."""


class _Piece(msgspec.Struct, frozen=True):
    """Of a repository, what may have git run something."""

    path: str
    folder: int
    """Held open."""
    name: str
    status: os.stat_result
    changed_ns: int
    """It, or the repository: what is moved to a new name has a new time, too."""
    state: str | None = None
    """For a file of something that is not over: which folder of `STATES` it lies in."""


class Top(msgspec.Struct, frozen=True):
    """A folder that commands may write in, held open: what is done to the folders above it does not keep us out."""

    path: str
    """Without a slash at its end."""
    descriptor: int

    def find_rest(self, path: str) -> str:
        return path[len(self.path) + 1 :]


class Repositories:
    """One per session: a folder that is unchanged is not listed again."""

    def __init__(self, most: int = MAX_FOLDERS) -> None:
        """`most`: folders that are looked at."""
        self._most = most
        self._tops: dict[str, Top] = {}
        self._folders: dict[str, _Folder] = {}
        self._shapes: dict[str, Top] = {}
        self._known: frozenset[str] = frozenset()
        self._began_ns = 0
        self._seen: dict[str, tuple[Stamp, bytes | None]] = {}
        self._ends: dict[str, str] = {}
        """Where ways to repositories (`.git` files) led in truth."""
        self.is_whole = True
        """Every folder was looked at, before and after each command until now."""

    @property
    def size(self) -> int:
        """Folders that are known."""
        return len(self._folders)

    def begin(self, roots: Iterable[str], without: frozenset[str], *, is_known: bool) -> None:
        """What is there before a command is the person's. `without`: paths that are protected otherwise.

        `is_known`: the folders were looked at when the last command had ended. What appeared since is told by its time.
        """
        self._open(roots)
        with closing(FolderOpener()) as opener:
            if is_known:
                self._shapes = {
                    path: self._tops[top.path] for path, top in self._shapes.items() if top.path in self._tops
                }
            else:
                self._shapes = self._find_shapes(opener)
            self._known = frozenset(self._shapes)
            self._seen.clear()
            self._ends.clear()
            self._began_ns = time.clock_gettime_ns(FILE_CLOCK)
            now = time.time_ns()
            for path, top in self._shapes.items():
                with suppress(OSError):
                    for piece in _find_pieces(opener, top, path, only_states=_is_covered(path, without)):
                        status = piece.status
                        is_sure = (
                            piece.state is None
                            and status.st_ctime_ns < now - _RECENT_NS
                            and os.major(status.st_dev) != IN_MEMORY
                        )
                        content = None if is_sure else _read(piece.folder, piece.name, status)
                        self._seen[piece.path] = find_stamp(status), content
                        if end := _find_end(piece):
                            self._ends[piece.path] = end

    def end(self, without: frozenset[str], aside: Aside) -> PutBack:
        """Only what is about repositories."""
        taken: list[str] = []
        left: list[str] = []
        before = self._folders
        with closing(FolderOpener()) as opener:
            self._shapes = self._find_shapes(opener)
            for path, top in self._shapes.items():
                is_known = path in self._known
                moved_ns = 0 if is_known else self._find_moved(path, before)
                try:
                    for piece in _find_pieces(opener, top, path, only_states=_is_covered(path, without)):
                        is_old = not is_known and max(moved_ns, piece.changed_ns) < self._began_ns
                        if not is_old and not self._may_stay(piece):
                            (taken if _take(piece, aside) else left).append(piece.path)
                except (FileNotFoundError, NotADirectoryError):
                    """Somebody has removed it meanwhile."""
                except OSError:
                    left.append(path)
        return PutBack(disarmed=tuple(taken), armed=tuple(left), aside=aside.place, is_whole=self.is_whole)

    def let_go(self) -> None:
        """When no command runs."""
        while self._tops:
            os.close(self._tops.popitem()[1].descriptor)

    def _open(self, roots: Iterable[str]) -> None:
        for root in roots:
            path = root.rstrip("/")
            if path not in self._tops:
                try:
                    self._tops[path] = Top(path, open_straight(path))
                except (FileNotFoundError, NotADirectoryError):
                    """It is gone."""
                except OSError:
                    self.is_whole = False

    def _find_moved(self, path: str, before: dict[str, _Folder]) -> int:
        """When a folder around it got its name, at the latest: what is in a folder that was moved has the times from before."""
        latest = 0
        outer = path.rpartition("/")[0]
        while outer in self._folders:
            inode, _, changed_ns = self._folders[outer].stamp
            if outer not in before or before[outer].stamp[0] != inode:
                latest = max(latest, changed_ns)
            outer = outer.rpartition("/")[0]
        return latest

    def _may_stay(self, piece: _Piece) -> bool:
        """What cannot be judged, for whatever reason, may not."""
        try:
            if self._is_seen(piece) and not self._leads_elsewhere(piece):
                return True
            if piece.state is None:
                return _is_fine(piece, self._shapes.keys())
            before = self._seen.get(piece.path, (None, None))[1] or b""
            data = _read(piece.folder, piece.name, piece.status)
            return data != _ODD and is_harmless_state(piece.state, piece.name, data, before)
        except Exception:  # noqa: BLE001 - a command may have written anything
            return False

    def _leads_elsewhere(self, piece: _Piece) -> bool:
        """The way to a repository is as it was, but something on it is not."""
        return _find_end(piece) != self._ends.get(piece.path, "")

    def _is_seen(self, piece: _Piece) -> bool:
        stamp, content = self._seen.get(piece.path, (None, None))
        if stamp != find_stamp(piece.status):
            return False
        return content is None or content == _read(piece.folder, piece.name, piece.status)

    def _find_shapes(self, opener: FolderOpener) -> dict[str, Top]:
        shapes: dict[str, Top] = {}
        found: dict[str, _Folder] = {}
        now = time.time_ns()
        # Those that we know come first: a command cannot push them out by making others. Of the new ones, those near the top.
        known = [(top.path, top) for top in self._tops.values()]
        new: deque[tuple[str, Top]] = deque()
        while known or new:
            if len(found) >= self._most:
                self.is_whole = False
                break
            path, top = known.pop() if known else new.popleft()
            folder = self._look(opener, top, path, now) if path not in found else None
            if folder is not None:
                found[path] = folder
                shapes.update(dict.fromkeys(folder.shapes, top))
                for child in folder.children:
                    (known if child in self._folders else new).append((child, top))
        self._folders = found
        return shapes

    def _look(self, opener: FolderOpener, top: Top, path: str, now: int) -> _Folder | None:
        """None where there is no folder, or one that no command of this user can enter."""
        rest = top.find_rest(path)
        try:
            status = os.stat(rest, dir_fd=top.descriptor, follow_symlinks=False) if rest else os.fstat(top.descriptor)
            if not stat.S_ISDIR(status.st_mode):
                return None
            if is_closed(status):
                os.close(opener.open(top.descriptor, rest))
            stamp = status.st_ino, status.st_mtime_ns, status.st_ctime_ns
            known = self._folders.get(path)
            if known is not None and known.stamp == stamp and not known.is_recent:
                return known
            return _list(top, path, stamp, is_recent=status.st_ctime_ns > now - _RECENT_NS)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            # Another's. Who may enter it without listing it could make something there that we do not find.
            if os.access(rest or ".", os.X_OK, dir_fd=top.descriptor):
                self.is_whole = False
            return None
        except OSError:
            self.is_whole = False
            return None


def _list(top: Top, path: str, stamp: tuple[int, int, int], *, is_recent: bool) -> _Folder:
    """Raises `OSError`."""
    listed = os.open(top.find_rest(path) or ".", LISTED, dir_fd=top.descriptor)
    try:
        with os.scandir(listed) as entries:
            names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    finally:
        os.close(listed)
    is_git = path.endswith(f"/{GIT}")
    shapes = [f"{path}/{GIT}"] if GIT in names else []
    # Those of `.git` as well: a command could put a repository there, and lead a person to it by a link.
    children = [name for name, is_folder in names.items() if is_folder]
    if not is_git and (any(names.keys() >= shape for shape in _SHAPES) or _is_worktree(path)):
        shapes.append(path)
    return _Folder(stamp, is_recent, tuple(f"{path}/{name}" for name in children), tuple(shapes))


def _is_worktree(path: str) -> bool:
    return path.rpartition("/")[0].endswith(f"/{GIT}/worktrees")


def _is_covered(path: str, without: frozenset[str]) -> bool:
    """Its settings and hooks are protected otherwise."""
    return path in without or f"{path}/config" in without


def _find_pieces(opener: FolderOpener, top: Top, path: str, *, only_states: bool) -> Iterator[_Piece]:
    """Their folders are open as long as this is asked for the next. Raises `OSError`."""
    rest = top.find_rest(path)
    moved_ns = 0
    with ExitStack() as opened:
        if rest:
            outer, _, name = rest.rpartition("/")
            folder = _hold(opened, opener.open(top.descriptor, outer))
            status = find_status(folder, name)
            if status is None:
                return
            moved_ns = status.st_ctime_ns
            if not stat.S_ISDIR(status.st_mode):
                if not only_states:
                    yield _Piece(path, folder, name, status, moved_ns)
                return
        git = _hold(opened, opener.open(top.descriptor, rest))
        if not os.access(f"/proc/self/fd/{git}", os.X_OK):
            # Another's, and closed to commands as it is to us.
            return
        for state, files in STATES.items():
            status = find_status(git, state) if state else os.fstat(git)
            if status is not None and stat.S_ISDIR(status.st_mode):
                folder = _hold(opened, opener.open(top.descriptor, f"{rest}/{state}")) if state else git
                for piece in _find_each(folder, f"{path}/{state}".rstrip("/"), moved_ns, files):
                    yield msgspec.structs.replace(
                        piece, state=state, changed_ns=max(piece.changed_ns, status.st_ctime_ns if state else 0)
                    )
            elif status is not None:
                # A link could lead to a folder that nobody looks at.
                yield from _find_each(git, path, moved_ns, (state,))
        if only_states:
            return
        yield from _find_each(git, path, moved_ns, (*_SETTINGS, _ELSEWHERE))
        status = find_status(git, _HOOKS)
        if status is None or not stat.S_ISDIR(status.st_mode):
            yield from _find_each(git, path, moved_ns, (_HOOKS,))
            return
        hooks = _hold(opened, opener.open(top.descriptor, f"{rest}/{_HOOKS}"))
        names = os.listdir(_hold(opened, os.open(".", LISTED, dir_fd=hooks)))
        named = (name for name in names if not name.endswith(_NEVER_RUN))
        yield from _find_each(hooks, f"{path}/{_HOOKS}", moved_ns, named)


def _find_each(folder: int, path: str, moved_ns: int, names: Iterable[str]) -> Iterator[_Piece]:
    for name in names:
        status = find_status(folder, name)
        if status is not None:
            yield _Piece(f"{path}/{name}", folder, name, status, max(moved_ns, status.st_ctime_ns))


def _take(piece: _Piece, aside: Aside) -> bool:
    """False: it is still there."""
    try:
        aside.take(piece.folder, piece.name)
    except OSError:
        return False
    return True


def _hold(opened: ExitStack, descriptor: int) -> int:
    opened.callback(os.close, descriptor)
    return descriptor


def _is_fine(piece: _Piece, looked_at: Container[str]) -> bool:
    outer = piece.path.rpartition("/")[0]
    if piece.name in _SETTINGS:
        module = outer if f"/{GIT}/modules/" in outer else ""
        return is_harmless(_read(piece.folder, piece.name, piece.status), module=module)
    if piece.name == _ELSEWHERE:
        return _is_worktree(outer) and _read(piece.folder, piece.name, piece.status).strip() == b"../.."
    return piece.name == GIT and _leads_inside(piece, outer, looked_at)


def _leads_inside(piece: _Piece, outer: str, looked_at: Container[str]) -> bool:
    """To a submodule or another worktree of a repository, which is looked at itself: neither elsewhere nor inside of one."""
    target = _find_target(piece, outer)
    place = os.path.realpath(target)
    # With a link on the way, the next command could lead it elsewhere.
    is_straight = place == os.path.normpath(target)
    return is_straight and place in looked_at and any(f"/{GIT}/{inner}/" in place for inner in _INNER)


def _find_end(piece: _Piece) -> str:
    """Where a `.git` that is no folder leads in truth; empty for any other piece."""
    if piece.name != GIT:
        return ""
    outer = piece.path.rpartition("/")[0]
    return os.path.realpath(_find_target(piece, outer) or piece.path)


def _find_target(piece: _Piece, outer: str) -> str:
    """Where the way to a repository leads, as git reads it; empty where git would not, or where it is odd."""
    data = _read(piece.folder, piece.name, piece.status)
    target = os.fsdecode(data.removeprefix(_POINTER).rstrip(b"\r\n"))
    if not data.startswith(_POINTER) or target != target.strip() or not target.isprintable():
        return ""
    return os.path.join(outer, target)  # noqa: PTH118 - as text


def _read(folder: int, name: str, status: os.stat_result) -> bytes:
    """What is no file, or too large, reads as something that cannot be harmless."""
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
        return _ODD
    try:
        file = open_file(folder, name, status)
    except OSError:
        return _ODD
    try:
        return os.read(file, MAX_BYTES)
    finally:
        os.close(file)
