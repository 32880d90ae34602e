"""Checks of single values: each returns what is wrong and what is allowed, or None."""

import math
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any

Check = Callable[[Any], str | None]
"""None = fine; otherwise the end of a sentence that begins with the field's name."""

LIKENESS = 0.65
"""Of two words, from 0 to 1, from which on one may be a slip for the other."""
_BARE_NAME = r"[A-Za-z0-9_-]{1,128}"
_HEADER = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VISIBLE = r"[\x21-\x7e]+"
_SESSION = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"


def nearest(name: str, known: Collection[str], documented: Mapping[str, str] | None = None) -> str:
    """`; did you mean …?`, or nothing. Dashes in front do not make two words alike.

    `documented`: the spelling that is suggested in place of another one for the same.
    """
    import difflib

    bare = {word.lstrip("-").lower(): word for word in known}
    match = difflib.get_close_matches(name.lstrip("-").lower(), list(bare), n=1, cutoff=LIKENESS)
    if not match:
        return ""
    meant = bare[match[0]]
    return f"; did you mean {(documented or {}).get(meant, meant)!r}?"


def text(value: Any) -> str | None:
    return None if isinstance(value, str) and value.strip() else "must be a text that is not empty"


def words(value: Any) -> str | None:
    return None if isinstance(value, str) else "must be a text"


def path(value: Any) -> str | None:
    is_path = isinstance(value, str | os.PathLike) and bool(os.fspath(value)) and "\0" not in str(value)
    return None if is_path else f"must be a path, not {value!r:.60}"


def flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"must be true or false, not {show(value)}"


def whole(least: int) -> Check:
    def check(value: Any) -> str | None:
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return None
        return f"must be a whole number of at least {least}, not {show(value)}"

    return check


def number(least: float, most: float = math.inf) -> Check:
    def check(value: Any) -> str | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if is_number and least <= value <= most:
            return None
        upper = "" if most == math.inf else f" and at most {most:g}"
        return f"must be a number of at least {least:g}{upper}, not {show(value)}"

    return check


def one_of(*allowed: str) -> Check:
    def check(value: Any) -> str | None:
        if isinstance(value, str) and value in allowed:
            return None
        hint = nearest(value, allowed) if isinstance(value, str) else ""
        return f"must be one of {', '.join(allowed)}, not {show(value)}{hint}"

    return check


def list_of(check_item: Check, most: int | None = None) -> Check:
    def check(value: Any) -> str | None:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
            return f"must be a list, not {show(value)}"
        if most is not None and len(value) > most:
            return f"holds {len(value):,} entries, and {most:,} are the most"
        return next((f"holds an entry that {problem}" for item in value if (problem := check_item(item))), None)

    return check


def any_of(*checks: Check) -> Check:
    def check(value: Any) -> str | None:
        problems = [problem for judge in checks if (problem := judge(value))]
        return " or ".join(problems) if len(problems) == len(checks) else None

    return check


def bare_name(value: Any) -> str | None:
    if isinstance(value, str) and re.fullmatch(_BARE_NAME, value):
        return None
    if isinstance(value, str) and "(" in value:
        return f"is a rule with a specifier ({value[:60]}); only bare tool names are taken here"
    return f"must be a bare tool name, not {show(value)}"


def tool_rule(value: Any) -> str | None:
    """A text that looks like a rule; what rules may say is the permissions' matter."""
    if not isinstance(value, str) or not value.strip():
        return f"must be a rule such as Bash(git status), not {show(value)}"
    return None


def session_id(value: Any) -> str | None:
    if isinstance(value, str) and re.fullmatch(_SESSION, value):
        return None
    return "must be letters, digits, dots, dashes and underscores, at most 128, beginning with a letter or a digit"


def text_map(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return f"must map texts to texts, not be {show(value)}"
    wrong = next((key for key, item in value.items() if not (isinstance(key, str) and isinstance(item, str))), None)
    return None if wrong is None else f"must map texts to texts; the entry {show(wrong)} does not"


def headers(value: Any) -> str | None:
    """Never shows a value: a header may carry a credential."""
    if not isinstance(value, Mapping):
        return "must map header names to values"
    for name, content in value.items():
        if not (isinstance(name, str) and re.fullmatch(_HEADER, name)):
            return f"holds {show(name)}, which is not a header's name"
        if not (isinstance(content, str) and is_one_line(content)):
            return f"holds a value for {name} that is not one line of printable characters"
    return None


def secret(value: Any) -> str | None:
    """Never shows the value."""
    if isinstance(value, str) and re.fullmatch(_VISIBLE, value.strip()):
        return None
    return "must be one line of printable ASCII characters without blanks"


def url(value: Any) -> str | None:
    """Never shows the value: it may hold a credential."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        port_is_fine = parts is not None and (parts.port is None or parts.port > 0)
    except ValueError:
        return "must be an http or https URL"
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        return "must be an http or https URL, such as https://api.anthropic.com"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or a password"
    if parts.query or parts.fragment:
        return "must end with its path: no query, no fragment"
    return None if is_one_line(str(value)) and " " not in str(value) else "must be one line without blanks"


def is_one_line(value: str) -> bool:
    return value.replace("\t", " ").isprintable()


def has_members(value: Any, *names: str) -> bool:
    """An object of ours or of the user's, recognised by its members; a class is none."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)


def is_function(value: Any) -> bool:
    """A function written in Python, whose signature can be read."""
    return isinstance(value, FunctionType | MethodType | partial)


def takes(function: Callable[..., Any], arguments: int) -> bool:
    """It can be called with so many arguments, none of them by name."""
    from inspect import signature

    try:
        signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    return True


def show(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"  # noqa: PLR2004 (a line of an error message)
