"""A change of a text as coloured rows with line numbers: for results of Edit and Write, for questions about them, for `/diff`. Pure.

First the hunks between two texts are planned (or come with a result), then as many rows as are wanted are laid out.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from everturn.core.masking import mask_keys
from everturn.core.patterns import compile_late
from everturn.frontends.asking.visible import make_visible
from everturn.frontends.flow import cut_line
from everturn.frontends.markdown import Piece
from everturn.frontends.tables import LineOfPieces
from everturn.frontends.terminal.palette import SIXTEEN, Palette

CONTEXT = 3
MAX_CHARACTERS = 8_000_000
"""Of both texts; larger ones are not compared."""
MAX_LOOKED_AT = 100_000
"""Lines, counted each time they are looked at. What is left then is one change."""
MAX_PRODUCT = 10_000
"""Lines of one text times lines of the other that are compared without anything to hold on to."""
MAX_WORDS_PRODUCT = 2_500
"""The same of words in two lines."""
MAX_WORDS_LINE = 2_000
"""Characters of a line in which changed words are looked for."""
MIN_ALIKE = 0.4
"""Of two lines that are less alike, no words are picked out."""
MIN_TEXT_COLUMNS = 8
_AHEAD = 512
"""Characters beyond the cut that are looked at: a key that begins before it is masked whole."""
_WORDS = compile_late(r"\w+|\s+|[^\w\s]")

Change = tuple[int, int, int, int]
"""First line and end of what is gone, first line and end of what has come."""


class DiffHunk(NamedTuple):
    old_start: int
    new_start: int
    """Numbers of the first line, from 1."""
    lines: Sequence[str]
    """Each begins with ` `, `-` or `+`."""


class _Line(NamedTuple):
    sign: str
    number: int
    """Of the new text; for what is gone, of the old one."""
    text: str
    other: str | None = None
    """The line that it was, or has become."""


def plan_hunks(old: str, new: str) -> list[DiffHunk]:
    """Lines end at the line feed. Of texts that are too long, everything counts as changed."""
    before, after = _split_alike(old, new)
    if len(old) + len(new) > MAX_CHARACTERS:
        changes = [(0, len(before), 0, len(after))] if old != new else []
    else:
        changes = _merge(_Comparison(before, after).changes())
    hunks = [_make_hunk(group, before, after) for group in _group(changes)]
    if remark := _remark_on_end(old, new):
        hunks.append(DiffHunk(len(before) + 1, len(after) + 1, [f"\\{remark}"]))
    return hunks


def count_changes(hunks: Sequence[DiffHunk]) -> tuple[int, int]:
    """How many lines have come, and how many are gone."""
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    return signs.count("+"), signs.count("-")


def lay_diff(
    hunks: Sequence[DiffHunk], columns: int, *, max_rows: int = 0, masks: bool = True, palette: Palette = SIXTEEN
) -> list[LineOfPieces]:
    """A row for each line, cut at the width, harmless. Of more than `max_rows`, the middle is folded into one row.

    `masks`: keys are hidden; not where a person consents to what they see.
    """
    lines = [line for at, hunk in enumerate(hunks) for line in _read_hunk(hunk, is_first=at == 0)]
    width = len(str(max((line.number for line in lines), default=0)))
    layout = _Layout(width, max(columns - width - 3, MIN_TEXT_COLUMNS), masks=masks, palette=palette)
    left_out = len(lines) - max_rows + 1 if max_rows and len(lines) > max_rows else 0
    head = len(lines) if not left_out else max_rows - 1 - (max_rows - 1) // 3
    rows = [layout.lay(line) for line in lines[:head]]
    if left_out:
        rows.append([Piece(cut_line(f"… {left_out:,} more lines", columns), palette.quiet, wraps=False)])
        rows += [layout.lay(line) for line in lines[head + left_out :]]
    return rows


def _split_alike(old: str, new: str) -> tuple[list[str], list[str]]:
    """A carriage return counts only where one of the texts has none."""
    if "\r\n" in old and ("\r\n" in new or not new):
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    elif "\r\n" in new and not old:
        new = new.replace("\r\n", "\n")
    return _split(old), _split(new)


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _remark_on_end(old: str, new: str) -> str:
    if not old or not new or old.endswith("\n") == new.endswith("\n"):
        return ""
    return "a newline at the end of the file" if new.endswith("\n") else "no newline at the end of the file"


class _Comparison:
    """Lines that stand once in each text hold both texts together; what lies between is compared in the same way, then by difflib."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old = old
        self._new = new
        self._left = MAX_LOOKED_AT

    def changes(self) -> Iterator[Change]:
        waiting: list[Change] = [(0, len(self._old), 0, len(self._new))]
        while waiting:
            a, b, c, d = self._trim(waiting.pop())
            if a == b or c == d:
                if (a, c) != (b, d):
                    yield a, b, c, d
                continue
            self._left -= b - a + d - c
            anchors = self._find_anchors(a, b, c, d) if self._left > 0 else []
            if anchors:
                starts = [(a, c), *((at + 1, to + 1) for at, to in anchors)]
                ends = [*anchors, (b, d)]
                between = [(*pair[0], *pair[1]) for pair in zip(starts, ends, strict=True)]
                waiting += [(first, end, start, stop) for first, start, end, stop in reversed(between)]
            elif (b - a) * (d - c) <= min(MAX_PRODUCT, self._left):
                self._left -= (b - a) * (d - c)
                codes = _compare(self._old[a:b], self._new[c:d])
                yield from ((a + e, a + f, c + g, c + h) for tag, e, f, g, h in codes if tag != "equal")
            else:
                yield a, b, c, d

    def _trim(self, change: Change) -> Change:
        a, b, c, d = change
        while a < b and c < d and self._old[a] == self._new[c]:
            a, c = a + 1, c + 1
        while a < b and c < d and self._old[b - 1] == self._new[d - 1]:
            b, d = b - 1, d - 1
        return a, b, c, d

    def _find_anchors(self, a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
        """The longest row of lines that stand once in both, in the same order."""
        theirs = _find_single(self._new, c, d)
        pairs = [(at, theirs[line]) for line, at in _find_single(self._old, a, b).items() if line in theirs]
        ends: list[int] = []
        """Of rows of each length, the earliest place where one ends."""
        chain: list[tuple[int, int, int]] = []
        owners: list[int] = []
        for at, to in pairs:
            length = bisect_left(ends, to)
            before = owners[length - 1] if length else -1
            chain.append((at, to, before))
            ends[length : length + 1], owners[length : length + 1] = [to], [len(chain) - 1]
        anchors = []
        place = owners[-1] if owners else -1
        while place >= 0:
            at, to, place = chain[place]
            anchors.append((at, to))
        return anchors[::-1]


def _compare(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _find_single(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    """Lines that stand once there, in their order, and where."""
    places: dict[str, int] = {}
    repeated: set[str] = set()
    for at in range(start, end):
        line = lines[at]
        if line in places:
            repeated.add(line)
        else:
            places[line] = at
    for line in repeated:
        del places[line]
    return places


def _merge(changes: Iterator[Change]) -> list[Change]:
    """In their order, and those that touch each other as one."""
    merged: list[Change] = []
    for a, b, c, d in changes:
        if merged and merged[-1][1] == a and merged[-1][3] == c:
            merged[-1] = (merged[-1][0], b, merged[-1][2], d)
        else:
            merged.append((a, b, c, d))
    return merged


def _group(changes: list[Change]) -> list[list[Change]]:
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _make_hunk(group: list[Change], old: Sequence[str], new: Sequence[str]) -> DiffHunk:
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first[0])
    lines: list[str] = []
    at = first[0] - lead
    for a, b, c, d in group:
        lines += [f" {line}" for line in old[at:a]]
        lines += [f"-{line}" for line in old[a:b]]
        lines += [f"+{line}" for line in new[c:d]]
        at = b
    lines += [f" {line}" for line in old[at : last[1] + CONTEXT]]
    return DiffHunk(first[0] - lead + 1, first[2] - lead + 1, lines)


def _read_hunk(hunk: DiffHunk, *, is_first: bool) -> Iterator[_Line]:
    """With numbers, and each changed line with the one in whose place it stands, if as many have come as are gone."""
    if not is_first and not hunk.lines[0].startswith("\\"):
        yield _Line("⋮", 0, "")
    old, new = hunk.old_start, hunk.new_start
    gone: list[str] = []
    come: list[str] = []

    def end_change() -> Iterator[_Line]:
        paired = len(gone) == len(come)
        for at, text in enumerate(gone):
            yield _Line("-", old - len(gone) + at, text, come[at] if paired else None)
        for at, text in enumerate(come):
            yield _Line("+", new - len(come) + at, text, gone[at] if paired else None)
        gone.clear()
        come.clear()

    for line in hunk.lines:
        sign, text = line[:1], line[1:]
        if sign == "-":
            if come:
                yield from end_change()
            gone.append(text)
            old += 1
        elif sign == "+":
            come.append(text)
            new += 1
        else:
            yield from end_change()
            yield _Line(sign, new if sign == " " else 0, text)
            old, new = old + 1, new + 1
    yield from end_change()


class _Layout:
    def __init__(self, width: int, room: int, *, masks: bool, palette: Palette) -> None:
        """Columns of the numbers, and of the text."""
        self._width = width
        self._room = room
        self._masks = masks
        self._palette = palette

    def lay(self, line: _Line) -> LineOfPieces:
        quiet = self._palette.quiet
        if line.sign == "⋮":
            return [Piece(f"{'⋮':>{self._width}}", quiet, wraps=False)]
        number = Piece(f"{line.number or '':>{self._width}} ", quiet, wraps=False)
        if line.sign == "-":
            return [number, *self._lay_change(line, self._palette.removed, self._palette.removed_words)]
        if line.sign == "+":
            return [number, *self._lay_change(line, self._palette.added, self._palette.added_words)]
        text = cut_line(self._clean(line.text), self._room)
        return [number, Piece("  ", wraps=False), Piece(text, quiet if line.sign == "\\" else "", wraps=False)]

    def _lay_change(self, line: _Line, codes: str, words: str) -> list[Piece]:
        sign = Piece(f"{line.sign} ", codes, wraps=False)
        text = self._clean(line.text)
        shown = cut_line(text, self._room)
        if line.other is None or max(len(line.text), len(line.other)) > MAX_WORDS_LINE:
            return [sign, Piece(shown, codes, wraps=False)]
        left = len(text) if shown == text else len(shown) - 1
        pieces = [sign]
        for part, is_changed in _find_words(text, self._clean(line.other)):
            pieces.append(Piece(part[:left], words if is_changed else codes, wraps=False))
            left -= len(part)
            if left <= 0:
                break
        return pieces if shown == text else [*pieces, Piece("…", codes, wraps=False)]

    def _clean(self, text: str) -> str:
        """What is not seen of a long line costs nothing. Whatever a terminal would obey or hide is written out."""
        text = text[: self._room * 2 + _AHEAD].expandtabs(4)
        return make_visible(mask_keys(text) if self._masks else text)


def _find_words(text: str, other: str) -> list[tuple[str, bool]]:
    """The parts of a text, and which of them the other one does not have. One part where too much differs."""
    words, others = _WORDS.findall(text), _WORDS.findall(other)
    shorter = min(len(words), len(others))
    head = next((at for at in range(shorter) if words[at] != others[at]), shorter)
    most = shorter - head
    tail = next((at for at in range(most) if words[-1 - at] != others[-1 - at]), most)
    middle, wanted = words[head : len(words) - tail], others[head : len(others) - tail]
    if len(middle) * len(wanted) <= MAX_WORDS_PRODUCT:
        parts = [("".join(middle[a:b]), tag != "equal") for tag, a, b, _, _ in _compare(middle, wanted) if a < b]
    else:
        parts = [("".join(middle), True)]
    parts = [("".join(words[:head]), False), *parts, ("".join(words[len(words) - tail :]), False)]
    alike = sum(len(part.strip()) for part, is_changed in parts if not is_changed)
    if alike < MIN_ALIKE * max(len(text.strip()), len(other.strip())):
        return [(text, False)]
    return [part for part in parts if part[0]]
