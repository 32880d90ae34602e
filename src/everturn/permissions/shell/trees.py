"""What goes with a folder that a command copies, moves or removes: each name in it is judged, not the folder's alone."""

import os
from collections.abc import Callable, Iterator
from itertools import takewhile
from posixpath import basename, join, normpath

from everturn.permissions.judgement import FileUse, Judgement
from everturn.permissions.paths.protected import find_protected
from everturn.permissions.shell.syntax import Word
from everturn.ports.policy import Ruling

_MOST = 5_000
_MOST_JUDGED = 500
_RECURSIVE = frozenset({"rm", "cp"})
_LONG = frozenset({"--recursive", "--archive"})


def may_take_along(
    words: tuple[Word, ...],
    folder: str,
    judge: Callable[[FileUse, str], Judgement],
    *,
    ruled: bool,
    made: frozenset[str] = frozenset(),
) -> bool:
    """Whether nothing below the folders that it names is protected where it goes, or kept from being changed by a rule.

    `ruled`: there are rules that keep files from being read or written. `made`: what an earlier part makes empty. False also where there is more than is looked at.
    """
    name = words[0].raw
    options = [word.raw for word in words[1:] if word.raw.startswith("-")]
    if name in _RECURSIVE and not any(
        each in _LONG or (each[1:2] != "-" and set(each) & set("rRa")) for each in options
    ):
        return True
    operands = [word.fixed or "" for word in words[1:] if not word.raw.startswith("-")]
    if name not in {"rm", "cp", "mv"} or not operands:
        return True
    sources, target = (operands, None) if name == "rm" else (operands[:-1], operands[-1])
    follows = any(each[1:2] != "-" and "L" in each for each in options)
    judged = 0
    for source in sources:
        origin = join(folder, source)
        if target is not None and not os.path.lexists(origin) and source in made:
            continue
        if target is not None and not os.path.lexists(origin):
            # An earlier part of the line makes it: nobody knows what will be in it.
            return False
        goals = [] if target is None else [join(folder, target), join(folder, target, basename(normpath(source)))]
        for below in _walk(origin):
            if below is None or (target is not None and _may_lead_out(origin, below, follows=follows)):
                return False
            places = [f"{goal}/{below}" for goal in goals]
            if not (ruled or any(find_protected(f"/{below}") or _is_shared(place) for place in places)):
                continue
            judged += 1
            if judged > _MOST_JUDGED:
                return False
            left = [] if name == "cp" or not ruled else [f"{origin}/{below}"]
            if any(judge("write", place).ruling is not Ruling.ALLOW for place in places):
                return False
            if any(
                found.rule is not None and found.ruling is not Ruling.ALLOW
                for found in (judge("write", each) for each in left)
            ):
                return False
    return True


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
        except OSError:
            continue


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


def _is_shared(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return status.st_nlink > 1 and not os.path.isdir(path)  # noqa: PTH112 - paths as text
