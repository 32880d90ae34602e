"""One name against one glob (stars, question marks, sets, escapes), in time linear in the name for each star. Pure."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from everturn.core.patterns import compile_late

_TOKEN = compile_late(
    r"(?P<stars>\*+)|(?P<any>\?)|\[(?P<set>[!^]?\]?(?:\\.|[^\]\\])*)\]|\\(?P<escaped>.)|(?P<plain>[^*?\[\\]+)|(?P<bad>.)",
    re.DOTALL,
)

Fold = Callable[[str], str]


class GlobError(ValueError):
    """The end of a sentence that begins with the pattern."""


class CharSet(msgspec.Struct, frozen=True):
    """`[a-z_]`, `[!0-9]`."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool
    folded: bool = False

    def matches(self, mark: str) -> bool:
        forms = {mark, mark.upper(), mark.lower()} if self.folded else {mark}
        return any(first <= form <= last for first, last in self.ranges for form in forms) is not self.negated


Atom = str | CharSet | Literal[0] | None
"""Text, a set, 0 for `?`, None for `*`."""


class Glob(msgspec.Struct, frozen=True):
    """Made by `make_glob`. `atoms` never holds two stars side by side."""

    atoms: tuple[Atom, ...]
    least: int
    """Characters that a match has at least."""
    is_plain: bool
    """Nothing but texts and stars."""

    @property
    def literal(self) -> str | None:
        """The one name that it matches, where there is only one."""
        if not self.atoms:
            return ""
        only = self.atoms[0]
        return only if len(self.atoms) == 1 and isinstance(only, str) else None

    @property
    def edges(self) -> tuple[str, str]:
        """What every match begins and ends with."""
        first, last = self.atoms[0], self.atoms[-1]
        alone = len(self.atoms) == 1
        return (first if isinstance(first, str) else "", last if isinstance(last, str) and not alone else "")

    def matches(self, name: str) -> bool:
        if len(name) < self.least:
            return False
        return _match_texts(self.atoms, name) if self.is_plain else _match_marks(self.atoms, name)

    def folded(self, fold: Fold) -> "Glob":
        """Matches names that were folded the same way."""
        parts: list[Atom] = []
        for atom in self.atoms:
            if isinstance(atom, str):
                parts.append(fold(atom))
            elif isinstance(atom, CharSet):
                parts.append(CharSet(atom.ranges, atom.negated, folded=True))
            else:
                parts.append(atom)
        return make_glob(parts)


def make_glob(atoms: Sequence[Atom]) -> Glob:
    return Glob(
        tuple(atoms),
        sum(len(atom) if isinstance(atom, str) else atom is not None for atom in atoms),
        all(atom is None or isinstance(atom, str) for atom in atoms),
    )


@lru_cache(maxsize=4_096)
def parse_glob(text: str) -> Glob:
    """Raises `GlobError`."""
    atoms: list[Atom] = []
    plain: list[str] = []

    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "plain" or kind == "escaped":  # noqa: PLR1714 (a megabyte of them)
            plain.append(token[kind])
            continue
        if kind == "bad":
            raise GlobError(_explain(token["bad"]))
        if plain:
            atoms.append("".join(plain))
            plain = []
        if kind == "stars":
            if not atoms or atoms[-1] is not None:
                atoms.append(None)
        else:
            atoms.append(0 if kind == "any" else _parse_set(token["set"]))
    if plain:
        atoms.append("".join(plain))
    return make_glob(atoms)


def parse_stars(text: str) -> Glob:
    """Only `*` is special, and it matches anything."""
    parts: list[Atom] = []
    for at, piece in enumerate(text.split("*")):
        if at and (not parts or parts[-1] is not None):
            parts.append(None)
        if piece:
            parts.append(piece)
    return make_glob(parts)


def _explain(mark: str) -> str:
    if mark == "[":
        return "opens a [ that is never closed (a plain one is written \\[)"
    return "ends with a backslash that escapes nothing"


def _parse_set(text: str) -> CharSet:
    negated = text[:1] in {"!", "^"}
    body = text[1:] if negated else text
    if "[:" in body:
        raise GlobError("uses a class such as [:alpha:], which is not supported; write the letters, as in [a-z]")
    marks = [(mark[-1], len(mark) > 1) for mark in re.findall(r"\\.|.", body, re.DOTALL)]
    if not marks:
        raise GlobError("holds empty brackets []")
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(marks):
        first = marks[at][0]
        if at + 2 < len(marks) and marks[at + 1] == ("-", False):
            ranges.append((first, marks[at + 2][0]))
            at += 3
        else:
            ranges.append((first, first))
            at += 1
    return CharSet(tuple(ranges), negated)


def _match_texts(atoms: tuple[Atom, ...], name: str) -> bool:
    """Each text where it first fits: with nothing but stars between them, no later place is better."""
    texts = [atom for atom in atoms if isinstance(atom, str)]
    start, end = 0, len(name)
    if texts and atoms[0] is not None:
        if not name.startswith(texts[0]):
            return False
        start = len(texts.pop(0))
        if len(atoms) == 1:
            return start == end
    if texts and atoms[-1] is not None:
        if not name.endswith(texts[-1]):
            return False
        end -= len(texts.pop())
    for text in texts:
        if (found := name.find(text, start, end)) < 0:
            return False
        start = found + len(text)
    return (bool(atoms) and start <= end) or not name


def _match_marks(atoms: tuple[Atom, ...], name: str) -> bool:
    """Only the last star is ever taken up again."""
    marks: list[Atom] = [mark for atom in atoms for mark in (atom if isinstance(atom, str) else [atom])]
    at = mark_at = 0
    star, resume = -1, 0
    while at < len(name):
        mark = marks[mark_at] if mark_at < len(marks) else ""
        if mark is None:
            star, resume = mark_at, at
            mark_at += 1
        elif mark == 0 or (mark.matches(name[at]) if isinstance(mark, CharSet) else mark == name[at]):
            at, mark_at = at + 1, mark_at + 1
        elif star >= 0:
            resume += 1
            at, mark_at = resume, star + 1
        else:
            return False
    return all(mark is None for mark in marks[mark_at:])
