"""Asks the judge of paths about the files that a command names, once for each file."""

import os
from functools import cached_property
from posixpath import isabs, join, normpath, realpath

from everturn.core.denials import DenialCause
from everturn.permissions.judgement import FileUse, JudgedWorld, Judgement
from everturn.permissions.paths.judge import is_within
from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.shell.approval.earlier_changes import locate
from everturn.permissions.shell.files.openers import find_files
from everturn.permissions.shell.files.redirect_targets import Target, find_target
from everturn.permissions.shell.reading.folders import resolve
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, Here, Redirect
from everturn.permissions.shell.running.survey import Survey
from everturn.ports.policy import Ruling

_MAX_COUNT = 200
"""Files that are asked about; a command with more is asked about itself."""
_MAX_LENGTH = 4096


class FileGuard:
    def __init__(self, survey: Survey, rules: RuleSet, world: JudgedWorld) -> None:
        self._survey = survey
        self._world = world
        self._known: dict[tuple[FileUse, str], Judgement] = {}
        self.read_rules = _about_reading(rules)
        """Rules that keep files from being read: what is not one fixed file must not pass them by."""
        self.overflows = False

    def judge(self, use: FileUse, path: str, here: Here) -> Ruling:
        """The strictest, over all folders that it may be in."""
        places = resolve(here, path)
        if places is None:
            return Ruling.ASK
        rulings = {self._ask(use, place).ruling for place in places}
        return next(each for each in (Ruling.DENY, Ruling.ASK, Ruling.ALLOW) if each in rulings)

    def is_by_rule(self, path: str, here: Here) -> bool:
        """A rule, and not the mode alone, lets all that it may mean be written."""
        return all(self._ask("write", place).rule is not None for place in resolve(here, path) or (path,))

    def explain(self, use: FileUse, path: str, here: Here) -> str | None:
        """Why it is not allowed; None where it is."""
        places = resolve(here, path)
        if places is None:
            return "it is not known which folder that is in"
        judged = [self._ask(use, place) for place in places]
        why = next((each.why for each in judged if each.ruling is not Ruling.ALLOW), None)
        return None if why is None else why.removeprefix(f"mode {self._world.mode}: ")

    def find_objection(self, use: FileUse, path: str, here: Here) -> DenialCause | None:
        """What in particular stands against one of the places that it may mean."""
        causes = {self._ask(use, place).cause for place in resolve(here, path) or ()}
        return next((each for each in (DenialCause.PROTECTED_PATH, DenialCause.OUTSIDE) if each in causes), None)

    def find(self, ruling: Ruling) -> Judgement | None:
        """A file that a rule denies, or wants to be asked about."""
        for use, path, here in self._named:
            for place in resolve(here, path) or (path,):
                judged = self._ask(use, place)
                if judged.ruling is ruling and (judged.rule is not None or ruling is Ruling.DENY):
                    return judged
        return None

    def find_rule(self, use: FileUse, path: str, here: Here) -> Rule | None:
        """A rule that denies the file, or wants to be asked about it, in one of the folders that it may be in."""
        judged = [self._ask(use, place) for place in resolve(here, path) or (path,)]
        return next((each.rule for each in judged if each.ruling is not Ruling.ALLOW and each.rule is not None), None)

    def is_folder(self, path: str, here: Here) -> bool:
        """One of the places that it may mean is a folder."""
        return any(map(os.path.isdir, map(self._locate, resolve(here, path) or (path,))))

    def find_guarded(self, wanted: FileUse) -> str | None:
        """A file that a part opens although no rule opens its place."""
        for use, path, here in self._named:
            if use == wanted and self.is_guarded(use, path, here):
                return path
        return None

    def is_guarded(self, use: FileUse, path: str, here: Here) -> bool:
        """No rule opens one of the places that it may mean."""
        return any(self._ask(use, place).guarded for place in resolve(here, path) or (path,))

    def list_opened(self) -> tuple[str, ...]:
        """What was asked about and may be read because a rule says so, wherever it lies."""
        return tuple(
            dict.fromkeys(
                self._locate(path)
                for (use, path), judged in self._known.items()
                if use == "read" and judged.ruling is Ruling.ALLOW and judged.rule is not None
            )
        )

    def is_listed(self, path: str, here: Here) -> bool:
        """Where no rule speaks of it: all that it may mean lies in places of the system that held commands may read anyway."""
        judged = {place: self._ask("read", place) for place in resolve(here, path) or ()}
        return bool(judged) and all(
            each.ruling is Ruling.ALLOW
            or (
                each.ruling is Ruling.ASK
                and not (each.rule or each.guarded)
                and self._world.walls.lists(self._locate(place))
            )
            for place, each in judged.items()
        )

    def is_inside(self, path: str, here: Here) -> bool:
        """All that it may mean lies in the working folders."""
        places = resolve(here, path)
        reals = [self._locate(place) for place in places or ()]
        return bool(reals) and all(any(is_within(folder, real) for folder in self._world.folders) for real in reals)

    def is_scratch(self, path: str, here: Here) -> bool:
        """All that it may mean lies in the session's scratch folder, and may be written."""
        scratch, places = self._world.scratch, resolve(here, path)
        return (
            bool(scratch and places)
            and all(is_within(scratch, self._locate(place)) for place in places or ())
            and self.judge("write", path, here) is Ruling.ALLOW
        )

    def is_inside_by_name(self, path: str, folder: str) -> bool:
        """The name itself lies there, or in the scratch folder, wherever it leads: a link is removed where it is."""
        places = filter(None, (*self._world.folders, self._world.scratch))
        return any(is_within(each, locate(join(folder, path))) for each in places)

    def _locate(self, path: str) -> str:
        home = self._world.home
        given = home + path[1:] if path == "~" or path.startswith("~/") else path
        return realpath(join(self._world.cwd, given))

    @cached_property
    def targets(self) -> list[tuple[Redirect, Target]]:
        found = [(redirect, find_target(redirect)) for redirect in self._survey.redirects]
        return [(redirect, target) for redirect, target in found if target is not None]

    def may_pass_by(self, folder: str, here: Here) -> bool:
        """Whether something that is kept from being read may lie below the folder."""
        if not self.read_rules:
            return False
        places = resolve(here, folder)
        return places is None or any(
            may_hold(normpath(place), rule, self._world) for place in places for rule in self.read_rules
        )

    @cached_property
    def _named(self) -> tuple[tuple[FileUse, str, Here], ...]:
        named: dict[tuple[FileUse, str, Here], None] = {}
        for candidate in self._survey.candidates:
            for use, path in find_files(candidate.argv):
                if UNKNOWN not in path:
                    place = path.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)
                    named[use, place, candidate.here] = None
        for redirect, target in self.targets:
            if target.path is not None:
                named[target.use, target.path, redirect.here] = None
        return tuple(named)

    def _ask(self, use: FileUse, path: str) -> Judgement:
        key = use, path
        if key not in self._known:
            if len(self._known) >= _MAX_COUNT or len(path) > _MAX_LENGTH:
                self.overflows = True
                return Judgement(ruling=Ruling.ASK, why="too many files, or too long a name")
            self._known[key] = self._world.judge_file(use, path)
        return self._known[key]


def _about_reading(rules: RuleSet) -> tuple[Rule, ...]:
    return tuple(rule for ruling in (Ruling.DENY, Ruling.ASK) for rule in rules.covering("Read", ruling))


def may_hold(folder: str, rule: Rule, world: JudgedWorld) -> bool:
    """Whether a file that the rule covers may lie below, by the fixed beginning of its pattern. Patterns without a place may match anywhere."""
    pattern = rule.specifier
    if pattern is None or not pattern.startswith(("/", "~/", "./", "../")):
        return True
    if pattern.startswith("//"):
        start = pattern[1:]
    elif pattern.startswith("~/"):
        start = world.home + pattern[1:]
    elif isabs(pattern):
        start = (rule.folder or world.folders[0]) + pattern
    else:
        # From the working folder, wherever the shell stands by now.
        start = f"{world.folders[0]}/{pattern}"
    fixed = normpath(start.partition("*")[0].partition("?")[0].partition("[")[0])
    return f"{fixed}/".startswith(f"{folder.rstrip('/')}/") or f"{folder}/".startswith(f"{fixed}/")
