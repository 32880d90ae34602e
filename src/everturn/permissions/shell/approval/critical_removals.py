"""Removals that no rule approves: the root folder, its direct children, the home folder, the working folders."""

import os
import re
from enum import IntEnum
from fnmatch import fnmatchcase
from itertools import islice, pairwise
from posixpath import basename, dirname, join, normpath, realpath

from everturn.core.patterns import compile_late
from everturn.permissions.judgement import JudgedWorld, Judgement
from everturn.permissions.shell.reading.evaluation import Reader
from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, Command, Expansion, Word
from everturn.permissions.shell.running.survey import Candidate, Survey
from everturn.ports.policy import Ruling

_REMOVERS = frozenset({"rm", "rmdir"})
_RECURSIVE = compile_late(r"-[A-Za-z]*[rR][A-Za-z]*|--r[a-z]*")
_GLOB = compile_late(r"[*?\[]")
_ANYTHING = compile_late(r"[*?.\[\]!^]+")
"""A last part that may be any name of its folder."""
_BRACES = compile_late(rf"([^{{}}~{UNKNOWN}]+)\{{([^{{}}{UNKNOWN}]*,[^{{}}{UNKNOWN}]*)\}}([^{{}}{UNKNOWN}]*)")
"""One choice, with something before it: `dist/{a,b}`."""
_EXTENDS = "@!+"
"""Before a bracket, with `extglob`: of `!(x)` only this sign is read, and what it matches may be anything."""
_OF_FOLDER = compile_late(r"\{(?:HOME|PWD)\b[^}]*\}")
"""What is left of `${HOME%/}`: an expansion with an operator is not read."""
_ELSEWHERE = compile_late(r"-[A-Za-z]*[CD].*|--(?:chdir|directory|cwd|wd|working-dir\w*|root).*")
"""Options of programs that run another one in a folder that they are told."""
_OTHER_ROOTS = frozenset({"chroot", "nsenter", "bwrap", "unshare", "proot"})
_FIND_LINKS = compile_late(r"-[HLP]|-O\d?|-D")
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_KEEPS_NAMES = frozenset({"grep", "egrep", "head", "sort", "tail", "uniq"})
"""What they print of file names are some of these."""
_BEHIND_TEMPORARY = compile_late(r"/[A-Za-z0-9_-][^*?\[]*")
_MAX_MATCHES = 200
_SHOWN = 80


class Danger(IntEnum):
    NONE = 0
    UNKNOWN = 1
    """It may be anything: a rule does not approve it."""
    LOST = 2
    """A folder is removed with all that is in it, and may be any folder: not even a mode approves it."""
    CRITICAL = 3
    """Not even a mode approves it, and nobody should mean it."""


def judge_critical(survey: Survey, world: JudgedWorld) -> Judgement | None:
    """Of all that the line may run, the worst."""
    dangers = [(judge_removal(candidate, world, survey), candidate) for candidate in survey.candidates]
    for danger, candidate in sorted(dangers, key=lambda each: -each[0])[:1]:
        shown = candidate.text[:_SHOWN]
        if danger is Danger.CRITICAL:
            why = f"{shown!r} removes a critical path: no rule and no mode approves it"
            return Judgement(ruling=Ruling.ASK, why=why, grave=True)
        if danger is Danger.LOST:
            why = f"what {shown!r} removes is not known before it runs: no rule and no mode approves it"
            return Judgement(ruling=Ruling.ASK, why=why)
    return None


def judge_removal(candidate: Candidate, world: JudgedWorld, survey: Survey) -> Danger:
    name = basename(candidate.argv[0])
    removal = _Removal(candidate, world, survey)
    if name == "find":
        return removal.judge_search() if _removes_found(candidate.argv) else Danger.NONE
    return removal.judge() if name in _REMOVERS else Danger.NONE


class _Removal:
    def __init__(self, candidate: Candidate, world: JudgedWorld, survey: Survey) -> None:
        self._candidate, self._world, self._survey = candidate, world, survey
        self._here = None if _runs_elsewhere(candidate) else candidate.here
        self._words = {word.template: word for word in candidate.source.words} if candidate.source is not None else {}
        recursive = basename(candidate.argv[0]) == "find" or any(map(_RECURSIVE.fullmatch, candidate.argv[1:]))
        self._lost = Danger.LOST if recursive and candidate.source is not None else Danger.UNKNOWN
        """What it is where it may remove anything. A line that is not understood is asked about for that, or approved with all in it."""

    def judge(self) -> Danger:
        return max(map(self._judge_target, _targets(self._candidate.argv)), default=Danger.NONE)

    def judge_search(self) -> Danger:
        """In the working folder that is everyday; of what lies above it, or by links, it is not."""
        argv = self._candidate.argv
        starts = _starts(argv)
        found = max(map(self._judge_start, starts))
        by_links = "-L" in argv or "-follow" in argv or any(word.startswith("-files0") for word in argv)
        return max(self._lost, found) if by_links else found

    def _judge_start(self, start: str) -> Danger:
        return Danger.NONE if self._is_working_folder(start) else self._judge_target(f"{start}/")

    def _is_working_folder(self, start: str) -> bool:
        places = self._find_places(start) if UNKNOWN not in start else None
        return places is not None and all(realpath(place) in self._world.folders for place in places)

    def _judge_target(self, target: str) -> Danger:
        if not target:
            return Danger.NONE
        if target[-1] in _EXTENDS and f"{target[-1]}(" in self._survey.text:
            target = f"{target[:-1]}*"
        if UNKNOWN in target and (found := self._judge_known(target)) is not None:
            return found
        if target.startswith(UNKNOWN):
            rest = _OF_FOLDER.sub("/", target.lstrip(UNKNOWN))
            # An unset variable leaves `/`, `/*` or `/name`.
            near_root = rest.startswith("/") and len([part for part in rest.split("/") if part]) <= 1
            return Danger.CRITICAL if near_root else self._lost
        if (plain := _BRACES.fullmatch(target)) and ".." not in target:
            before, names, behind = plain.groups()
            return max(self._judge_path(f"{before}{name}{behind}") for name in names.split(","))
        if UNKNOWN in target and "{" not in target:
            # It stays below what is fixed of it; the variable may be empty, or any name.
            found = max(self._judge_path(re.sub(f"{UNKNOWN}+", each, target)) for each in ("", "*"))
            return max(Danger.UNKNOWN, found)
        if UNKNOWN in target or ("{" in target and ("," in target or ".." in target)):
            return max(self._lost, *(self._judge_path(piece) for piece in re.split(r"[{},\0]", target) if piece))
        return self._judge_path(target)

    def _judge_known(self, target: str) -> Danger | None:
        """Of a word with variables, where the line tells what they hold, or that it is a temporary folder."""
        source, word = self._candidate.source, self._words.get(target)
        if source is None:
            return None
        if target == UNKNOWN and word is None:
            return self._judge_fed(source)
        if word is None:
            return None
        if self._is_temporary(word):
            return Danger.UNKNOWN
        files = Reader(source.scope, source.here, self._world.home).list_files(word)
        if not files:
            return None
        # Each text that a variable may hold is judged as a command of its own; of files that are found, only the folder is known.
        return max(Danger.UNKNOWN, *(self._judge_path(re.sub(r"/_$", "/*", path)) for path in files))

    def _judge_fed(self, source: Command) -> Danger | None:
        """`find build -name x | xargs rm -rf`."""
        pipes = self._survey.reading.pipes
        stages = next((pipe[:at] for pipe in pipes for at, stage in enumerate(pipe) if stage is source), ())
        if not stages or stages[0].words[0].raw != "find":
            return None
        argv = tuple(word.template for word in stages[0].words)
        if "-L" in argv or any(word.startswith(("-printf", "-fprint", "-files0", "-follow")) for word in argv):
            return None
        if any(stage.words[0].raw not in _KEEPS_NAMES for stage in stages[1:]):
            return None
        return max(Danger.UNKNOWN, *map(self._judge_start, _starts(argv)))

    def _is_temporary(self, word: Word) -> bool:
        first = word.parts[0] if word.parts else ""
        if (
            not isinstance(first, Expansion)
            or first.operator
            or not all(isinstance(each, str) for each in word.parts[1:])
        ):
            return False
        behind = "".join(str(each) for each in word.parts[1:])
        if ".." in behind:
            return False
        if first.name == "TMPDIR" and _BEHIND_TEMPORARY.fullmatch(behind):
            return True
        name = re.escape(first.name)
        text = self._survey.text
        is_set_once = bool(name) and len(re.findall(rf"\b{name}=", text)) == 1 and "read" not in text
        return (
            is_set_once
            and (not behind or _BEHIND_TEMPORARY.fullmatch(behind) is not None)
            and re.search(rf"(?:^|[\s;&(]){name}=\"?\$\(mktemp -d[^()$`]*\)\"?(?:$|[\s;&)])", text) is not None
        )

    def _judge_path(self, target: str) -> Danger:
        places = self._find_places(target)
        return self._lost if places is None else max(self._judge_place(place) for place in places)

    def _find_places(self, target: str) -> list[str] | None:
        path = target.replace(HOME, self._world.home).replace(FOLDER, self._world.cwd)
        if path.startswith("/"):
            return [path]
        return None if self._here is None else [join(folder, path) for folder in self._here]

    def _judge_place(self, path: str) -> Danger:
        """By its text and by where links lead."""
        if f"/{normpath(path).lstrip('/')}/".startswith("/proc/"):
            return Danger.CRITICAL
        by_text = _judge_absolute(path, self._world)
        if by_text is Danger.CRITICAL:
            return by_text
        return max([by_text, *(_judge_absolute(real, self._world) for real in _list_reals(path))])


def _list_reals(path: str) -> list[str]:
    """Where the name is that is removed; of what ends in a slash or a star, the folder that it leads to."""
    import glob

    from everturn.permissions.shell.approval.earlier_changes import locate

    if not _GLOB.search(path):
        ends_in = path.rpartition("/")[2]
        return [realpath(path)] if ends_in in {"", ".", ".."} else [locate(path)]
    folder, name = dirname(path), basename(path)
    if not _GLOB.search(folder):
        return [join(realpath(folder), name)] if name else [realpath(folder)]
    matches = islice(glob.iglob(path), _MAX_MATCHES)  # noqa: PTH207 - paths as text
    return [realpath(each) if path.endswith("/") else locate(each) for each in matches]


def _runs_elsewhere(candidate: Candidate) -> bool:
    """A program that was told another folder runs it."""
    if candidate.source is None:
        return False
    words = [word.template for word in candidate.source.words]
    at = next((at for at, word in enumerate(words) if word == candidate.argv[0]), len(words))
    before = words[:at]
    return any(basename(word) in _OTHER_ROOTS for word in before) or any(map(_ELSEWHERE.fullmatch, before))


def _removes_found(argv: tuple[str, ...]) -> bool:
    if "-delete" in argv:
        return True
    return any(word in _FIND_RUNS and basename(following) in _REMOVERS for word, following in pairwise(argv))


def _targets(argv: tuple[str, ...]) -> list[str]:
    if "--" in argv:
        at = argv.index("--")
        return [word for word in argv[1:at] if not word.startswith("-")] + list(argv[at + 1 :])
    return [word for word in argv[1:] if not word.startswith("-")]


def _starts(argv: tuple[str, ...]) -> list[str]:
    starts: list[str] = []
    for word in argv[1:]:
        if not starts and _FIND_LINKS.fullmatch(word):
            continue
        if word.startswith(("-", "(", "!")):
            break
        starts.append(word)
    return starts or ["."]


def _judge_absolute(path: str, world: JudgedWorld) -> Danger:
    clean = "/" + normpath(path).lstrip("/")
    guarded = _guarded(world)
    folder, name = dirname(clean), basename(clean)
    if not _GLOB.search(clean):
        return Danger.CRITICAL if clean in guarded or folder == "/" else Danger.NONE
    if _GLOB.search(folder):
        fixed = dirname(_GLOB.split(clean)[0])
        if fixed in guarded and all(map(_ANYTHING.fullmatch, clean.removeprefix(fixed).strip("/").split("/"))):
            # `~/*/*`: all that is in the folders there.
            return Danger.CRITICAL
        return Danger.UNKNOWN if _GLOB.split(folder)[0].count("/") > 1 else Danger.CRITICAL
    if _ANYTHING.fullmatch(name):
        return Danger.CRITICAL if folder in guarded or dirname(folder) == "/" else Danger.NONE
    hit = folder == "/" or any(dirname(each) == folder and fnmatchcase(basename(each), name) for each in guarded)
    return Danger.CRITICAL if hit else Danger.NONE


def _guarded(world: JudgedWorld) -> frozenset[str]:
    guarded: set[str] = set()
    for folder in (world.cwd, world.home, os.path.realpath(world.home), *world.folders):
        path = "/" + normpath(folder).lstrip("/")
        while path not in guarded:
            guarded.add(path)
            path = dirname(path)
    return frozenset(guarded)
