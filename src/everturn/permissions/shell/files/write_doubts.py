"""Writes that rules may cover, although only running the line would show it."""

import os

from everturn.permissions.judgement import JudgedWorld
from everturn.permissions.paths.judge import is_within
from everturn.permissions.rules.globs import Glob
from everturn.permissions.rules.patterns import parse_pattern
from everturn.permissions.rules.rule import Rule
from everturn.permissions.shell.files.guard import FileGuard
from everturn.permissions.shell.files.opened_files import OpenedFiles, is_adrift, of_redirect
from everturn.permissions.shell.files.openers import (
    find_files,
)
from everturn.permissions.shell.files.openings import WordFiles, find_listed
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, write_marks
from everturn.permissions.shell.running.survey import Candidate, Survey

_SHOWN = 80


class WriteDoubts:
    """About one line."""

    def __init__(
        self, survey: Survey, world: JudgedWorld, guard: FileGuard, files: OpenedFiles, rules: tuple[Rule, ...]
    ) -> None:
        """`rules`: those that keep files from being written."""
        self._survey, self._world, self._guard, self._files = survey, world, guard, files
        self._write_rules = rules

    def find(self) -> str:
        for candidate in self._files.candidates:
            if candidate.argv[0] == "find" and "-delete" in candidate.argv and self._may_delete(candidate):
                return f"{write_marks(' '.join(candidate.argv))[:_SHOWN]!r} may remove a file that a rule keeps from being changed"
            for use, path in find_files(candidate.argv):
                if use == "write" and (
                    self._may_be_written(path, candidate) or self._files.is_made(path, candidate.here, candidate, use)
                ):
                    shown = write_marks(" ".join(candidate.argv))[:_SHOWN]
                    return f"{shown!r} may change a file that a rule keeps from being changed"
        for redirect, target in self._guard.targets:
            is_open = target.path is None or self._files.is_made(target.path, redirect.here, None, "write")
            if target.use == "write" and is_open and redirect.target is not None:
                candidate = self._files.place(of_redirect(redirect.target, redirect))
                if target.path is not None or self._may_be_written(candidate.argv[1], candidate):
                    return f"it may write a file that a rule keeps from being written ({redirect.target.raw[:_SHOWN]})"
        return ""

    def _may_delete(self, candidate: Candidate) -> bool:
        """`find -delete` may come upon a file that rules keep."""
        opening = find_listed(candidate, self._survey.reading.pipes) or WordFiles(folders=(".", "/"))
        return any(self._holds_unwritten(folder, candidate, opening.like) for folder in opening.folders)

    def _may_be_written(self, path: str, candidate: Candidate) -> bool:
        if path.endswith("/_") and UNKNOWN not in path:
            return self._holds_unwritten(path.removesuffix("/_"), candidate)
        opening = self._files.open(path, candidate, "write")
        if opening.texts == (path,) and opening.ends is None:
            # By its name it was judged before.
            return is_adrift(path, candidate) and self.may_write(f"/{path}")
        places = [text.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd) for text in opening.texts]
        return (
            any("\0" not in place and self._guard.find_rule("write", place, candidate.here) for place in places)
            or any(self._holds_unwritten(folder, candidate, opening.like) for folder in opening.folders)
            or (opening.ends is not None and self.may_write(opening.ends))
        )

    def may_write(self, ends: str) -> bool:
        """A file that rules keep from being written may be called like this: one that is there, or a new one."""
        there = self._files.list_covered("write")
        is_below = there is None or any(map(os.path.isdir, there))
        return is_below or any(_may_end_with(rule, ends) for rule in self._write_rules)

    def _holds_unwritten(self, folder: str, candidate: Candidate, like: str = "*") -> bool:
        places = resolve(candidate.here, folder.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd))
        # What the line brings there itself is no file that somebody wanted to keep.
        there = self._files.narrow(self._files.kept_from_writing, like)
        if not places or not there:
            # By its own name the folder was judged before.
            return not places and there != ()
        return any(is_within(os.path.realpath(place), each) for place in places for each in there)


def _may_end_with(rule: Rule, ends: str) -> bool:
    """A name that the rule's pattern ends with may end so, too."""
    last = parse_pattern(rule.specifier, rule.ruling).steps[-1] if rule.specifier else None
    if not isinstance(last, Glob):
        return True
    _, slash, name = ends.rstrip("/").casefold().rpartition("/")
    tail = (last.literal if last.literal is not None else last.edges[1]).casefold()
    return last.folded(str.casefold).matches(name) if slash else tail.endswith(name) or name.endswith(tail)
