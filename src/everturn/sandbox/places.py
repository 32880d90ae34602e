"""Which places of the file system a command may write, must leave as they are, or cannot see."""

import os
import stat
from collections.abc import Iterable, Iterator

import msgspec

from everturn.core.protected import (
    AGENT_SETTINGS,
    ENVIRONMENT,
    FILES,
    FOLDER_PAIRS,
    FOLDERS,
    FREE,
    GIT,
    GIT_HEAD,
    GIT_HOOKS,
    HOME,
    HOME_TOOLS,
    MEMORY,
    START_UP,
)
from everturn.sandbox.placeholders import has_placeholder
from everturn.sandbox.settings import SandboxSettings
from everturn.workspace.git_named import Named, find_named, find_named_by

HELD = AGENT_SETTINGS
"""Held even where they are not there yet."""
GIT_HELD = ("hooks", "config")
"""They name programs that git runs for whoever uses the repository."""
GIT_TRAPS = ("commondir", "config.worktree")
"""They would send git elsewhere for both. Nothing may stand in their place, or git stops: they are looked for afterwards."""
KEPT = tuple(name for name in (*FOLDERS, *map("/".join, FOLDER_PAIRS), *FILES) if name not in {GIT, *HELD})
"""Left as they are where they are there."""
HOME_HELD = (*START_UP, *HOME)
"""Held where the person's home itself may be written."""
_DEPTH = 3
_MAX_ENTRIES = 2_000
_MAX_NESTED = 8
_NEVER_ENTERED = frozenset({"node_modules", ".venv", "venv", "target", "dist", "build", "__pycache__"})


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """All absolute, links resolved, parents before children."""

    writable: tuple[str, ...]
    pinned: tuple[str, ...] = ()
    """Writable, and must not be moved away: something protected is below."""
    protected: tuple[str, ...] = ()
    """There, and read-only."""
    missing: tuple[str, ...] = ()
    """Not there, and must not appear."""
    links: tuple[str, ...] = ()
    """Protected, but links: nothing can be put over them."""
    traps: tuple[str, ...] = ()
    """Must not appear, and cannot be held."""
    denied: tuple[str, ...] = ()
    """Of the protected, what the person named, and what is ours: no rule of Landlock may let commands write there."""
    hidden: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    """Readable although something above is hidden."""


def find_places(
    settings: SandboxSettings,
    *,
    folders: Iterable[str],
    temporary: str,
    homes: Iterable[str] = (),
    own: Iterable[str] = (),
    code: Iterable[str] = (),
    nested: Iterable[str] = (),
    strict: bool = False,
) -> Places:
    """`folders` are the workspace, `homes` the person's, `own` folders that we write while commands run, `code` our program's.

    `nested`: more repositories inside the workspace (`find_nested`). `strict`: what else is protected may not appear either.
    """
    roots = _there(folders)
    writable = _sorted({*roots, *_there(settings.allow_write), *_there([temporary])})
    homes = _there(homes)
    found = _Found(straight=writable, home=homes[0] if homes else "")
    for root in roots:
        found.hold(root, HELD)
        (found.trap if strict else found.keep)(root, KEPT)
        found.trap(root, MEMORY)
        if strict:
            found.keep(root, _list_environments(root))
        found.look_at_repository(root)
    for folder in _between(roots, writable):
        # Memory files are read from the repository's root down to the working folder.
        found.trap(folder, MEMORY)
    for path in _there(settings.allow_write):
        found.keep(path, (*HELD, *KEPT, *MEMORY))
        found.look_at_repository(path, hold=False)
    for repository in nested:
        found.keep(repository, (*HELD, *MEMORY))
        found.look_at_repository(repository, hold=False)
    for home in homes:
        found.hold(home, _list_reached(home, HOME_HELD, writable))
        found.keep(home, _list_reached(home, HOME_TOOLS, writable))
    own = tuple(own)
    for path in (*own, *settings.deny_write):
        if _is_below(os.path.realpath(path), writable):
            found.look_at(path, hold=True)
    for path in code:
        found.look_at_code(path)
    hidden = _sorted(_there(settings.deny_read))
    return Places(
        writable=writable,
        # Above what is hidden, too: moved away, it would be there under another name for the next command.
        pinned=_sorted(
            path for path in _between({*found.protected, *found.missing, *hidden}, writable) if found.is_straight(path)
        ),
        protected=_sorted(found.protected),
        missing=_sorted(found.missing),
        links=_sorted(found.links),
        traps=_sorted(found.traps),
        denied=_sorted(path for path in _there((*own, *settings.deny_write)) if _is_below(path, writable)),
        hidden=hidden,
        shown=_sorted(path for path in _there(settings.allow_read) if _is_below(path, hidden)),
    )


def lies_in_protected(folder: str, home: str) -> bool:
    """The whole folder is a place that is protected, so that what is written anywhere in it may run later."""
    parts = [part for part in folder.split("/") if part]
    pairs = list(zip(parts, [*parts[1:], ""], strict=True))
    if any((pair[0] in FOLDERS and pair not in FREE) or pair in FOLDER_PAIRS for pair in pairs):
        return True
    below = f"{folder}/".removeprefix(f"{home.rstrip('/')}/")
    return below != f"{folder}/" and any(below.startswith(f"{name}/") for name in (*HOME, *HOME_TOOLS))


def _list_reached(home: str, names: Iterable[str], writable: Iterable[str]) -> list[str]:
    """Of places of a home, those that could be written."""
    if _is_below(home, writable):
        return list(names)
    inner = [f"{root[len(home) :].strip('/')}/" for root in writable if _is_below(root, [home])]
    return [name for name in names if any(name.startswith(folder) for folder in inner)]


class _Found:
    def __init__(self, straight: tuple[str, ...], home: str = "") -> None:
        """`straight`: folders that may be written, and that no link leads to. `home`: of the person."""
        self._writable, self._home = straight, home
        self.protected: set[str] = set()
        self.missing: set[str] = set()
        self.links: set[str] = set()
        self.traps: set[str] = set()
        self._straight = dict.fromkeys(straight, True)

    def hold(self, folder: str, names: Iterable[str]) -> None:
        for name in names:
            self.look_at(f"{folder}/{name}", hold=True)

    def keep(self, folder: str, names: Iterable[str]) -> None:
        for name in names:
            self.look_at(f"{folder}/{name}", hold=False)

    def trap(self, folder: str, names: Iterable[str]) -> None:
        """Where nothing is there, an empty folder in its place would be in the way of whoever lists or opens all files."""
        for name in names:
            if _kind(path := f"{folder}/{name}") is None:
                self.traps.add(path)
            else:
                self.look_at(path, hold=False)

    def look_at(self, path: str, *, hold: bool) -> None:
        kind = _kind(path)
        if kind is None and not hold:
            # Most are: before each command some twenty names are looked for.
            return
        if not self.is_straight(path[: path.rindex("/")] or "/"):
            # By a link somewhere above: what it leads to is protected where that could be written, and nothing is mounted
            # by this name. A mount would follow the link, and open what it leads to.
            self.protected.update(_there([path]))
        elif kind is None:
            self.missing.add(_first_missing(path))
        elif kind == stat.S_IFDIR and has_placeholder(path):
            # Somebody's: it may be gone in a moment.
            self.missing.add(path)
        elif kind == stat.S_IFLNK:
            self.links.add(path)
            self.protected.update(_there([path]))
        else:
            self.protected.add(path)

    def look_at_code(self, path: str) -> None:
        """Of a link, what it leads to may not be written at all; nobody puts another in its place. A script may not appear."""
        outer, _, name = path.rpartition("/")
        if any(_is_below(os.path.realpath(place), self._writable) for place in (path, outer)):
            self.trap(outer, (name,))

    def is_straight(self, folder: str) -> bool:
        """No link on the way. Asked once for each folder: most names share a few."""
        if folder not in self._straight:
            self._straight[folder] = os.path.realpath(folder) == folder
        return self._straight[folder]

    def look_at_named(self, named: Named) -> None:
        """What git's settings name, as far as it could be written."""
        for path in named.hooks:
            if any(root == path or root.startswith(f"{path.rstrip('/')}/") for root in self._writable):
                # The whole workspace cannot be read-only.
                self.trap(path.rstrip("/"), GIT_HOOKS)
            elif _is_below(path, self._writable):
                self.look_at(path, hold=True)
        for path in named.included:
            if _is_below(path, self._writable):
                outer, _, name = path.rpartition("/")
                self.trap(outer, (name,))
        for path in named.programs:
            if _is_below(path, self._writable) and _kind(os.path.realpath(path)) == stat.S_IFREG:
                self.look_at(path, hold=False)

    def look_at_repository(self, folder: str, *, hold: bool = True) -> None:
        self.look_at_named(find_named(folder, self._home))
        git = f"{folder}/{GIT}"
        if _kind(git) != stat.S_IFDIR or has_placeholder(git):
            # A file names the repository's place, a link may be put right by nobody: either stays. None must appear.
            self.look_at(git, hold=hold)
            return
        for shape in (git, *find_shapes(f"{git}/modules")):
            self.hold(shape, GIT_HELD)
            self.trap(shape, GIT_TRAPS)
            if shape != git:
                self.look_at_named(find_named_by(shape, self._home))
        for worktree in find_shapes(f"{git}/worktrees"):
            # It has the settings and hooks of the repository.
            self.trap(worktree, GIT_TRAPS)


def find_shapes(folder: str, depth: int = _DEPTH) -> list[str]:
    """Repositories without a working tree below a folder. A submodule's name may have several parts, and own submodules."""
    found: list[str] = []
    for path in _list_folders(folder) if depth and _kind(folder) == stat.S_IFDIR else ():
        if _kind(f"{path}/{GIT_HEAD}") is not None:
            found += [path, *find_shapes(f"{path}/modules", depth - 1)]
        else:
            found += find_shapes(path, depth - 1)
    return found


def find_nested(root: str) -> list[str]:
    """Folders near the top that are repositories themselves, as far as a short look goes."""
    nested: list[str] = []
    seen = 0
    level = [root]
    for _ in range(_DEPTH):
        below = [path for folder in level for path in _list_folders(folder)]
        seen += len(below)
        nested += [path for path in below if any(_kind(f"{path}/{name}") is not None for name in (GIT, *HELD))]
        if seen > _MAX_ENTRIES:
            break
        level = below
    return sorted(nested)[:_MAX_NESTED]


def _list_folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [
                entry.path
                for entry, _ in zip(entries, range(_MAX_ENTRIES), strict=False)
                if entry.name not in _NEVER_ENTERED and entry.name != GIT and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []


def _list_environments(root: str) -> list[str]:
    """Virtual environments of Python right in the folder, by name. In a sandbox programs install into them."""
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_MAX_ENTRIES), strict=False) if entry.is_dir()]
    except OSError:
        return []
    return [name for name in names if _kind(f"{root}/{name}/{ENVIRONMENT}") is not None]


def _kind(path: str) -> int | None:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return None


def _first_missing(path: str) -> str:
    """The highest part of the path that is not there."""
    parent = os.path.dirname(path)  # noqa: PTH120 - paths as text
    return path if parent == path or _kind(parent) is not None else _first_missing(parent)


def _there(paths: Iterable[str]) -> list[str]:
    return [real for path in paths if os.path.exists(real := os.path.realpath(path))]  # noqa: PTH110 - paths as text


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _between(paths: Iterable[str], writable: tuple[str, ...]) -> Iterator[str]:
    """Folders above the paths and below what is writable."""
    for path in paths:
        parent = os.path.dirname(path)  # noqa: PTH120 - paths as text
        while parent not in writable and _is_below(parent, writable):
            yield parent
            parent = os.path.dirname(parent)  # noqa: PTH120 - paths as text


def _sorted(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(paths), key=lambda path: (path.count("/") if path != "/" else 0, path)))
