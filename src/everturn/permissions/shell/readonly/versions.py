"""Programs that tell their version: exactly these words, which load nothing that a repository brings."""

from posixpath import basename, dirname, exists, join

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.syntax import Word

_LONG = frozenset({"--version"})
_SAID: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            "bash", "bzip2", "clang", "clang++", "cmake", "curl", "docker", "fd", "fish", "g++", "gcc", "gdb", "gh", "gzip",
            "jq", "kubectl", "less", "make", "mypy", "nano", "ninja", "rg", "rsync", "ruff", "tar", "tmux", "tree", "uv",
            "valgrind", "vim", "wget", "xz", "zsh", "zstd",
        ),
        _LONG,
    ),
    "awk": _LONG,
    "deno": _LONG | {"-V"},
    "go": frozenset({"version"}),
    "java": frozenset({"-version", "--version"}),
    "javac": frozenset({"-version", "--version"}),
    "node": _LONG | {"-v"},
    "npm": _LONG | {"-v"},
    "openssl": frozenset({"version"}),
    "perl": _LONG | {"-v"},
    "php": _LONG | {"-v"},
    "pip": _LONG | {"-V"},
    "pip3": _LONG | {"-V"},
    "psql": _LONG | {"-V"},
    "python": _LONG | {"-V"},
    "python3": _LONG | {"-V"},
    "ruby": _LONG | {"-v"},
    "sqlite3": _LONG | {"-version"},
    "ssh": frozenset({"-V"}),
    "tsc": _LONG | {"-v"},
}  # fmt: skip
"""Left out: those that first run or fetch what the folder names, such as `yarn` (`yarnPath`), `pnpm` (`packageManager`), `cargo` and `rustc`
(a toolchain's path), `pytest` (`conftest.py`, in older versions)."""


_FOLDERS = frozenset({"/bin", "/usr/bin", "/usr/local/bin"})
"""A program of the system may be named by its whole path."""
_ENVIRONMENT = "pyvenv.cfg"
_LISTS_PACKAGES = compile_late(r"(?:\S*pip[0-9.]*|\S*python[0-9.]* -m pip) (?:list|freeze|show)\b.*")


def tells_version(words: tuple[Word, ...]) -> bool:
    if len(words) != len(("name", "option")) or not words[1].plain:
        return False
    folder, slash, name = words[0].raw.rpartition("/")
    return words[1].raw in _SAID.get(name, ()) and (not slash or folder in _FOLDERS)


def find_told(words: tuple[Word, ...]) -> str:
    """The program that a command tells something of, where it is searched for on the PATH; else empty."""
    match [word.fixed for word in words]:
        case ["which" | "type", str(name)] | ["command", "-v" | "-V", str(name)]:
            return name
        case _:
            return words[0].raw if tells_version(words) and "/" not in words[0].raw else ""


def find_environment(part: str, folder: str) -> str:
    """The virtual environment that a part of a line asks for its version or its packages, as the part names it; else empty.

    `folder`: where the part would run.
    """
    program, _, rest = part.partition(" ")
    place = dirname(dirname(program))
    asks = rest in _SAID.get(basename(program), ()) or _LISTS_PACKAGES.fullmatch(part) is not None
    return place if place and asks and exists(join(folder, place, _ENVIRONMENT)) else ""


def say_environment(place: str) -> str:
    return (
        f"{place}/{_ENVIRONMENT} tells its version, and the folders in {place}/lib/python*/site-packages its packages"
    )
