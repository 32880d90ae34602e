"""What a line may write although nobody said so: a protected path beside an allow rule, and files that rules keep from being changed.

`Doubts` looks at files that programs are known to write. Here are the words of all other programs, and, for protected paths, names that are
only known when the line runs.
"""

import os
from collections.abc import Iterator
from functools import cached_property
from posixpath import join

from everturn.permissions.judgement import World
from everturn.permissions.paths.covered import MAX_WALKED
from everturn.permissions.shell.fileguard import FileGuard
from everturn.permissions.shell.files import find_files
from everturn.permissions.shell.folders import resolve
from everturn.permissions.shell.openings import Opening, find_listed, fits, open_word
from everturn.permissions.shell.survey import Sight, Survey
from everturn.permissions.shell.syntax import FOLDER, HOME, UNKNOWN, write_marks
from everturn.permissions.shell.writers import find_possibly_written

_SHOWN = 80
_INSIDE = "/_"
"""Stands for all that is in a folder."""


class PossibleWrites:
    """Of one line."""

    def __init__(self, survey: Survey, world: World, guard: FileGuard) -> None:
        self._survey, self._world, self._guard = survey, world, guard

    def find_protected(self) -> str:
        """Why a rule that allows the line is not enough; empty where it writes no protected path."""
        for sight in self._sights:
            shown = write_marks(" ".join(sight.argv))[:_SHOWN]
            for use, path in find_files(sight.argv):
                if use == "write" and (trouble := self._judge_written(path, sight)):
                    return f"{shown!r} {trouble}"
            for path in self._list_possible(sight):
                if self._guard.is_guarded("write", path, sight.here):
                    return (
                        f"{shown!r} may write {path[:_SHOWN]}, which is protected: no rule approves that ahead of time"
                    )
        return ""

    def find_ruled(self) -> str:
        """A word of a program that nobody knows names a file which a rule keeps from being changed; empty where none does."""
        for sight in self._sights:
            for path in self._list_possible(sight):
                if self._guard.find_rule("write", path, sight.here) is not None:
                    shown = write_marks(" ".join(sight.argv))[:_SHOWN]
                    return f"{shown!r} may change {path[:_SHOWN]}, which a rule keeps from being changed"
        return ""

    @cached_property
    def _sights(self) -> list[Sight]:
        """Of a line that is understood, those that were read and not guessed: they know what its variables hold."""
        is_known = self._survey.reading.holdable
        return [sight for sight in self._survey.sights if sight.source is not None or not is_known]

    def _judge_written(self, path: str, sight: Sight) -> str:
        """Of a file that it is known to write: what is wrong with the name. Names that are fixed are judged elsewhere."""
        if path.endswith(_INSIDE) and UNKNOWN not in path:
            return ""
        opening = self._open(path, sight)
        if opening.ends is not None:
            return f"writes to {write_marks(path)[:_SHOWN]}, which is not one fixed file"
        if sight.here is None and sight.source is not None and not path.startswith(("/", HOME, FOLDER, "~")):
            return f"writes to {write_marks(path)[:_SHOWN]}, and it is not known in which folder"
        if opening.texts != (path,):
            for place in map(self._place, opening.texts):
                if "\0" in place or self._guard.is_guarded("write", place, sight.here):
                    return f"may write {write_marks(place)[:_SHOWN]}, which is protected: no rule approves that ahead of time"
        if found := next(
            (found for folder in opening.folders if (found := self._find_below(folder, sight, opening))), ""
        ):
            return f"may write {found[:_SHOWN]}, which is protected: no rule approves that ahead of time"
        return ""

    def _list_possible(self, sight: Sight) -> Iterator[str]:
        for word in dict.fromkeys(find_possibly_written(sight.argv)):
            for text in self._open(word, sight).texts:
                place = self._place(text)
                if "\0" not in place and self._looks_like_file(place, sight):
                    yield place

    def _looks_like_file(self, place: str, sight: Sight) -> bool:
        if ("/" in place or "." in place) and not any(map(str.isspace, place)):
            return place.strip("./") != ""
        return any(os.path.isfile(each) for each in resolve(sight.here, place) or ())  # noqa: PTH113 - paths as text

    def _open(self, word: str, sight: Sight) -> Opening:
        return open_word(word, sight, self._world.home, find_listed(sight, self._survey.reading.pipes))

    def _place(self, text: str) -> str:
        return text.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)

    def _find_below(self, folder: str, sight: Sight, opening: Opening) -> str:
        """Something protected that lies below, by its name; too much to look at counts as such."""
        left = MAX_WALKED
        waiting = list(resolve(sight.here, self._place(folder)) or ())
        if not waiting:
            return folder
        while waiting:
            place = waiting.pop()
            try:
                with os.scandir(place) as entries:
                    for entry in entries:
                        left -= 1
                        if left < 0:
                            return f"something in {folder}"
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        elif fits(entry.name, opening.like) and self._world.find_protected(join(place, entry.name)):
                            return entry.path
            except OSError:
                continue
        return ""
