"""What a line runs through a name that a file defines: an alias of git, a script of a package, a link to a program. For deny rules only."""

import filecmp
import os
import shutil
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from posixpath import basename, dirname, join
from shlex import quote
from typing import Any

import msgspec

from everturn.permissions.shell.reading.syntax import FOLDER, HOME, UNKNOWN, drop_marks, write_marks
from everturn.permissions.shell.running.foreign_code import OPEN
from everturn.permissions.shell.running.runner_words import skip_options
from everturn.permissions.shell.running.survey import Candidate, Survey

_OF_GIT = frozenset({
    "add", "am", "annotate", "apply", "archimport", "archive", "backfill", "bisect", "blame", "branch", "bugreport", "bundle", "cat-file",
    "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "checkout", "checkout-index", "cherry", "cherry-pick", "citool", "clean",
    "clone", "column", "commit", "commit-graph", "commit-tree", "config", "count-objects", "credential", "cvsexportcommit", "cvsimport", "cvsserver",
    "daemon", "describe", "diagnose", "diff", "diff-files", "diff-index", "diff-pairs", "diff-tree", "difftool", "fast-export", "fast-import",
    "fetch", "fetch-pack", "filter-branch", "fmt-merge-msg", "for-each-ref", "for-each-repo", "format-patch", "fsck", "fsck-objects",
    "fsmonitor--daemon", "gc", "get-tar-commit-id", "gitk", "grep", "gui", "hash-object", "help", "history", "hook", "imap-send", "index-pack",
    "init", "init-db", "instaweb", "interpret-trailers", "last-modified", "log", "ls-files", "ls-remote", "ls-tree", "mailinfo", "mailsplit",
    "maintenance", "merge", "merge-base", "merge-file", "merge-index", "merge-octopus", "merge-one-file", "merge-ours", "merge-recursive",
    "merge-resolve", "merge-subtree", "merge-tree", "mergetool", "mktag", "mktree", "multi-pack-index", "mv", "name-rev", "notes", "p4",
    "pack-objects", "pack-redundant", "pack-refs", "patch-id", "prune", "prune-packed", "pull", "push", "quiltimport", "range-diff", "read-tree",
    "rebase", "receive-pack", "reflog", "refs", "remote", "repack", "replace", "replay", "repo", "request-pull", "rerere", "reset", "restore",
    "rev-list", "rev-parse", "revert", "rm", "scalar", "send-email", "send-pack", "shell", "shortlog", "show", "show-branch", "show-index",
    "show-ref", "sparse-checkout", "stage", "stash", "status", "stripspace", "submodule", "svn", "switch", "symbolic-ref", "tag", "unpack-file",
    "unpack-objects", "update-index", "update-ref", "update-server-info", "upload-archive", "upload-pack", "var", "verify-commit", "verify-pack",
    "verify-tag", "version", "web--browse", "whatchanged", "worktree", "write-tree",
})  # fmt: skip
"""No alias hides these."""
_PLACES_OF_SETTINGS = frozenset(
    {"HOME", "XDG_CONFIG_HOME", "GIT_DIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG"}
)
_SETTINGS_ELSEWHERE = ("--git-dir", "--config-e", "include.path", "includeif.")
_RUNS = frozenset({"run", "run-script", "rum", "urn", "ru", "run-"})
_LIFE = {
    **dict.fromkeys(("test", "t", "tst"), ("test",)),
    **dict.fromkeys(("start", "stop"), ()),
    "restart": ("restart", "stop", "start"),
    **dict.fromkeys(("install", "i", "ci", "add", "in", "ins"), ("install", "prepublish", "prepare")),
    **dict.fromkeys(("publish", "pack"), ("prepublishOnly", "prepack", "prepare", "postpack", "publish")),
    "version": ("version",),
}
"""Commands of package managers that run scripts of the package."""
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_FOLDER_OPTIONS = frozenset({"-C", "--prefix", "--cwd", "--dir"})
_MAX_BYTES = 1_000_000
_MAX_FILES = 20
_MAX_LINKS = 8
_MAX_COPY = 100_000_000
_SAMPLE = 65_536


class NamedScripts:
    """`programs`: names that rules speak of. `path`: where programs are looked for."""

    def __init__(self, survey: Survey, cwd: str, home: str, programs: Iterable[str], path: str = "") -> None:
        self._survey, self._cwd, self._home = survey, cwd, home
        self._denied = frozenset(programs)
        self._path = path or os.environ.get("PATH", os.defpath)

    def find(self) -> Iterator[str]:
        """Scripts for a shell."""
        for candidate in self._survey.candidates:
            name = basename(candidate.argv[0])
            if name == "git":
                yield from self._find_alias(candidate)
            elif name in _MANAGERS:
                yield from self._find_of_package(candidate)
            elif "/" in candidate.argv[0] and UNKNOWN not in candidate.argv[0] and name not in self._denied:
                yield from self._find_other_names(candidate)

    def _list_folders(self, candidate: Candidate) -> list[str]:
        return sorted(candidate.here) if candidate.here else [self._cwd]

    def _find_alias(self, candidate: Candidate) -> Iterator[str]:
        words = list(candidate.argv[1:])
        rest = skip_options(words)
        if not rest or rest[0] in _OF_GIT or UNKNOWN in rest[0] or rest[0].startswith("-"):
            return
        given = words[: len(words) - len(rest)]
        if any(word.lower().startswith(_SETTINGS_ELSEWHERE) for word in given) or self._sets_place(candidate):
            yield OPEN
            return
        moved = [following for word, following in pairwise(given) if word == "-C"]
        for folder in self._list_folders(candidate):
            alias = self._read_aliases(join(folder, *moved)).get(rest[0].lower())
            if alias is not None:
                followed = _say(rest[1:])
                yield f"{alias[1:]} {followed}" if alias.startswith("!") else f"git {alias} {followed}"

    def _sets_place(self, candidate: Candidate) -> bool:
        assigned = () if candidate.source is None else candidate.source.assignments
        return any(each.name in _PLACES_OF_SETTINGS and each.value.fixed != "/dev/null" for each in assigned)

    def _read_aliases(self, folder: str) -> dict[str, str]:
        from everturn.core.git_config import MAX_CONFIG, parse_config
        from everturn.permissions.git.places import find_git_places

        configured = os.environ.get("XDG_CONFIG_HOME") or join(self._home, ".config")
        waiting = [join(self._home, ".gitconfig"), join(configured, "git", "config"), "/etc/gitconfig"]
        if (places := find_git_places(folder, self._home)) is not None:
            waiting = [join(places.git, "config.worktree"), join(places.common, "config"), *waiting]
        aliases: dict[str, str] = {}
        seen: set[str] = set()
        while waiting and len(seen) < _MAX_FILES:
            path = waiting.pop(0)
            if path in seen:
                continue
            seen.add(path)
            try:
                settings = parse_config(_read(path, MAX_CONFIG))
            except ValueError:
                continue
            found: dict[str, str] = {}
            for key, value in settings:
                section, _, name = key.partition(".")
                if section == "alias" and value is not None:
                    found[name.removesuffix(".command").lower()] = value
                elif section in {"include", "includeif"} and name.endswith("path") and value:
                    waiting.append(
                        join(self._home, value[2:]) if value.startswith("~/") else join(dirname(path), value)
                    )
            aliases = found | aliases
        return aliases

    def _find_of_package(self, candidate: Candidate) -> Iterator[str]:
        words = list(candidate.argv[1:])
        rest = skip_options(words)
        if not rest or UNKNOWN in rest[0]:
            return
        names = self._list_run(basename(candidate.argv[0]), rest)
        moved = [following for word, following in pairwise(words) if word in _FOLDER_OPTIONS]
        moved += [word.partition("=")[2] for word in words if word.partition("=")[0] in _FOLDER_OPTIONS and "=" in word]
        for folder in self._list_folders(candidate) if names else ():
            scripts = _read_scripts(join(folder, *moved))
            for name in names:
                yield from (
                    scripts[each] for each in (f"pre{name}", name, f"post{name}") if isinstance(scripts.get(each), str)
                )

    def _list_run(self, manager: str, rest: list[str]) -> tuple[str, ...]:
        if rest[0] in _RUNS:
            return tuple(word for word in rest[1:] if not word.startswith("-"))[:1]
        if rest[0] in _LIFE:
            return _LIFE[rest[0]] or (rest[0],)
        return () if manager == "npm" else (rest[0],)

    def _find_other_names(self, candidate: Candidate) -> Iterator[str]:
        for folder in self._list_folders(candidate):
            path = join(folder, candidate.argv[0].replace(HOME, self._home).replace(FOLDER, folder))
            if candidate.here is None and not os.path.exists(path):  # noqa: PTH110 - `Path` raises for some
                # It may start in a folder below.
                path = join(folder, candidate.argv[0].replace("../", ""))
            for name in dict.fromkeys((*_list_links(path), *self._find_copied(path))):
                yield _say([name, *candidate.argv[1:]])

    def _find_copied(self, path: str) -> Iterator[str]:
        """Programs that rules speak of, and that the file is: by its place on the disk, or byte for byte."""
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            return
        if dirname(os.path.realpath(path)) in self._folders_of_programs:
            # There, several names of one program mean several things.
            return
        for name, place in self._programs.items():
            try:
                other = Path(place).stat()
                if os.path.samestat(status, other) or (
                    other.st_size == status.st_size <= _MAX_COPY and filecmp.cmp(path, place, shallow=False)
                ):
                    yield name
            except OSError:
                continue

    @cached_property
    def _folders_of_programs(self) -> frozenset[str]:
        return frozenset(map(os.path.realpath, self._path.split(":")))

    @cached_property
    def _programs(self) -> dict[str, str]:
        return {name: place for name in self._denied if (place := shutil.which(name, path=self._path))}


def _say(words: Iterable[str]) -> str:
    return " ".join(quote(word) if drop_marks(word) == word else write_marks(word) for word in words)


def _is_file(path: str) -> bool:
    """Also of a path that no system takes."""
    return os.path.isfile(path)  # noqa: PTH113 - `Path` raises for some


def _read(path: str, most: int) -> bytes:
    """Nothing of what is no file, or too long."""
    try:
        if not _is_file(path):
            return b""
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError):
        return b""
    return data if len(data) <= most else b""


def _read_scripts(folder: str) -> dict[str, Any]:
    """Of the package that the folder lies in."""
    here = os.path.normpath(folder)
    while not _is_file(join(here, "package.json")):
        if here == dirname(here):
            return {}
        here = dirname(here)
    try:
        package = msgspec.json.decode(_read(join(here, "package.json"), _MAX_BYTES))
    except msgspec.DecodeError:
        return {}
    scripts = package.get("scripts") if isinstance(package, dict) else None
    return scripts if isinstance(scripts, dict) else {}


def _list_links(path: str) -> Iterator[str]:
    """The names of what the path leads to, where it is a link."""
    for _ in range(_MAX_LINKS):
        try:
            path = join(dirname(path), str(Path(path).readlink()))
        except (OSError, ValueError):
            return
        yield basename(path)
