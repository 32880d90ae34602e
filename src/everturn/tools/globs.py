"""Wildcard patterns to regular expressions, for Glob, for Grep's filters and for ignore files."""

import re

_DEEPEST = 20
"""Nested braces beyond this are taken literally."""


def translate_glob(pattern: str) -> str:
    r"""A regular expression for a whole relative path with `/`: `*` and `?` stay in one segment, `**` crosses them.

    `[a-z]`, `[!a]`, `{one,two}` and `\` as an escape work as in a shell.
    """
    return _translate(pattern, 0)


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


def _translate(pattern: str, depth: int) -> str:
    out: list[str] = []
    position = 0
    while position < len(pattern):
        piece, position = _next_piece(pattern, position, depth)
        out.append(piece)
    return "".join(out)


def _next_piece(pattern: str, position: int, depth: int) -> tuple[str, int]:
    match pattern[position]:
        case "*" if pattern.startswith("**", position):
            return _stars(pattern, position)
        case "*":
            return "[^/]*", position + 1
        case "?":
            return "[^/]", position + 1
        case "[" if (end := _class_end(pattern, position)) > 0:
            return _class(pattern[position + 1 : end]), end + 1
        case "{" if depth < _DEEPEST and (end := _brace_end(pattern, position)) > 0:
            choices = _split_choices(pattern[position + 1 : end])
            return f"(?:{'|'.join(_translate(choice, depth + 1) for choice in choices)})", end + 1
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
            return ".*", end
        if pattern[end] == "/":
            return "(?:.*/)?", end + 1
    return "[^/]*", end


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
