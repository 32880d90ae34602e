"""The content of a file or folder that a command copies, moves or removes: each name is judged at its old and its new place."""

import os
import stat
from collections.abc import Callable, Iterator
from itertools import takewhile
from posixpath import join

import msgspec

from everturn.permissions.judgement import FileUse, Judgement
from everturn.permissions.shell.approval.earlier_changes import EarlierChanges, EditPart, list_forms, locate
from everturn.ports.policy import Ruling

_MAX_COUNT = 5_000
_MAX_JUDGED = 500
_SHOWN = 80
_TOO_MANY = f"there is more in it than {_MAX_COUNT:,} names, or more than {_MAX_JUDGED} that rules could be about"


class TreeRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a judgement about a tree must know besides the command."""

    judge: Callable[[FileUse, str], Judgement]
    find_protected: Callable[[str], str | None]
    """The protected name in an absolute path."""
    ruled: bool
    """There are rules that keep files from being read or written."""
    changes: EarlierChanges
    """What the line changes."""
    scratch: str = ""
    """The session's scratch folder, which commands in the background may write at any moment; empty where it was not made."""


def find_taken_along(part: EditPart, around: TreeRules) -> str:
    """Why the command may not run by itself: a name that it would take along, and what is said of it. Empty where nothing is."""
    trees = (_Tree(part, folder, source, around) for folder in part.folders for source in part.edits.sources)
    return next((why for tree in trees if (why := tree.find())), "")


class _Tree:
    """One file or folder that a command names, with all that is below it."""

    def __init__(self, part: EditPart, folder: str, source: str, around: TreeRules) -> None:
        self._edits, self._around = part.edits, around
        self._source = source
        self._origin = locate(join(folder, source))
        target = part.edits.target
        self._goals = [] if target is None else around.changes.list_goals(part, source, folder)
        self._all_goals = (
            [] if target is None else list(dict.fromkeys((*self._goals, *list_forms(join(folder, target)))))
        )
        self._judged = 0

    def find(self) -> str:
        moved = self._edits.target is not None
        is_there = os.path.lexists(self._origin) or self._around.changes.is_made(self._origin)
        if moved and not is_there and self._edits.takes_more:
            # An earlier part of the line makes it: what will be in it is not known.
            return f"{self._shown()} is not there yet"
        if moved and self._edits.takes_links and os.path.islink(self._origin):  # noqa: PTH114 - paths as text
            return f"{self._shown()} is a link, and would lead elsewhere under another name"
        if why := self._find_in(""):
            return why
        if not self._edits.recursive:
            return ""
        if self._leaves_scratch():
            return f"{self._shown()} is a folder of temporary files: what is in it may be other files by then"
        made = self._around.changes.list_made_below(self._origin)
        return next((why for below in (*made, *_walk(self._origin)) if (why := self._find_in(below))), "")

    def _leaves_scratch(self) -> bool:
        scratch = self._around.scratch
        if not scratch or os.path.isfile(self._origin) or not _is_below(scratch, os.path.realpath(self._origin)):  # noqa: PTH113 - paths as text
            return False
        return not all(_is_below(scratch, os.path.realpath(goal)) for goal in self._goals)

    def _find_in(self, below: str | None) -> str:
        """`below`: a name in the folder, or the folder itself; None where there are more than are looked at."""
        if below is None:
            return _TOO_MANY
        if below and self._goals and (why := self._find_link(below)):
            return why
        goals = [_join(goal, below) for goal in (self._all_goals if below else self._goals)]
        source = _join(self._origin, below)
        left = [] if self._edits.keeps_source else [source]
        for place in (*goals, *left):
            if name := self._around.find_protected(place):
                return f"{self._shown(below)} goes with it, and {name} is protected"
        unclear = [place for place in goals if self._around.ruled or _is_unclear(place)]
        if not unclear and not (left and self._around.ruled):
            return ""
        self._judged += 1
        if self._judged > _MAX_JUDGED:
            return _TOO_MANY
        rulings = [self._around.judge("write", place) for place in unclear]
        # What stays is read, and has another name then.
        found = self._around.judge("read" if self._edits.keeps_source else "write", source)
        rulings += [found] if found.rule is not None else []
        return next((f"{self._shown(below)}: {each.why}" for each in rulings if each.ruling is not Ruling.ALLOW), "")

    def _find_link(self, below: str) -> str:
        """A link leads on under its new name: out of the folder that is taken along, or by what is there where it goes."""
        try:
            leads = os.readlink(f"{self._origin}/{below}")  # noqa: PTH115 - paths as text
        except OSError:
            return ""
        if self._edits.follows or _may_lead_out(leads, below):
            return f"{self._shown(below)} is a link that leads out of {self._shown()}"
        if any(map(self._around.changes.merges, self._goals)):
            return f"{self._shown(below)} is a link, and would lead elsewhere among what is there"
        return ""

    def _shown(self, below: str = "") -> str:
        return _join(self._source, below)[:_SHOWN]


def _is_below(folder: str, path: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _join(folder: str, below: str) -> str:
    return f"{folder.rstrip('/')}/{below}" if below else folder


def _walk(top: str) -> Iterator[str | None]:
    """Names from there, folders with those in them; None at last where there are too many."""
    left = _MAX_COUNT
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


def _may_lead_out(leads: str, below: str) -> bool:
    """Of the folder that is taken along: under a new name, what was judged to be a file would be that link."""
    steps = [step for step in leads.split("/") if step not in {"", "."}]
    ups = len(list(takewhile(lambda step: step == "..", steps)))
    # Behind another name, `..` may be that of a second link's end.
    return leads.startswith("/") or ".." in steps[ups:] or ups > below.count("/")


def _is_unclear(path: str) -> bool:
    """A link, or a file with a second name: what is written there is written elsewhere, too."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) or (status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode))
