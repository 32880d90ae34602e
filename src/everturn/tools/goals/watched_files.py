"""Which files the command of a goal reads, as far as that can be told without a look into the system, and which of them changed."""

import os
import re
import shlex
import stat
import time

# As in `core.prefix`: without OpenSSL.
from _blake2 import blake2b
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import pairwise

from everturn.core.events import GoalFile

MAX_SEEN = 100_000
"""Files and folders that are looked at; beyond it only what the command names."""
MAX_WATCHED = 20_000
MAX_DIGESTED = 1 << 20
"""Bytes of a file whose content is compared; of a larger one, size and time."""
MAX_SCRIPT = 1 << 18
_READ_BYTES = 64 << 20
"""Of all files together."""
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "target"})
_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "__snapshots__"})
_TESTS = (
    "test_*", "*_test.*", "*_tests.*", "*.test.*", "*.spec.*", "*_spec.*", "*Test.*", "*Tests.*", "*Spec.*",
    "tests.py", "test.py", "conftest.py", "*.snap",
)  # fmt: skip
_BUILDS = (
    "[Mm]akefile", "GNUmakefile", "*.mk", "CMakeLists.txt", "meson.build", "package.json", "pyproject.toml", "setup.cfg",
    "setup.py", "tox.ini", "pytest.ini", ".pytest.ini", "noxfile.py", ".coveragerc", "sitecustomize.py", "mypy.ini",
    "ruff.toml", ".ruff.toml", "jest.config.*", "vitest.config.*", "vite.config.*", "karma.conf.*", ".mocharc*",
    "tsconfig*.json", ".eslintrc*", "eslint.config.*", "biome.json", "deno.json*", "Cargo.toml", "build.rs", "go.mod",
    "go.work", "build.gradle*", "settings.gradle*", "pom.xml", "Rakefile", "Gemfile", ".rspec", "[Jj]ustfile",
    "Taskfile.y*ml", "BUILD", "BUILD.bazel", "WORKSPACE", "MODULE.bazel", "composer.json", "phpunit.xml*", "mix.exs",
    "*.csproj", "*.sln", "Directory.Build.*",
)  # fmt: skip
_RECIPES = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("GNUmakefile", "Makefile", "makefile"),
    "npm": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "bun": ("package.json",),
    "just": ("justfile", "Justfile"),
    "tox": ("tox.ini",),
    "nox": ("noxfile.py",),
    "rake": ("Rakefile",),
}
"""What a program reads that says what it shall do."""
_WORD = re.compile(r"[\w./@+-]+")
Stamp = tuple[int, int, str]
"""Size, time of change, and a digest of the content where it was read."""
_GONE: Stamp = (-1, 0, "")


class Found(StrEnum):
    """How a file was found to be one that the command reads."""

    NAMED = "the command names it"
    TEST = "a test file by its name or folder"
    SCRIPT = "a script or recipe of the command names it"
    BUILD = "a file that says how tests are built and run, by its name"
    FOLDER = "in a folder that the command names"


_RANK = {found: rank for rank, found in enumerate(Found)}


class WatchedFiles:
    """Compares contents: a file that was changed and changed back is not reported."""

    def __init__(self, folder: str, command: str, *, since: float = 0.0) -> None:
        """`since`: the work began earlier, in another program: what changed between then and now is taken for changed by it."""
        self._folder = os.path.realpath(folder)
        self.command = command
        self._since_ns = int(since * 1_000_000_000)
        self._before: dict[str, Stamp] = {}
        self._changed_earlier: frozenset[str] = frozenset()
        self._found: dict[str, Found] = {}

    def begin(self) -> None:
        self._found = find_read(self._folder, self.command)
        self._before = stamp_all(self._folder, self._found)
        if self._since_ns:
            self._changed_earlier = frozenset(filter(self._has_changed, self._found))

    def find_touched(self) -> tuple[GoalFile, ...]:
        now = find_read(self._folder, self.command)
        # What was read at the start counts, also where the command's script no longer names it.
        found = {**now, **self._found}
        after = stamp_all(self._folder, found)
        touched = []
        for path, why in sorted(found.items(), key=lambda item: (_RANK[item[1]], item[0])):
            change = self._judge(path, after.get(path, _GONE))
            if change:
                touched.append(GoalFile(path=path, found=str(why), change=change))
        return tuple(touched)

    def _judge(self, path: str, after: Stamp) -> str:
        before = self._before.get(path, _GONE)
        if before == after:
            return "changed" if path in self._changed_earlier else ""
        if after is _GONE:
            return "removed"
        if before is _GONE:
            return "new"
        return "changed" if before[0] != after[0] or before[2] != after[2] or not after[2] else ""

    def _has_changed(self, path: str) -> bool:
        try:
            return os.lstat(os.path.join(self._folder, path)).st_ctime_ns > self._since_ns  # noqa: PTH118
        except OSError:
            return False


def find_read(folder: str, command: str) -> dict[str, Found]:
    """By their paths in the folder. What the command names comes first, then what its scripts name, then what a name tells."""
    found: dict[str, Found] = {}
    words = split_words(command)
    named = list(list_named(folder, [*words, *list_modules(words)]))
    found |= dict.fromkeys(named, Found.NAMED)
    for script in (*named, *list_recipes(folder, words)):
        if script not in found:
            found[script] = Found.BUILD
        inner = load_words(os.path.join(folder, script))  # noqa: PTH118
        for path in list_named(folder, [*inner, *list_modules(inner)]):
            found.setdefault(path, Found.SCRIPT)
        if len(found) > MAX_WATCHED:
            break
    inside = tuple(f"{inner}/" for inner in list_named(folder, words, folders=True))
    for path in list_files(folder):
        if len(found) > MAX_WATCHED:
            break
        why = judge_name(path) or (Found.FOLDER if path.startswith(inside) else None)
        if why is not None:
            found.setdefault(path, why)
    return found


def judge_name(path: str) -> Found | None:
    *folders, name = path.split("/")
    if any(fnmatchcase(name, pattern) for pattern in _BUILDS):
        return Found.BUILD
    is_test = not _TEST_FOLDERS.isdisjoint(folders) or any(fnmatchcase(name, pattern) for pattern in _TESTS)
    return Found.TEST if is_test else None


def split_words(command: str) -> list[str]:
    """As a shell would, nearly; what looks like a module (`package.checks`) is also tried as a file."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        words = command.split()
    return [part for word in words for part in (word, *re.split(r"[=:,;|&()<>\s]+", word)) if part]


def list_named(folder: str, words: Iterable[str], *, folders: bool = False) -> Iterator[str]:
    """Files in the folder that the words name; or folders."""
    for word in dict.fromkeys(words):
        spellings = [word, f"{word.replace('.', '/')}.py"] if re.fullmatch(r"\w+(\.\w+)+", word) else [word]
        for spelling in spellings:
            path = os.path.normpath(os.path.join(folder, spelling))  # noqa: PTH118 - many, and as text
            if not path.startswith(f"{folder}/"):
                continue
            try:
                mode = os.stat(path).st_mode  # noqa: PTH116
            except (OSError, ValueError):
                continue
            if stat.S_ISDIR(mode) if folders else stat.S_ISREG(mode):
                yield path[len(folder) + 1 :]


def list_modules(words: Sequence[str]) -> Iterator[str]:
    """Files that `python -m NAME` would run: one of this name in the working folder comes before the module that is meant."""
    for option, name in pairwise([*words, ""]):
        module = name if option == "-m" else option[2:] if option.startswith("-m") else ""
        if re.fullmatch(r"\w+(\.\w+)*", module):
            path = module.replace(".", "/")
            yield from (f"{path}.py", f"{path}/__main__.py", f"{path}/__init__.py")


def list_recipes(folder: str, words: Iterable[str]) -> Iterator[str]:
    for word in words:
        names = _RECIPES.get(word.rpartition("/")[2], ())
        yield from (name for name in names if os.path.isfile(os.path.join(folder, name)))  # noqa: PTH113, PTH118


def load_words(path: str) -> list[str]:
    """Of a script; nothing of what is no text or too long."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - many
            data = file.read(MAX_SCRIPT + 1)
    except OSError:
        return []
    if len(data) > MAX_SCRIPT or b"\0" in data:
        return []
    return [word.lstrip("@") for word in _WORD.findall(data.decode(errors="replace"))]


def list_files(folder: str) -> Iterator[str]:
    """Breadth first, so that what is near is seen where there is too much. Hidden folders and those of others' code are left out."""
    left, folders = MAX_SEEN, [""]
    for inner in folders:
        try:
            entries = sorted(os.scandir(f"{folder}/{inner}" if inner else folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            left -= 1
            if left < 0:
                return
            path = f"{inner}/{entry.name}" if inner else entry.name
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _SKIPPED:
                    folders.append(path)
            elif entry.is_file():
                yield path


def stamp_all(folder: str, paths: Iterable[str]) -> dict[str, Stamp]:
    left, until = _READ_BYTES, time.monotonic() + 10
    stamps: dict[str, Stamp] = {}
    for path in paths:
        whole = os.path.join(folder, path)  # noqa: PTH118
        try:
            status = os.stat(whole)  # noqa: PTH116
            digest = ""
            if status.st_size <= min(MAX_DIGESTED, left) and stat.S_ISREG(status.st_mode) and time.monotonic() < until:
                with open(whole, "rb") as file:  # noqa: PTH123
                    digest = blake2b(file.read(MAX_DIGESTED + 1), digest_size=16).hexdigest()
                left -= status.st_size
        except (OSError, ValueError):
            continue
        stamps[path] = status.st_size, 0 if digest else status.st_mtime_ns, digest
    return stamps
