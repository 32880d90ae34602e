"""How earlier parts of a line change the file system for later parts. Where that is unknown, a later part is not approved."""

import os
import stat
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from posixpath import basename, dirname, join, normpath, realpath

import msgspec

from everturn.permissions.shell.approval.edit_commands import Edits

_SHOWN = 80


class EditPart(msgspec.Struct, frozen=True, kw_only=True):
    """A command of the line that changes files."""

    edits: Edits
    folders: tuple[str, ...]
    """Where it may run."""
    globs: tuple[tuple[str, str], ...] = ()
    """Folders, and patterns whose matches there it names."""


class EarlierChanges:
    """What all parts of a line change.

    Empty folders and ordinary files that a part makes are known before it runs. A folder that is moved, or copied with all that is in it,
    is not: it may bring links, and files with a second name. What another part writes there was judged when none of it was there.
    """

    def __init__(self, parts: Sequence[EditPart], written: Iterable[str] = (), *, is_ordered: bool = False) -> None:
        """`written`: files that redirections write; absolute. `is_ordered`: each part has ended before the next begins."""
        self._parts, self._is_ordered = parts, is_ordered
        self._written = tuple(written)
        self._several = len(parts) + len(self._written) > 1
        self._gone = {form for part in parts if not part.edits.keeps_source for form in _list_sources(part)}
        self._made = {form for path in self._written for form in list_forms(path)}
        for part in parts:
            self._made |= {form for each in _join_all(part, part.edits.makes) for form in list_forms(each)}
        self._goals: dict[tuple[int, str, str], list[str]] = {}
        self._tops = [self._find_tops(part) for part in parts]

    def is_made(self, path: str) -> bool:
        """By a part of the line, as an empty folder or an ordinary file, or as a folder around one."""
        return path in self._made or any(is_below(made, path) for made in self._made)

    def list_made_below(self, folder: str) -> list[str]:
        """Names from there."""
        return sorted(
            made[len(folder) :].lstrip("/") for made in self._made if made != folder and is_below(made, folder)
        )

    def find_conflict(self, part: EditPart) -> str:
        """Why it is not known what the part changes: another part of the line comes first. Empty where it is."""
        at = next(number for number, each in enumerate(self._parts) if each is part)
        others = [top for number, tops in enumerate(self._tops) if self._comes_before(number, at) for top in tops]
        takes_folders = part.edits.recursive
        for path in _join_all(part, [path for use, path in part.edits.files if use == "write"]):
            if why := self._find_lost(path, others):
                return why
        for path in _join_all(part, part.edits.sources if part.edits.takes_more else ()):
            if why := self._find_lost(path, [*others, *self._tops[at]], takes_folders=takes_folders):
                return why
        for folder, pattern in part.globs:
            if self._may_match(folder, pattern, others):
                return f"the line itself may make files that {pattern[:_SHOWN]} matches"
        return ""

    def find_written_conflict(self) -> str:
        """The same, of redirections."""
        tops = [top for tops in self._tops for top in tops]
        return next((why for path in self._written if (why := self._find_lost(path, tops))), "")

    def merges(self, path: str) -> bool:
        """Something is there already, or will be: what is copied there is put among it."""
        return os.path.lexists(path) or self.is_made(path) or sum(path in goals for goals in self._goals.values()) > 1

    def list_goals(self, part: EditPart, source: str, folder: str) -> list[str]:
        """Where the source itself goes, as far as that can be told: the target is a new name, or a folder that takes it in."""
        return self._goals.get((id(part), source, folder), [])

    def _find_goals(self, edits: Edits, source: str, folder: str) -> list[str]:
        targets = list_forms(join(folder, edits.target or ""))
        inside = [join(target, basename(locate(join(folder, source)))) for target in targets]
        if edits.onto:
            return [*targets]
        if source.rstrip("/").rpartition("/")[2] in {".", ".."}:
            return [*targets, *inside]
        is_gone = any(is_below(each, gone) for each in targets for gone in self._gone)
        if os.path.isdir(targets[-1]) and not is_gone:  # noqa: PTH112 - paths as text
            return inside
        is_new = self._is_ordered and not is_gone and not any(map(self.is_made, targets))
        return [*targets] if is_new or not self._several else [*targets, *inside]

    def _comes_before(self, number: int, at: int) -> bool:
        return number < at if self._is_ordered else number != at

    def _find_lost(self, path: str, tops: Iterable[str], *, takes_folders: bool = False) -> str:
        if self._several and _goes_back(path):
            return f"{path[-_SHOWN:]} leads back by .., and another part of the line may change what it leads through"
        for form in list_forms(path):
            for top in tops:
                if is_below(form, top) or (takes_folders and is_below(top, form)):
                    return f"another part of the line moves or copies to {basename(top)[:_SHOWN]}, so that it is not known what is there"
        return ""

    def _may_match(self, folder: str, pattern: str, tops: Iterable[str]) -> bool:
        names = {basename(made) for made in self._made if dirname(made) == folder}
        return any(fnmatchcase(name, pattern) for name in names) or any(
            is_below(folder, top) or dirname(top) == folder for top in tops
        )

    def _find_tops(self, part: EditPart) -> set[str]:
        """What is not known behind the part. What is known, it notes as made."""
        found: set[str] = set()
        for folder in part.folders:
            for source in part.edits.sources if part.edits.target is not None else ():
                goals = self._goals[id(part), source, folder] = self._find_goals(part.edits, source, folder)
                is_plain = not part.edits.takes_more or self._is_plain(locate(join(folder, source)))
                (self._made if is_plain else found).update(goals)
        return found

    def _is_plain(self, path: str) -> bool:
        """One ordinary file without a second name, or something empty that the line makes."""
        if self.list_made_below(path):
            return False
        try:
            status = os.lstat(path)
        except OSError:
            return path in self._made
        return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def locate(path: str) -> str:
    """Where the name itself is, which a command moves or removes: the folders above it as the kernel takes them, links followed."""
    above, _, name = path.rstrip("/").rpartition("/")
    return realpath(path) if name in {"", ".", ".."} else join(realpath(above or "/"), name)


def list_forms(path: str) -> tuple[str, ...]:
    """By its text, where its name is, and where it leads in the end."""
    return tuple(dict.fromkeys((normpath(path), locate(path), realpath(path))))


def is_below(path: str, folder: str) -> bool:
    """Or the same."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _goes_back(path: str) -> bool:
    """`..` behind a name."""
    steps = [step for step in path.split("/") if step not in {"", "."}]
    return any(step == ".." and before != ".." for before, step in pairwise(steps))


def _join_all(part: EditPart, paths: Iterable[str]) -> list[str]:
    return [join(folder, path) for folder in part.folders for path in paths]


def _list_sources(part: EditPart) -> list[str]:
    return [form for path in _join_all(part, part.edits.sources) for form in list_forms(path)]
