"""One settings file, checked: values by their dotted names, what is wrong as a problem or a warning. Pure."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.settings import checks
from everturn.settings.files import KeyPath, SettingsText
from everturn.settings.keys import (
    CLOSED,
    ENV,
    KEYS,
    PASSED_OVER,
    PERMISSIONS,
    PROGRAMS,
    PROTECTING,
    check_variable,
    nearest_key,
)
from everturn.settings.places import SettingsPlace

OBJECTS = frozenset(
    ".".join(parts[:depth]) for name in KEYS for parts in [name.split(".")] for depth in range(1, len(parts))
)
"""What holds further settings: `permissions`, `everturn.limits`."""
CHECKED_ELSEWHERE = frozenset({"hooks", "mcpServers"})
"""Checked where hooks and servers are made of them."""
LIST_OF_STRANGERS = 8
IS_NO_PATH = "is not a setting: a dot in a name leads nowhere; write objects inside each other"


class Remarks:
    """What there is to say about all the files together; grows while they are read."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.problems: list[OptionError] = []
        """Nobody should run with these: something that protects may be missing."""

    @contextmanager
    def noting(self) -> Iterator[None]:
        """What cannot be read is a problem; everything else goes on."""
        try:
            yield
        except OptionError as problem:
            self.problems.append(problem)


class Flat(msgspec.Struct, frozen=True, kw_only=True):
    place: SettingsPlace
    text: SettingsText
    values: dict[str, Any]
    """Checked, by their dotted names; `env` as a whole."""
    programs: dict[str, Any] = {}
    """Settings that name programs to run, as they stand there."""


def flatten_settings(place: SettingsPlace, text: SettingsText, remarks: Remarks) -> Flat:
    """A wrong value is left out. It is a problem in a file of the user's own and where it protects, else a warning."""
    values: dict[str, Any] = {}
    programs: dict[str, Any] = {}
    strangers: list[str] = []
    for path, value in _walk(text.values, ()):
        name = ".".join(path)
        if name in PROGRAMS:
            programs[name] = value
        if any("." in part for part in path):
            # `"permissions.deny": […]` at the top only looks like the setting.
            _remark_dotted(text, path, remarks)
        elif (reason := _judge(name, value)) is not None:
            _remark(place, text, path, reason, remarks)
        elif name == ENV:
            values[ENV] = _check_env(place, text, value, remarks)
        elif name in KEYS:
            values[name] = value
        elif path[0] in CLOSED and (place.is_strict or _may_protect(name)):
            remarks.problems.append(text.problem(path, f"is not a setting{nearest_key(name)}"))
        elif name not in PASSED_OVER and name not in CHECKED_ELSEWHERE:
            strangers.append(name)
    _tell_strangers(place, text, strangers, remarks)
    return Flat(place=place, text=text, values=values, programs=programs)


def _walk(values: dict[str, Any], above: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    """Down to where settings stand; what should be an object and is none comes as it is."""
    for key, value in values.items():
        path = (*above, key)
        if ".".join(path) in OBJECTS and isinstance(value, dict):
            yield from _walk(value, path)
        else:
            yield path, value


def _judge(name: str, value: Any) -> str | None:
    if name in OBJECTS:
        return "must be an object"
    if name == ENV:
        return checks.text_map(value)
    return KEYS[name].check(value) if name in KEYS else None


def _check_env(place: SettingsPlace, text: SettingsText, value: dict[str, str], remarks: Remarks) -> dict[str, str]:
    wrong = {name: reason for name, content in value.items() if (reason := check_variable(name, content))}
    for name, reason in wrong.items():
        _remark(place, text, (ENV, name), reason, remarks)
    return {name: content for name, content in value.items() if name not in wrong}


def _remark(place: SettingsPlace, text: SettingsText, path: KeyPath, reason: str, remarks: Remarks) -> None:
    name = ".".join(path)
    if place.is_strict or name in PROTECTING or name == PERMISSIONS:
        remarks.problems.append(text.problem(path, reason))
    else:
        remarks.warnings.append(str(text.problem(path, f"is passed over: it {reason}")))


def _remark_dotted(text: SettingsText, path: KeyPath, remarks: Remarks) -> None:
    if _may_protect(".".join(path)):
        remarks.problems.append(text.problem(path, IS_NO_PATH))
    else:
        remarks.warnings.append(str(text.problem(path, f"is passed over: it {IS_NO_PATH}")))


def _may_protect(name: str) -> bool:
    """A misspelt `deny` in a file that serves other programs, too: to pass it over would protect nobody."""
    return any(f"{key!r}" in nearest_key(name) for key in PROTECTING)


def _tell_strangers(place: SettingsPlace, text: SettingsText, strangers: list[str], remarks: Remarks) -> None:
    """A file of our own is corrected line by line; of another's, what we do not know is told in one."""
    if place.is_strict:
        for name in strangers:
            told = text.problem(tuple(name.split(".")), "is not supported and was passed over")
            remarks.warnings.append(f"{told}{nearest_key(name)}")
    elif strangers and not place.of_repository:
        more = f" and {len(strangers) - LIST_OF_STRANGERS} more" if len(strangers) > LIST_OF_STRANGERS else ""
        names = ", ".join(strangers[:LIST_OF_STRANGERS])
        remarks.warnings.append(f"{place.path}: not supported and passed over: {names}{more}")
