"""Corrects paths and patterns that models often write in a wrong form, before the call is judged."""

import os
import re
from posixpath import join, relpath
from typing import Any

from everturn.core.errors import InputFault
from everturn.core.patterns import compile_late
from everturn.tools.definition.decorator import Settle
from everturn.tools.wildcards import split_globs
from everturn.workspace.paths import absolute, locate

_URL = compile_late(r"file://([^/]*)(/.*)", re.DOTALL | re.IGNORECASE)
_VARIABLE = compile_late(r"(\$(?:[A-Z][A-Z0-9_]*|\{[A-Z][A-Z0-9_]*\}))(?:/.*)?", re.DOTALL)
_WILD = compile_late(r"[*?\[{\\]")
_MAX_LENGTH = 4_096
"""Characters of a name that is looked up."""

Input = dict[str, Any]


def settle_file(field: str) -> Settle:
    """For a tool whose `field` names a file: a `file://` URL becomes the path that it means, and a variable is refused."""
    return lambda given, folder: {**given, **_settle_path(given, field, folder)}


def _settle_path(given: Input, field: str, folder: str) -> Input:
    value = given.get(field)
    if not isinstance(value, str):
        return {}
    _refuse_variable(value, field, folder)
    found = _URL.fullmatch(value)
    if found is None:
        return {}
    if found[1] not in {"", "localhost"}:
        raise InputFault(f"`{field}`: expected a path on this machine, got {value!r}.")
    from urllib.parse import unquote

    return {field: unquote(found[2])}


def _refuse_variable(path: str, field: str, folder: str) -> None:
    """It would be a folder of that name in the working folder. Only a shell knows what a variable stands for."""
    found = _VARIABLE.fullmatch(path)
    if found is None or os.path.lexists(join(folder, found[1])):
        return
    way = "`echo $TMPDIR` prints it" if found[1] in {"$TMPDIR", "${TMPDIR}"} else "variables are read by commands only"
    raise InputFault(f"`{field}`: expected the path itself, got the variable {found[1]} in {path!r} ({way}).")


def settle_read(given: Input, folder: str) -> Input:
    """Lines are counted from 1, and nobody reads none of them: 0 means "from the first" and "as many as usual"."""
    given = settle_file("file_path")(given, folder)
    pages = given.get("pages")
    if isinstance(pages, int) and not isinstance(pages, bool):
        given = {**given, "pages": str(pages)}
    return {key: value for key, value in given.items() if not (key in {"offset", "limit"} and _is_zero(value))}


def settle_command(given: Input, _folder: str) -> Input:
    """A list of words is one command with these words; a time limit of 0 is none of its own."""
    words = given.get("command")
    if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
        from shlex import join as quote

        given = {**given, "command": quote(words)}
    return {key: value for key, value in given.items() if not (key == "timeout" and _is_zero(value))}


def settle_edit(given: Input, folder: str) -> Input:
    if given.get("old_string") == "":
        raise InputFault(
            "`old_string`: expected the text to replace, got an empty one. To create a file, or to replace all of it, use "
            "Write. To insert text, give a line beside the place as `old_string`, and that line with the new text as "
            "`new_string`."
        )
    return settle_file("file_path")(given, folder)


def settle_glob(given: Input, folder: str) -> Input:
    """A pattern that names its folder from the root, from home or with `..` becomes a folder and a pattern below it."""
    given = _join_list({**given, **_settle_path(given, "path", folder)}, "pattern")
    pattern = given.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        return given
    _refuse_variable(pattern, "pattern", folder)
    parts = [_tidy(part) for part in split_globs(pattern)]
    if len(parts) == 1:
        return {**given, **_place_pattern(parts[0], given.get("path"), folder)}
    if odd := [part for part in parts[1:] if _leaves(part)]:
        raise InputFault(
            f"`pattern`: in a list, each pattern is relative to `path`; {odd[0]!r} is not. Search for it in a call of its own."
        )
    return given


def _place_pattern(pattern: str, path: Any, folder: str) -> Input:
    if pattern.rpartition("/")[2] in {"", ".", ".."}:
        below = "" if pattern in {"", "."} else f"{pattern.rstrip('/')}/"
        raise InputFault(
            f"`pattern`: only files are found, and {pattern or '.'!r} is a folder. Use {below + '**'!r} for all files below it, "
            f"{below + '*'!r} for those in it."
        )
    if not _leaves(pattern) or not isinstance(path, str | None):
        return {"pattern": pattern}
    fixed, rest = _split_fixed(pattern)
    if ".." in rest.split("/"):
        raise InputFault(
            "`pattern`: expected no `..` behind a wildcard. Set `path` to the folder, and search below it."
        )
    place = absolute(folder, fixed) if fixed.startswith(("/", "~")) else join(path or ".", fixed)
    if path is None:
        inside = _find_inside(place, folder, folder)
        return {"pattern": join(inside, rest)} if inside is not None else {"path": place, "pattern": rest}
    inside = _find_inside(place, path, folder)
    if inside is not None:
        return {"pattern": join(inside, rest)}
    if fixed.startswith(("/", "~")):
        raise InputFault(
            f"`pattern`: expected a pattern below `path` ({path}), got {pattern!r}. Leave `path` out, or make it {place!r} "
            f"and the pattern {rest!r}."
        )
    return {"path": place, "pattern": rest}


def _find_inside(place: str, path: str, folder: str) -> str | None:
    """The folder relative to the other, as a pattern; empty where they are the same, None where it is not inside."""
    root, real = locate(folder, path), locate(folder, place)
    if real == root:
        return ""
    # Links are resolved: the real names may hold what a pattern would take for wildcards.
    return _WILD.sub(r"\\\g<0>", relpath(real, root)) if real.startswith(f"{root.rstrip('/')}/") else None


def settle_grep(given: Input, folder: str) -> Input:
    """A path with wildcards, where there is no such file, is a folder and a glob below it."""
    given = _join_list({**given, **_settle_path(given, "path", folder)}, "glob")
    path = given.get("path")
    if not isinstance(path, str) or not _WILD.search(path) or os.path.lexists(absolute(folder, path)):
        return given
    if "glob" in given:
        raise InputFault(
            f"`path`: expected one file or folder, got the pattern {path!r} beside a `glob`. Give one of both."
        )
    fixed, rest = _split_fixed(_tidy(path))
    return {**given, "path": fixed or ".", "glob": f"/{rest}"}


def place_globs(globs: tuple[str, ...], root: str) -> tuple[str, ...]:
    """Globs as the search reads them: relative to its root, which is a real path, and for files. Raises `InputFault`."""
    return tuple(_place_glob(glob, root) for glob in globs)


def _place_glob(glob: str, root: str) -> str:
    mark, body = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    body = _tidy(body)
    if ".." in body.split("/"):
        raise InputFault(f"`glob`: expected a glob for files below `path`, got {glob!r}, which leaves it. Set `path`.")
    if body.startswith(("/", "~/")):
        body = _anchor(body, root)
    if mark:
        return mark + body
    if body.endswith("/"):
        return f"{body}**"
    if not _WILD.search(body) and len(body) < _MAX_LENGTH and os.path.isdir(join(root, body.lstrip("/"))):  # noqa: PTH112 - text
        return f"{body}/**" if "/" in body else f"**/{body}/**"
    return body


def _anchor(glob: str, root: str) -> str:
    """A leading slash means the root of the search, unless the glob names that root, or a folder in it, by its full path."""
    fixed, rest = _split_fixed(glob)
    inside = _find_inside(fixed, root, root)
    if inside is not None and (inside or rest):
        return f"/{join(inside, rest)}"
    first = glob.split("/")[1]
    is_elsewhere = not _WILD.search(first) and os.path.isdir(f"/{first}") and not os.path.lexists(join(root, first))  # noqa: PTH112 - text
    if glob.startswith("~/") or is_elsewhere:
        raise InputFault(
            f"`glob`: expected a glob for files below {root}, got {glob!r}, which is elsewhere. Set `path`."
        )
    return glob


def _join_list(given: Input, field: str) -> Input:
    """Several patterns as a list."""
    value = given.get(field)
    if isinstance(value, list) and value and all(isinstance(each, str) and each for each in value):
        return {**given, field: ",".join(value)}
    return given


def _tidy(pattern: str) -> str:
    """Without segments that say nothing: `./a`, `a//b`, `a/./b`."""
    first, *others = pattern.split("/")
    kept = [segment for segment in others[:-1] if segment not in {"", "."}]
    names = [*([first] if first != "." or not others else []), *kept, *others[-1:]]
    return "/".join(names)


def _leaves(pattern: str) -> bool:
    return pattern.startswith(("/", "~")) or ".." in pattern.split("/")


def _split_fixed(pattern: str) -> tuple[str, str]:
    """The folders at its beginning that hold no wildcard, and the rest, which is never empty."""
    names = pattern.split("/")
    count = next((at for at, name in enumerate(names[:-1]) if _WILD.search(name)), len(names) - 1)
    return "/".join(names[:count]) or ("/" if pattern.startswith("/") else ""), "/".join(names[count:])


def _is_zero(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value == 0
