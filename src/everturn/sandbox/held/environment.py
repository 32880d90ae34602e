"""The environment of a held command: a short list, and nothing that makes a program load or run something."""

import os
from collections.abc import Mapping
from functools import lru_cache

from everturn.sandbox.held.places import is_below

OF_THE_SHELL = frozenset({"PWD", "OLDPWD", "SHLVL", "_"})
"""A shell makes these itself."""
PASSED = frozenset({
    "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR",
    "CLICOLOR", "LS_COLORS", "HOSTNAME", "XDG_CONFIG_HOME", "EVERTURN_MARK",
})  # fmt: skip
SETTLED = {
    # Git neither writes, nor asks, nor fetches, and what a repository wants to have run by itself is switched off.
    "GIT_OPTIONAL_LOCKS": "0",
    # The machine's settings are in the copy of the person's, without secrets.
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "PAGER": "cat",
    "MANPAGER": "cat",
}


def plan_environment(given: Mapping[str, str], *, path: str, temporary: str) -> dict[str, str]:
    kept = {name: value for name, value in given.items() if is_passed(name)}
    return kept | SETTLED | {"PATH": path, "TMPDIR": temporary}


def is_passed(name: str) -> bool:
    return name in PASSED or name.startswith("LC_") or name in SETTLED


@lru_cache(maxsize=16)
def clean_path(path: str, folders: tuple[str, ...]) -> str:
    """Only entries that are whole, and lie in no working folder, by no link either."""
    kept = [
        entry
        for entry in path.split(os.pathsep)
        if entry.startswith("/") and not any(is_below(form, each) for form in _forms(entry) for each in folders)
    ]
    return os.pathsep.join(kept) or os.defpath


def _forms(entry: str) -> tuple[str, str]:
    return os.path.normpath(entry), os.path.realpath(entry)
