"""Names of a folder's files that a person may mean: what git keeps or would keep, else what a walk finds. For completion, not for the model."""

import os
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from everturn.tools.grep.ignore import IgnoreRules, parse_rules
from everturn.workspace.programs import find_program

MAX_NAMES = 200_001
"""One more than a menu holds, which can tell then that there are more."""
MAX_WAIT_S = 10.0
LIST = ("--no-optional-locks", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules"})
_MAX_DEPTH = 60
_MAX_RULES, _MAX_IGNORE_BYTES = 500, 65_536
_IGNORE = ".gitignore"
_LOOK = 500
"""After so many entries, the clock is looked at."""
_READ = 1 << 18
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC

IsOver = Callable[[], bool]


def list_project_files(folder: str, env: Mapping[str, str], *, trusted: bool, is_over: IsOver) -> Iterator[str]:
    """Relative paths with `/`, bounded in number and in time.

    `trusted`: only then git is asked, since its settings may have it run programs. `is_over` ends it at once.
    """
    deadline = time.monotonic() + MAX_WAIT_S

    def may_go_on() -> bool:
        return not is_over() and time.monotonic() < deadline

    listed = _list_by_git(folder, env, may_go_on) if trusted else None
    return iter(listed) if listed is not None else _Walk(folder, may_go_on).names()


def _list_by_git(folder: str, env: Mapping[str, str], may_go_on: Callable[[], bool]) -> list[str] | None:
    """None where git is not there, or does not know the folder."""
    git = find_program("git", (folder,), env.get("PATH"))
    if not git:
        return None
    try:
        process = subprocess.Popen(
            (git, *LIST),
            cwd=folder,
            env={**env, "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return None
    names: dict[str, None] = {}
    with process:
        rest = b""
        while process.stdout is not None and (piece := _read(process.stdout.fileno(), may_go_on)):
            *whole, rest = (rest + piece).split(b"\0")
            # A file in the midst of a merge is listed several times.
            names.update(dict.fromkeys(os.fsdecode(name) for name in whole))
            if len(names) >= MAX_NAMES:
                break
        is_cut = len(names) >= MAX_NAMES or not may_go_on()
        if is_cut:
            process.kill()
    return list(names)[:MAX_NAMES] if is_cut or process.returncode == 0 else None


def _read(descriptor: int, may_go_on: Callable[[], bool]) -> bytes:
    """Empty at the end, and where it takes too long."""
    import select

    while may_go_on():
        if select.select([descriptor], [], [], 0.1)[0]:
            return os.read(descriptor, _READ)
    return b""


class _Walk:
    """By descriptors: a link that somebody puts in a folder's place meanwhile leads nowhere."""

    def __init__(self, folder: str, may_go_on: Callable[[], bool]) -> None:
        self._folder = folder
        self._may_go_on = may_go_on
        self._seen = self._named = 0
        self._is_over = False

    def names(self) -> Iterator[str]:
        try:
            top = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            yield from self._list(top, "", None, 0)
        finally:
            os.close(top)

    def _list(self, here: int, prefix: str, around: IgnoreRules | None, depth: int) -> Iterator[str]:
        """Files first, then what is in folders: if there are too many, those near the top are among them."""
        rules = _load_rules(here, prefix, around)
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    if self._ends():
                        break
                    is_folder = _is_folder(entry)
                    if is_folder and entry.name in SKIPPED:
                        continue
                    if rules is not None and rules.ignores(f"/{prefix}{entry.name}", is_folder=is_folder):
                        continue
                    if is_folder:
                        folders.append(entry.name)
                    else:
                        self._named += 1
                        files.append(prefix + entry.name)
        except OSError:
            # What was seen before it could not be read further is there.
            pass
        yield from sorted(files)
        if self._is_over:
            return
        for name in sorted(folders) if depth < _MAX_DEPTH else ():
            try:
                below = os.open(name, _FOLDER, dir_fd=here)
            except OSError:
                # Not ours to list, gone since, or a link by now.
                continue
            try:
                yield from self._list(below, f"{prefix}{name}/", rules, depth + 1)
            finally:
                os.close(below)
            if self._is_over:
                return

    def _ends(self) -> bool:
        if self._named >= MAX_NAMES or (self._seen % _LOOK == 0 and not self._may_go_on()):
            self._is_over = True
        self._seen += 1
        return self._is_over


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _load_rules(here: int, prefix: str, around: IgnoreRules | None) -> IgnoreRules | None:
    """Those of the folder and of the folders around it, as far as they lie in the folder that is listed."""
    text = ""
    with suppress(OSError):
        file = os.open(_IGNORE, _FILE, dir_fd=here)
        try:
            if stat.S_ISREG(os.fstat(file).st_mode):
                text = os.read(file, _MAX_IGNORE_BYTES).decode("utf-8", "replace")
        finally:
            os.close(file)
    rules = parse_rules("\n".join(text.splitlines()[:_MAX_RULES]))
    if not rules:
        return around
    return IgnoreRules(folder=f"/{prefix}", kinds={_IGNORE: rules}, is_border=False, in_repository=True, parent=around)
