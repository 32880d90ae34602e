"""What a line may write although nobody said so: a protected path beside an allow rule, and files that rules keep from being changed.

`WriteDoubts` looks at files that programs are known to write. Here are the words of all other programs, what commands take along with a folder
or a glob (`LineArrivals`), and, for protected paths, names that are only known when the line runs.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from posixpath import basename, dirname, join, normpath, realpath

from everturn.permissions.judgement import JudgedWorld, Judgement
from everturn.permissions.paths.coverage import MAX_WALKED
from everturn.permissions.rules.rule import Rule
from everturn.permissions.shell.files.arrivals import LineArrivals
from everturn.permissions.shell.files.departures import LineDepartures
from everturn.permissions.shell.files.guard import FileGuard, may_hold
from everturn.permissions.shell.files.opened_files import OpenedFiles
from everturn.permissions.shell.files.openers import find_files
from everturn.permissions.shell.files.openings import WordFiles, find_listed, fits, open_word
from everturn.permissions.shell.files.writers import find_possibly_written
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, write_marks
from everturn.permissions.shell.running.survey import Candidate, Survey
from everturn.ports.policy import Ruling

_SHOWN = 80
_MAX_JUDGED = 1_000
_INSIDE = "/_"
"""Stands for all that is in a folder."""


class PossibleWrites:
    """Of one line."""

    def __init__(self, survey: Survey, world: JudgedWorld, guard: FileGuard, files: OpenedFiles) -> None:
        self._survey, self._world, self._guard, self._files = survey, world, guard, files
        self._arrivals = LineArrivals(survey, world, guard, files)

    def find_protected(self) -> str:
        """Why a rule that allows the line is not enough; empty where it writes no protected path."""
        for candidate in self._candidates:
            shown = write_marks(" ".join(candidate.argv))[:_SHOWN]
            for use, path in find_files(candidate.argv):
                if use != "write":
                    continue
                if trouble := self._judge_written(path, candidate):
                    return f"{shown!r} {trouble}"
                if self._files.is_behind_link(path, candidate.here, candidate):
                    return f"{shown!r} writes to {write_marks(path)[:_SHOWN]}, where the line itself makes a link"
            for path in self._list_possible(candidate):
                if self._guard.is_guarded("write", path, candidate.here):
                    return (
                        f"{shown!r} may write {path[:_SHOWN]}, which is protected: no rule approves that ahead of time"
                    )
        for redirect, target in self._guard.targets:
            if target.use == "write" and self._files.is_behind_link(target.path or "", redirect.here, None):
                return f"it writes to {write_marks(target.path or '')[:_SHOWN]}, where the line itself makes a link"
        return self._departures.find() or self._find_protected_arrival()

    def _find_protected_arrival(self) -> str:
        for candidate, arrivals in self._arrivals.find():
            shown = candidate.text[:_SHOWN]
            if arrivals.anything:
                return f"what {shown!r} brings with it is not known before it runs"
            reals: dict[str, str] = {}
            for place in arrivals.places:
                above = dirname(place)
                if above not in reals:
                    reals[above] = realpath(above)
                real = join(reals[above], place.rpartition("/")[2])
                if self._world.find_protected(real) or (_is_unclear(real) and self._judge(place).guarded):
                    return f"{shown!r} brings {self._show(place)} with it, which is protected: no rule approves that ahead of time"
        return ""

    @cached_property
    def _departures(self) -> LineDepartures:
        return LineDepartures(self._survey, self._world, self._candidates)

    def find_ruled(self, rules: Iterable[Rule], may_write: Callable[[str], bool]) -> str:
        """Why a file may be changed that `rules` keep, by what nobody knows or a command takes along; empty where none is.

        `may_write`: whether such a file may have a name that ends so.
        """
        for candidate, arrivals in self._arrivals.find():
            shown = candidate.text[:_SHOWN]
            for folder in arrivals.anything:
                if any(may_hold(normpath(folder), rule, self._world) for rule in rules):
                    return f"what {shown!r} brings with it is not known before it runs, and may be a file that a rule keeps from being changed"
            looked = 0
            for place in arrivals.places:
                if not (may_write(f"/{basename(place)}") or os.path.islink(place)):  # noqa: PTH114 - paths as text
                    # What lies above it was looked at by its own name.
                    continue
                looked += 1
                if looked > _MAX_JUDGED:
                    return f"{shown!r} brings more than {_MAX_JUDGED:,} files with it that a rule could be about"
                judged = self._judge(place)
                if judged.ruling is not Ruling.ALLOW and judged.rule is not None:
                    return f"{shown!r} brings {self._show(place)} with it, which a rule keeps from being changed"
            if any(may_write(f"/{name}") for name in arrivals.names):
                return f"{shown!r} may bring a file with it that a rule keeps from being changed"
        for candidate in self._candidates:
            for path in self._list_possible(candidate):
                if self._guard.find_rule("write", path, candidate.here) is not None:
                    shown = write_marks(" ".join(candidate.argv))[:_SHOWN]
                    return f"{shown!r} may change {path[:_SHOWN]}, which a rule keeps from being changed"
        return ""

    def _judge(self, place: str) -> Judgement:
        return self._world.judge_file("write", place)

    def _show(self, place: str) -> str:
        return place.removeprefix(f"{self._world.cwd}/")[:_SHOWN]

    @cached_property
    def _candidates(self) -> list[Candidate]:
        """Of a line that is understood, those that were read and not guessed: they know what its variables hold."""
        is_known = self._survey.reading.holdable
        return [candidate for candidate in self._survey.candidates if candidate.source is not None or not is_known]

    def _judge_written(self, path: str, candidate: Candidate) -> str:
        """Of a file that it is known to write: what is wrong with the name. Names that are fixed are judged elsewhere."""
        if (path.endswith(_INSIDE) and UNKNOWN not in path) or self._departures.judges(path, candidate):
            return ""
        opening = self._open(path, candidate)
        if opening.ends is not None:
            return f"writes to {write_marks(path)[:_SHOWN]}, which is not one fixed file"
        if candidate.here is None and candidate.source is not None and not path.startswith(("/", HOME, FOLDER, "~")):
            return f"writes to {write_marks(path)[:_SHOWN]}, and it is not known in which folder"
        if opening.texts != (path,):
            for place in map(self._place, opening.texts):
                if "\0" in place or self._guard.is_guarded("write", place, candidate.here):
                    return f"may write {write_marks(place)[:_SHOWN]}, which is protected: no rule approves that ahead of time"
        if found := next(
            (found for folder in opening.folders if (found := self._find_below(folder, candidate, opening))), ""
        ):
            return f"may write {found[:_SHOWN]}, which is protected: no rule approves that ahead of time"
        return ""

    def _list_possible(self, candidate: Candidate) -> Iterator[str]:
        for word in dict.fromkeys(find_possibly_written(candidate.argv)):
            for text in self._open(word, candidate).texts:
                place = self._place(text)
                if "\0" not in place and self._looks_like_file(place, candidate):
                    yield place

    def _looks_like_file(self, place: str, candidate: Candidate) -> bool:
        if ("/" in place or "." in place) and not any(map(str.isspace, place)):
            return place.strip("./") != ""
        return any(os.path.isfile(each) for each in resolve(candidate.here, place) or ())  # noqa: PTH113 - paths as text

    def _open(self, word: str, candidate: Candidate) -> WordFiles:
        return open_word(word, candidate, self._world.home, find_listed(candidate, self._survey.reading.pipes))

    def _place(self, text: str) -> str:
        return text.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)

    def _find_below(self, folder: str, candidate: Candidate, opening: WordFiles) -> str:
        """Something protected that lies below, by its name; too much to look at counts as such."""
        left = MAX_WALKED
        waiting = list(resolve(candidate.here, self._place(folder)) or ())
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
                        if fits(entry.name, opening.like) and self._world.find_protected(join(place, entry.name)):
                            return entry.path
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
            except OSError:
                continue
        return ""


def _is_unclear(path: str) -> bool:
    """What is written there is written somewhere else."""
    return os.path.islink(path)  # noqa: PTH114 - paths as text
