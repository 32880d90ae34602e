"""Memory files: the user's own and those of a repository, as text for the model, with the word on how far they bind."""

import os
import stat
from collections.abc import Callable, Collection, Iterator

import msgspec

from everturn.core.marks import one_line
from everturn.core.protected import MEMORY
from everturn.ports import unsettled
from everturn.ports.trust import TRUSTED_MEMORY, UNTRUSTED_MEMORY, USER_MEMORY
from everturn.settings.places import PROJECT, USER, SettingsRoots

NAMES = MEMORY
"""The first that is there: where both are, one mostly repeats the other."""
MAX_BYTES = 40_000
CUT = "\n[… the rest of this file is left out: read it where it matters]"
LEFT_OUT = "[{path} is not shown: {why}]"
CUT_NOTICE = "{path} is longer than {most:,} bytes: the model gets the beginning, and a note that there is more."
SKIPPED_NOTICE = "{path} was not given to the model: {why}."
A_LINK, NO_FILE, UNREADABLE = "it is a link", "it is not a regular file", "it cannot be read"
Stamp = tuple[int, int, int, int]
"""A file's number, its size, and when its content and when anything of it changed."""
_HOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class _Found(msgspec.Struct, frozen=True):
    """A memory file that is there."""

    stamp: Stamp | None
    text: str
    is_cut: bool = False
    skipped: str = ""
    """Why it is not given."""


class Memory:
    """Of the user's home, then of the repository's root and the folders down to the working one. A file that has not changed is read once.

    While a confined command may write a file, it says what it said before that command.
    """

    def __init__(self, roots: SettingsRoots, *, trusted: bool, wanted: Collection[str] = (USER, PROJECT)) -> None:
        """`wanted`: whose files are read, by the names of settings sources."""
        self._home = [roots.home] if USER in wanted else []
        self._folders = _list_folders(roots) if PROJECT in wanted else []
        self._folders = [folder for folder in self._folders if folder not in self._home]
        self._trusted = trusted
        self._known: dict[str, _Found] = {}
        """Those that were there at the last look."""
        self._noticed: set[str] = set()
        self.tell: Callable[[str], None] = lambda _: None
        """Shows the user a notice: each file that was cut or skipped is told once."""

    def load(self) -> str:
        """As it is now, as far as that can be vouched for. Empty where there is none; never raises."""
        project = TRUSTED_MEMORY if self._trusted else UNTRUSTED_MEMORY
        parts = []
        for head, folders in ((USER_MEMORY, self._home), (project, self._folders)):
            if texts := list(self._stream_texts(folders)):
                parts += [head, *texts]
        self._tell_losses()
        return "\n\n".join(parts)

    def list_loaded(self) -> tuple[tuple[str, str], ...]:
        """The files that the last look gave, each with User or Project."""
        return tuple(
            (path, "User" if os.path.dirname(path) in self._home else "Project")  # noqa: PTH120 (paths are text here)
            for path, found in self._known.items()
            if not found.skipped and found.text.strip()
        )

    def _tell_losses(self) -> None:
        for path, found in self._known.items():
            if found.skipped:
                notice = SKIPPED_NOTICE.format(path=one_line(path), why=found.skipped)
            elif found.is_cut:
                notice = CUT_NOTICE.format(path=one_line(path), most=MAX_BYTES)
            else:
                continue
            if notice not in self._noticed:
                self._noticed.add(notice)
                self.tell(notice)

    def _stream_texts(self, folders: list[str]) -> Iterator[str]:
        for folder in folders:
            left_out = []
            for path, found in self._find(folder):
                if found.skipped:
                    left_out.append(LEFT_OUT.format(path=one_line(path), why=found.skipped))
                elif found.text.strip():
                    yield f"## {one_line(path)}\n{found.text}"
            yield from left_out

    def _find(self, folder: str) -> list[tuple[str, _Found]]:
        """Of the files of a folder the first that can be read; what else is there is skipped, unless it says the same."""
        place, there, first = folder.rstrip("/"), [], None
        for name in NAMES:
            path = f"{place}/{name}"
            if not unsettled.is_unsettled(path):
                self._look(path, folder)
            if (found := self._known.get(path)) is None:
                continue
            if first is None and not found.skipped:
                first = (name, found)
            elif first is not None and not found.skipped:
                if found.text == first[1].text:
                    continue
                found = self._known[path] = _Found(
                    None, found.text, skipped=f"{first[0]} is in the same folder, and is used instead"
                )
            there.append((path, found))
        return there if len(there) < len(NAMES) else self._pass_over_links(there)

    def _pass_over_links(self, there: list[tuple[str, _Found]]) -> list[tuple[str, _Found]]:
        """A link to the file beside it is no loss."""
        kept = []
        for path, found in there:
            if found.skipped == A_LINK and _leads_beside(path):
                self._known.pop(path)
            else:
                kept.append((path, found))
        return kept

    def _look(self, path: str, folder: str) -> None:
        known = self._known.pop(path, None)
        # A folder of the repository was a real path at the start: by now a command may have put a link there that leads elsewhere.
        is_led_away = folder in self._folders and os.path.realpath(folder) != folder
        read = None if is_led_away else _read(path, known)
        if read is not None:
            self._known[path] = read


def _leads_beside(path: str) -> bool:
    try:
        return os.readlink(path).removeprefix("./") in NAMES  # noqa: PTH115 (before the first request)
    except OSError:
        return False


def _list_folders(roots: SettingsRoots) -> list[str]:
    below = roots.folder.removeprefix(roots.root.rstrip("/"))
    if below == roots.folder and roots.root != "/":
        return [roots.folder]
    parts = [part for part in below.split("/") if part]
    return ["/".join((roots.root.rstrip("/"), *parts[:count])) for count in range(len(parts) + 1)]


def _read(path: str, known: _Found | None) -> _Found | None:
    """None where there is nothing. A link is not followed: it could lead to a key, which nobody means to send."""
    try:
        descriptor = os.open(path, _HOW)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError:
        return _Found(None, "", skipped=A_LINK if os.path.islink(path) else UNREADABLE)  # noqa: PTH114 (before the first request)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return _Found(None, "", skipped=NO_FILE)
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if known is not None and known.stamp == stamp:
            return known
        content = os.read(descriptor, MAX_BYTES + 1)
    except OSError:
        return _Found(None, "", skipped=UNREADABLE)
    finally:
        os.close(descriptor)
    text, is_cut = content[:MAX_BYTES].decode("utf-8-sig", errors="replace"), len(content) > MAX_BYTES
    return _Found(stamp, text + CUT if is_cut else text, is_cut=is_cut)
