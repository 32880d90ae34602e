"""What goes with a file or folder that a command copies, moves or removes: each name in it is judged, where it is and where it goes."""

import os
import stat
from collections.abc import Callable, Iterator
from itertools import takewhile
from posixpath import basename, join, normpath

import msgspec

from everturn.permissions.judgement import FileUse, Judgement
from everturn.permissions.shell.edits import Edits
from everturn.ports.policy import Ruling

_MOST = 5_000
_MOST_JUDGED = 500
_SHOWN = 80
_TOO_MANY = f"there is more in it than {_MOST:,} names, or more than {_MOST_JUDGED} that rules could be about"


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a judgement about a tree must know besides the command."""

    judge: Callable[[FileUse, str], Judgement]
    find_protected: Callable[[str], str | None]
    """The protected name in an absolute path."""
    ruled: bool
    """There are rules that keep files from being read or written."""
    made: frozenset[str] = frozenset()
    """What an earlier part of the line makes, with nothing in it."""


def find_taken_along(edits: Edits, folder: str, around: Surroundings) -> str:
    """Why the command may not run by itself: a name that it would take along, and what is said of it. Empty where nothing is."""
    return next((why for source in edits.sources if (why := _Tree(edits, folder, source, around).find())), "")


class _Tree:
    """One file or folder that a command names, with all that is below it."""

    def __init__(self, edits: Edits, folder: str, source: str, around: Surroundings) -> None:
        self._edits, self._around = edits, around
        self._source = source
        self._origin = normpath(join(folder, source))
        self._target = None if edits.target is None else normpath(join(folder, edits.target))
        self._judged = 0

    def find(self) -> str:
        moved = self._target is not None
        if moved and not os.path.lexists(self._origin) and self._source not in self._around.made and self._takes_more():
            # An earlier part of the line makes it: what will be in it is not known.
            return f"{self._shown()} is not there yet"
        if moved and self._edits.takes_links and os.path.islink(self._origin):  # noqa: PTH114 - paths as text
            return f"{self._shown()} is a link, and would lead elsewhere under another name"
        if why := self._find_in(""):
            return why
        if not self._edits.recursive:
            return ""
        return next((why for below in _walk(self._origin) if (why := self._find_in(below))), "")

    def _takes_more(self) -> bool:
        """More than the content of one file."""
        return self._edits.recursive or self._edits.takes_links

    def _find_in(self, below: str | None) -> str:
        """`below`: a name in the folder, or the folder itself; None where there are more than are looked at."""
        if below is None:
            return _TOO_MANY
        if below and self._target is not None and _may_lead_out(self._origin, below, follows=self._edits.follows):
            return f"{self._shown(below)} is a link that leads out of {self._shown()}"
        goals = self._list_goals(below)
        left = [] if self._edits.keeps_source else [_join(self._origin, below)]
        for place in (*goals, *left):
            if name := self._around.find_protected(place):
                return f"{self._shown(below)} goes with it, and {name} is protected"
        unclear = [place for place in goals if self._around.ruled or _is_unclear(place)]
        if not unclear and not (left and self._around.ruled):
            return ""
        self._judged += 1
        if self._judged > _MOST_JUDGED:
            return _TOO_MANY
        rulings = [self._around.judge("write", place) for place in unclear]
        rulings += [found for place in left if (found := self._around.judge("write", place)).rule is not None]
        return next((f"{self._shown(below)}: {each.why}" for each in rulings if each.ruling is not Ruling.ALLOW), "")

    def _list_goals(self, below: str) -> list[str]:
        """Where it goes: the target itself is a new name, or a folder that takes it in."""
        if self._target is None:
            return []
        inside = join(self._target, basename(self._origin))
        if not below:
            return [inside] if os.path.isdir(self._target) else []  # noqa: PTH112 - paths as text
        return [_join(goal, below) for goal in (self._target, inside)]

    def _shown(self, below: str = "") -> str:
        return _join(self._source, below)[:_SHOWN]


def _join(folder: str, below: str) -> str:
    return f"{folder.rstrip('/')}/{below}" if below else folder


def _walk(top: str) -> Iterator[str | None]:
    """Names from there, folders with those in them; None at last where there are too many."""
    left = _MOST
    waiting = [""]
    while waiting:
        inner = waiting.pop()
        try:
            with os.scandir(f"{top}/{inner}") as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        yield None
                        return
                    below = f"{inner}/{entry.name}".lstrip("/")
                    yield below
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(below)
        except (NotADirectoryError, FileNotFoundError):
            continue
        except OSError:
            # It cannot be looked into now, and perhaps when it has moved.
            yield None
            return


def _may_lead_out(top: str, below: str, *, follows: bool) -> bool:
    """A link that leads out of the folder that is taken along: under a new name, what was judged to be a file would be that link."""
    try:
        leads = os.readlink(f"{top}/{below}")  # noqa: PTH115 - paths as text
    except OSError:
        return False
    steps = [step for step in leads.split("/") if step not in {"", "."}]
    ups = len(list(takewhile(lambda step: step == "..", steps)))
    # Behind another name, `..` may be that of a second link's end.
    return follows or leads.startswith("/") or ".." in steps[ups:] or ups > below.count("/")


def _is_unclear(path: str) -> bool:
    """A link, or a file with a second name: what is written there is written elsewhere, too."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) or (status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode))
