"""Names that fit what was typed so far, the best first: for `@file`, `/command` and every other menu. Pure.

Between two key presses there is little time, and a name is looked at in Python for a microsecond or two. So most names are left out by
tests that run in C, what an earlier key press left over is looked at again, and only the most promising are scored.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import NamedTuple

import msgspec

MAX_SCORED = 200
"""Names that are scored for one key press."""
MAX_SHARE = 80
"""Of these, as many at most for one way in which a name can fit."""
MAX_BEGINNING = 5_000
"""Names whose first letter fits that are looked at for the other letters."""
MAX_TRIED_APART = 2
"""Of more letters than these that stand side by side in a name, no other places are tried."""
MAX_TRIED = 25_000
"""More names than these are not searched letter by letter: so many hold the letters that enough hold them side by side."""
MAX_PLACES = 24
"""Places of a letter in one name that are tried."""
MAX_QUERY = 100
_MATCH, _IN_NAME, _SIDE_BY_SIDE, _GAP, _MORE_GAP, _MAX_GAP = 16, 5, 9, 3, 1, 12
_NAME_START, _PART_START, _WORD_START = 10, 8, 7
_WHOLE, _PREFIX = 40, 12
_SEPARATORS = frozenset("_-. ")


class FuzzyMatch(NamedTuple):
    text: str
    places: tuple[int, ...]
    """Of the characters that were typed, in `text`."""


class _Name(msgspec.Struct, gc=False):
    """Not looked at by the garbage collector: there are very many, and none holds another."""

    folded: str
    start: int
    """Where the file name begins."""
    text: str
    at: int
    """In the order in which the names were given."""


class _Scored(NamedTuple):
    score: int
    places: tuple[int, ...]


class FuzzyIndex:
    """Searched by one thread. Of names that fit equally well, the one that was given first comes first."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: list[_Name] = []
        self._by_first: dict[str, list[_Name]] = {}
        for at, text in enumerate(names):
            name = _make_name(at, text)
            self._names.append(name)
            self._by_first.setdefault(name.folded[name.start : name.start + 1], []).append(name)
        self._all = "\n".join([name.folded for name in self._names])
        """Searched by one call that runs in C."""
        self._begins = array("L", accumulate((len(name.folded) + 1 for name in self._names), initial=0))
        self._left: list[tuple[str, list[_Name]]] = []
        """What earlier queries left over: each of them begins with the one before it. Some names in it may not fit."""

    def __len__(self) -> int:
        return len(self._names)

    def find(self, query: str, most: int = 20) -> list[FuzzyMatch]:
        """Upper and lower case are the same; blanks in the query mean nothing. Without a query, the first names."""
        typed = fold("".join(query.split()))[:MAX_QUERY]
        if not typed:
            return [FuzzyMatch(name.text, ()) for name in self._names[:most]]
        scored = [(score_name(typed, name.text, name.folded, name.start), name) for name in self._choose(typed)]
        fitting = [(found, name) for found, name in scored if found is not None]
        fitting.sort(key=lambda pair: (-pair[0].score, len(pair[1].text), pair[1].at))
        return [FuzzyMatch(name.text, found.places) for found, name in fitting[:most]]

    def _choose(self, typed: str) -> list[_Name]:
        """The most promising: a share for each way to fit. They are scored afterwards, so that the ways need no order."""
        left = self._narrow(typed)
        if len(left) <= MAX_SCORED:
            return left
        picked: dict[int, _Name] = {}
        for way in self._find_likely(typed):
            _add(picked, way)
        if len(left) <= MAX_TRIED:
            _add(picked, left)
        elif len(picked) < MAX_SHARE:
            # So many names have these letters that the first of them are enough, unless not one is among them.
            search = _subsequence(typed).search
            _add(picked, (name for name in left[:MAX_TRIED] if search(name.folded)))
            if not picked:
                _add(picked, (name for name in left[MAX_TRIED:] if search(name.folded)))
        return list(picked.values())

    def _find_likely(self, typed: str) -> Iterator[Iterator[_Name]]:
        beginning = self._by_first.get(typed[0], [])[:MAX_BEGINNING]
        yield (name for name in beginning if name.folded.startswith(typed, name.start))
        search = _subsequence(typed).match
        yield (name for name in beginning if search(name.folded, name.start))
        yield self._find_together(f"/{typed}")
        yield self._find_together(typed)

    def _find_together(self, typed: str) -> Iterator[_Name]:
        place = self._all.find(typed)
        while place >= 0:
            at = bisect_right(self._begins, place) - 1
            yield self._names[at]
            place = self._all.find(typed, self._begins[at + 1])

    def _narrow(self, typed: str) -> list[_Name]:
        """Names with the letters of what was typed; in that order, unless there are very many."""
        while self._left and not typed.startswith(self._left[-1][0]):
            self._left.pop()
        before, left = self._left[-1] if self._left else ("", self._names)
        if before == typed:
            return left
        for letter in dict.fromkeys(typed[len(before) :]):
            if letter not in before:
                left = [name for name in left if letter in name.folded]
        if len(left) <= MAX_TRIED:
            search = _subsequence(typed).search
            left = [name for name in left if search(name.folded)]
        self._left.append((typed, left))
        return left


def _add(picked: dict[int, _Name], way: Iterable[_Name]) -> None:
    share = min(MAX_SCORED - len(picked), MAX_SHARE)
    fresh = (name for name in way if name.at not in picked)
    picked.update({name.at: name for name in islice(fresh, share)})


def fold(text: str) -> str:
    """Lower case, character by character, so that places in it are places in the text."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(low if len(low := mark.lower()) == 1 else mark for mark in text)


def score_name(typed: str, text: str, folded: str, start: int) -> "_Scored | None":
    """Where the letters fit best: at the beginnings of words, side by side, in the file's name. None where they do not fit."""
    found = None
    if len(typed) > MAX_TRIED_APART:
        found = _score_together(typed, text, folded, start)
    found = found or _score_apart(typed, text, folded, start)
    if found is None:
        return None
    score, places = found
    if folded.startswith(typed, start):
        rest = folded[start + len(typed) :]
        score += _WHOLE if not rest else _PREFIX * 2 if rest[0] == "." else _PREFIX
    return _Scored(score - len(text) // 8, places)


def _score_together(typed: str, text: str, folded: str, start: int) -> "_Scored | None":
    """All side by side: most of what is typed is part of a name."""
    best = None
    count = len(typed)
    place = folded.find(typed)
    while place >= 0:
        bonus = 2 * _begins(text, place, start) + _IN_NAME * min(max(place + count - start, 0), count)
        best = max(best or (bonus, place), (bonus, place))
        place = folded.find(typed, place + 1)
    if best is None:
        return None
    score, place = best
    return _Scored(score + _MATCH * count + (_SIDE_BY_SIDE + 2) * (count - 1), tuple(range(place, place + count)))


def _score_apart(typed: str, text: str, folded: str, start: int) -> "_Scored | None":
    rows: list[dict[int, tuple[int, int]]] = []
    """Of each letter, by its place: the best score up to there, and the place of the letter before it."""
    least = -1
    for letter in typed:
        row: dict[int, tuple[int, int]] = {}
        before = rows[-1].items() if rows else ()
        for place in _find_places(letter, folded, least):
            bonus = _begins(text, place, start)
            own = _MATCH + (_IN_NAME if place >= start else 0) + bonus
            best, best_last = (own + bonus, -1) if not rows else (-1, -1)
            side_by_side = 2 + (_SIDE_BY_SIDE - bonus if bonus < _SIDE_BY_SIDE else 0)
            for last, (score, _) in before:
                distance = place - last
                if distance == 1:
                    reached = score + own + side_by_side
                elif distance > 1:
                    reached = score + own - min(_GAP + _MORE_GAP * (distance - 2), _MAX_GAP)
                else:
                    break
                if reached > best:
                    best, best_last = reached, last
            if best >= 0:
                row[place] = (best, best_last)
        if not row:
            return None
        rows.append(row)
        least = min(row)
    place, (score, last) = max(rows[-1].items(), key=lambda item: item[1])
    places = [place]
    for row in reversed(rows[:-1]):
        places.append(last)
        last = row[last][1]
    return _Scored(score, tuple(reversed(places)))


def _begins(text: str, place: int, start: int) -> int:
    """What it is worth that a word begins here."""
    if place == start:
        return _NAME_START
    if place == 0:
        return _PART_START
    before, here = text[place - 1], text[place]
    if before == "/":
        return _PART_START
    if before in _SEPARATORS:
        return _WORD_START if here not in _SEPARATORS else 0
    return _WORD_START - 1 if (before.islower() and here.isupper()) or (here.isdigit() and not before.isdigit()) else 0


def _find_places(letter: str, folded: str, after: int) -> list[int]:
    places = []
    place = folded.find(letter, after + 1)
    while place >= 0:
        places.append(place)
        place = folded.find(letter, place + 1)
    # The last ones are in the file's name.
    return places if len(places) <= MAX_PLACES else [*places[: MAX_PLACES // 3], *places[-MAX_PLACES * 2 // 3 :]]


def _make_name(at: int, text: str) -> _Name:
    folded = fold(text)
    # A name that ends with a slash is a folder's.
    start = folded.rfind("/", 0, -1) + 1
    return _Name(text if folded == text else folded, start, text, at)


def _subsequence(typed: str) -> re.Pattern[str]:
    """Each letter is found at its first place behind the one before it: there is nothing to go back to."""
    first, *others = map(re.escape, typed)
    return re.compile(first + "".join(f"(?>[^{other}]*){other}" for other in others), re.DOTALL)
