"""What a docstring says to a model: the description of a tool, and of each parameter where it has a section for them."""

import inspect
import re

import msgspec

from everturn.core.patterns import compile_late

_GOOGLE = compile_late(r"(Args|Arguments|Parameters):\s*")
_GOOGLE_ENTRY = compile_late(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY_ENTRY = compile_late(r"\*{0,2}(\w+)\s*(?::.*)?")
_REST_ENTRY = compile_late(r":(?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\*{0,2}(\w+):\s*(.*)")
_REST_TYPE = compile_late(r":type\s+\w+:.*")


class Docstring(msgspec.Struct, frozen=True, kw_only=True):
    description: str
    """Without the section of the parameters."""
    parameters: dict[str, str] = {}


def parse_docstring(text: str) -> Docstring:
    """Sections as Google, NumPy and Sphinx write them; what is none of these belongs to the description."""
    lines = inspect.cleandoc(text).splitlines()
    kept: list[str] = []
    found: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        if _GOOGLE.fullmatch(line) and _is_indented(lines, at + 1):
            at = _take_google(lines, at + 1, found)
        elif line.strip() == "Parameters" and _is_underline(lines, at + 1):
            at = _take_numpy(lines, at + 2, found)
        elif entry := _REST_ENTRY.fullmatch(line):
            at, more = _take_indented(lines, at + 1, 0)
            found[entry[1]] = _join([entry[2], *more])
        elif _REST_TYPE.fullmatch(line):
            at, _ = _take_indented(lines, at + 1, 0)
        else:
            kept.append(line)
            at += 1
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return Docstring(description=description, parameters={name: said for name, said in found.items() if said})


def _take_google(lines: list[str], at: int, found: dict[str, str]) -> int:
    """Entries share one indentation; what is indented deeper goes on with the entry above."""
    depth = _depth(lines[at])
    while at < len(lines) and (not lines[at].strip() or _depth(lines[at]) >= depth):
        entry = _GOOGLE_ENTRY.fullmatch(lines[at].strip())
        at, more = _take_indented(lines, at + 1, depth)
        if entry:
            found[entry[1]] = _join([entry[2], *more])
    return at


def _take_numpy(lines: list[str], at: int, found: dict[str, str]) -> int:
    """Ends with the next underlined heading."""
    while at < len(lines) and not _is_underline(lines, at + 1):
        entry = _NUMPY_ENTRY.fullmatch(lines[at])
        at, more = _take_indented(lines, at + 1, 0)
        if entry:
            found[entry[1]] = _join(more)
    return at


def _take_indented(lines: list[str], at: int, depth: int) -> tuple[int, list[str]]:
    """Lines deeper than `depth`; an empty line counts when such a line follows it."""
    taken: list[str] = []
    while at < len(lines):
        if lines[at].strip():
            if _depth(lines[at]) <= depth:
                break
            taken.append(lines[at].strip())
        elif not (at + 1 < len(lines) and lines[at + 1].strip() and _depth(lines[at + 1]) > depth):
            break
        at += 1
    return at, taken


def _join(parts: list[str]) -> str:
    return " ".join(part for part in parts if part)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_indented(lines: list[str], at: int) -> bool:
    return at < len(lines) and bool(lines[at].strip()) and _depth(lines[at]) > 0


def _is_underline(lines: list[str], at: int) -> bool:
    return at < len(lines) and len(lines[at].strip()) > 1 and not lines[at].strip().strip("-")
