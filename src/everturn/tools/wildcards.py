"""Wildcard patterns to regular expressions, for Glob, for Grep's filters and for ignore files."""

import re
from collections.abc import Iterator
from itertools import islice

from everturn.core.patterns import compile_late

_STAR, _FOLDERS, _REST = "[^/]*", "(?:.*/)?", ".*"
_MAX_BRACES, _MAX_FORMS = 40, 256
"""Where there are more braces, or they have more choices in all, they are taken literally."""
_GLOB_COMMA = compile_late(r"\\.|\[[^\]]*\]|\{(?:[^{}]|\{[^{}]*\})*\}|,", re.DOTALL)
"""A comma that parts a list of globs, or a piece of a glob that may hold commas of its own."""
_OTHER_LIST = compile_late(r"[^\s;|]*[*?\]}][^\s;|]*(?:\s*[;|]\s*|\s+)[^\s;|]*[*?\[{][^\s;|]*.*", re.DOTALL)
"""Two patterns with something else than a comma between them."""


def translate_glob(pattern: str) -> str:
    r"""A regular expression for a whole relative path with `/`: `*` and `?` stay in one segment, `**` crosses them.

    `[a-z]`, `[!a]`, `{one,two}` and `\` as an escape work as in a shell.
    """
    forms = [pattern]
    if pattern.count("{") <= _MAX_BRACES:
        forms = list(islice(_expand(pattern), _MAX_FORMS + 1))
    if len(forms) > _MAX_FORMS:
        forms = [pattern]
    return f"(?:{'|'.join(map(_translate, forms))})" if len(forms) > 1 else _translate(forms[0])


def _expand(pattern: str) -> Iterator[str]:
    """The pattern without braces, once for each choice: a choice between wildcards could be tried in too many ways."""
    position = 0
    while position < len(pattern):
        mark = pattern[position]
        if mark == "{" and (end := _brace_end(pattern, position)) > 0:
            for choice in _split_choices(pattern[position + 1 : end]):
                yield from _expand(f"{pattern[:position]}{choice}{pattern[end + 1 :]}")
            return
        if mark == "[" and (end := _class_end(pattern, position)) > 0:
            position = end
        position += 2 if mark == "\\" else 1
    yield pattern


def plan_walk(pattern: str) -> tuple[tuple[str, ...], int | None]:
    """The folders that a pattern names without wildcards, where a walk can start; and how deep it must go, None = all the way."""
    *folders, _ = pattern.split("/")
    fixed = []
    for name in folders:
        if not name or re.search(r"[*?\[{\\]", name):
            break
        fixed.append(name)
    # A brace may hold slashes: then neither the start nor the depth is sure.
    if "{" in pattern:
        return tuple(fixed), None
    return tuple(fixed), None if "**" in pattern else len(folders)


def _translate(pattern: str) -> str:
    out: list[str] = []
    position = 0
    while position < len(pattern):
        piece, position = _next_piece(pattern, position)
        out.append(piece)
    return "".join(_settle(_FOLDERS, "(?>(?:.*?/)??", _settle(_STAR, "(?>[^/]*?", out)))


def _settle(wild: str, shortest: str, pieces: list[str]) -> list[str]:
    """What stands between two wildcards of a kind is found at its first place for good: the second one takes up the rest.

    Without that, each of them would try all places of the others, and twenty of them would never end. Between them may stand
    whatever has one length in each place.
    """
    settled: list[str] = []
    held: list[str] | None = None
    for piece in pieces:
        ends = piece == wild or (wild == _FOLDERS and piece == _REST)
        if held is not None and ends:
            settled += [shortest, *held, ")"]
            held = None
        if piece == wild:
            held = []
        elif held is not None and wild == _STAR and piece in {"/", _FOLDERS, _REST}:
            settled += [wild, *held, piece]
            held = None
        elif held is not None:
            held.append(piece)
        else:
            settled.append(piece)
    return settled if held is None else [*settled, wild, *held]


def _next_piece(pattern: str, position: int) -> tuple[str, int]:
    match pattern[position]:
        case "*" if pattern.startswith("**", position):
            return _stars(pattern, position)
        case "*":
            return _STAR, position + 1
        case "?":
            return "[^/]", position + 1
        case "[" if (end := _class_end(pattern, position)) > 0:
            return _class(pattern[position + 1 : end]), end + 1
        case "\\" if position + 1 < len(pattern):
            return re.escape(pattern[position + 1]), position + 2
        case literal:
            return re.escape(literal), position + 1


def _stars(pattern: str, position: int) -> tuple[str, int]:
    """`**` means folders only where it fills a segment; elsewhere it is one star written twice."""
    end = position
    while pattern.startswith("*", end):
        end += 1
    starts = position == 0 or pattern[position - 1] == "/"
    if starts and end - position == len("**"):
        if end == len(pattern):
            return _REST, end
        if pattern[end] == "/":
            return _FOLDERS, end + 1
    return _STAR, end


def _class_end(pattern: str, start: int) -> int:
    """A `]` right after the opening, or after its `!`, is a member."""
    first = start + 1
    if pattern[first : first + 1] in {"!", "^"}:
        first += 1
    return pattern.find("]", first + 1)


def _class(body: str) -> str:
    negated = body[0] in "!^"
    members = body[1:] if negated else body
    escaped = re.sub(r"([\\\[\]&~|^])", r"\\\1", members)
    # A range written backwards matches nothing, and must not be an error of the regular expression.
    backwards = any(low > high for low, high in re.findall(r"(.)-(.)", members))
    if backwards:
        return "(?!)"
    return f"[^/{escaped}]" if negated else f"[{escaped}]"


def _brace_end(pattern: str, start: int) -> int:
    depth = 0
    position = start
    while position < len(pattern):
        mark = pattern[position]
        if mark == "\\":
            position += 1
        elif mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    return -1


def _split_choices(body: str) -> list[str]:
    choices = [""]
    depth = 0
    escaped = False
    for mark in body:
        if mark == "," and depth == 0 and not escaped:
            choices.append("")
            continue
        if not escaped:
            depth += (mark == "{") - (mark == "}")
        escaped = mark == "\\" and not escaped
        choices[-1] += mark
    return choices


def split_globs(text: str) -> tuple[str, ...]:
    """The members of a list with commas (`*.py,*.md`), and the text as a whole: a file's name may hold a comma.

    Commas in braces, in brackets and behind a backslash belong to the pattern.
    """
    members, start = [], 0
    for found in _GLOB_COMMA.finditer(text):
        if found[0] == ",":
            members.append(text[start : found.start()].strip())
            start = found.end()
    if not start:
        return (text,)
    members = [member for member in (*members, text[start:].strip()) if member]
    # A list with `!` is read as a list only: as one pattern it would close what its members open.
    return tuple(members) if any(member.startswith("!") for member in members) else (text, *members)


def explain_list(text: str) -> tuple[str, ...]:
    """What to say where nothing fits a text that seems to hold several patterns, and is read as one."""
    if not _OTHER_LIST.fullmatch(text):
        return ()
    return (f"({text!r} was read as one pattern. Write several with commas, such as `*.py,*.md`.)",)
