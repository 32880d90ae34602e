"""Programs that tell their version: exactly these words, which load nothing that a repository brings."""

from everturn.permissions.shell.syntax import Word

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


def tells_version(words: tuple[Word, ...]) -> bool:
    return len(words) == len(("name", "option")) and words[1].plain and words[1].raw in _SAID.get(words[0].raw, ())
