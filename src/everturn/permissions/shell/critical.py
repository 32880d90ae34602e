"""Removals that nobody wants to have approved by a rule: the root, what stands right under it, the home, the folders we work in."""

import re
from enum import IntEnum
from fnmatch import fnmatchcase
from posixpath import basename, dirname, join, normpath

from everturn.permissions.judgement import World
from everturn.permissions.shell.survey import Sight
from everturn.permissions.shell.syntax import FOLDER, HOME, UNKNOWN, Here

_REMOVERS = frozenset({"rm", "rmdir"})
_GLOB = re.compile(r"[*?\[]")
_ANYTHING = re.compile(r"[*?.\[\]!^]+")
"""A last part that may be any name of its folder."""
_BRACES = re.compile(rf"([^{{}}~{UNKNOWN}]+)\{{([^{{}}{UNKNOWN}]*,[^{{}}{UNKNOWN}]*)\}}([^{{}}{UNKNOWN}]*)")
"""One choice, with something before it: `dist/{a,b}`."""
_OF_FOLDER = re.compile(r"\{(?:HOME|PWD)\b[^}]*\}")
"""What is left of `${HOME%/}`: an expansion with an operator is not read."""


class Danger(IntEnum):
    NONE = 0
    UNKNOWN = 1
    """It may be anything: a rule does not approve it."""
    CRITICAL = 2
    """Not even a mode approves it."""


def judge_removal(sight: Sight, world: World) -> Danger:
    name = basename(sight.argv[0])
    if name == "find" and "-delete" in sight.argv:
        return max((_judge_start(start, sight.here, world) for start in _starts(sight.argv)), default=Danger.NONE)
    if name not in _REMOVERS:
        return Danger.NONE
    return max((_judge_target(target, sight.here, world) for target in _targets(sight.argv)), default=Danger.NONE)


def _targets(argv: tuple[str, ...]) -> list[str]:
    if "--" in argv:
        at = argv.index("--")
        return [word for word in argv[1:at] if not word.startswith("-")] + list(argv[at + 1 :])
    return [word for word in argv[1:] if not word.startswith("-")]


def _starts(argv: tuple[str, ...]) -> list[str]:
    starts: list[str] = []
    for word in argv[1:]:
        if word.startswith(("-", "(", "!")):
            break
        starts.append(word)
    return starts


def _judge_start(start: str, here: Here, world: World) -> Danger:
    """`find . -delete` with tests is everyday; of what lies above the working folder it is not."""
    return Danger.NONE if normpath(start) == "." else _judge_target(start, here, world)


def _judge_target(target: str, here: Here, world: World) -> Danger:
    if not target:
        return Danger.NONE
    if target.startswith(UNKNOWN):
        rest = _OF_FOLDER.sub("/", target.lstrip(UNKNOWN))
        # An unset variable leaves `/`, `/*` or `/name`.
        near_root = rest.startswith("/") and len([part for part in rest.split("/") if part]) <= 1
        return Danger.CRITICAL if near_root else Danger.UNKNOWN
    if (plain := _BRACES.fullmatch(target)) and ".." not in target:
        before, names, behind = plain.groups()
        return max(_judge_path(f"{before}{name}{behind}", here, world) for name in names.split(","))
    if UNKNOWN in target or ("{" in target and ("," in target or ".." in target)):
        return max(Danger.UNKNOWN, *(_judge_path(piece, here, world) for piece in re.split(r"[{},]", target) if piece))
    return _judge_path(target, here, world)


def _judge_path(target: str, here: Here, world: World) -> Danger:
    path = target.replace(HOME, world.home).replace(FOLDER, world.cwd)
    if path.startswith("/"):
        return _judge_absolute(path, world)
    if here is None:
        return Danger.UNKNOWN
    return max(_judge_absolute(join(folder, path), world) for folder in here)


def _judge_absolute(path: str, world: World) -> Danger:
    clean = "/" + normpath(path).lstrip("/")
    guarded = _guarded(world)
    folder, name = dirname(clean), basename(clean)
    if not _GLOB.search(clean):
        return Danger.CRITICAL if clean in guarded or folder == "/" else Danger.NONE
    if _GLOB.search(folder):
        return Danger.UNKNOWN if _GLOB.split(folder)[0].count("/") > 1 else Danger.CRITICAL
    if _ANYTHING.fullmatch(name):
        return Danger.CRITICAL if folder in guarded or dirname(folder) == "/" else Danger.NONE
    hit = folder == "/" or any(dirname(each) == folder and fnmatchcase(basename(each), name) for each in guarded)
    return Danger.CRITICAL if hit else Danger.NONE


def _guarded(world: World) -> frozenset[str]:
    guarded: set[str] = set()
    for folder in (world.cwd, world.home, *world.folders):
        path = "/" + normpath(folder).lstrip("/")
        while path not in guarded:
            guarded.add(path)
            path = dirname(path)
    return frozenset(guarded)
