"""Why a text was not found: the nearest text in the file, and how it differs. Bounded in time."""

import time
from collections.abc import Callable

from everturn.tools.edit.line_numbers import NUMBERED
from everturn.workspace.text import NUL_SIGN, show_nuls

_LIKENESS = 0.6
_MAX_WAIT_S = 0.15
_COMPARED_LENGTH = 300
"""Characters of a line that are compared."""
_MAX_SHOWN = 12
"""Lines of the candidate."""
_MAX_TEXT = 2_000_000
"""In a larger file nothing but whole lines is compared."""
_QUOTES = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " ", "…": "..."}  # noqa: RUF001 - the look-alikes themselves
)


def explain_absence(old: str, text: str) -> str:
    """Sentences for the model, from the surest cause to a mere likeness."""
    lines = old.split("\n")
    if (plain := "\n".join(NUMBERED.sub("", line, count=1) for line in lines)) != old and plain in text:
        return " It begins with line numbers: they are not part of the file. Copy what follows the tab."
    if NUL_SIGN in old and old in show_nuls(text):
        return f" Its {NUL_SIGN} stands for a NUL byte, which cannot be sent. Choose text without it."
    if "\\n" in old and old.replace("\\n", "\n") in text:
        return " It would occur if its `\\n` were real line ends: send these."
    for fold, difference in _FOLDS:
        if (found := _find_folded(old, text, fold)) is not None:
            return f" {difference} {_render(text, found, len(lines))}"
    if (found := _find_alike(old, text)) is not None:
        return f" The nearest text differs. {_render(text, found, len(lines))}"
    return " Nothing in the file is like it. Read it again and copy the text exactly."


def _fold_quotes(text: str) -> str:
    return text.translate(_QUOTES)


def _fold_blanks(line: str) -> str:
    return " ".join(line.split())


def _fold_all(line: str) -> str:
    return _fold_blanks(_fold_quotes(line)).casefold()


_FOLDS: tuple[tuple[Callable[[str], str], str], ...] = (
    (_fold_quotes, "The nearest text differs only in typographic quotes, dashes or blanks."),
    (_fold_blanks, "The nearest text differs only in whitespace (indentation, tabs, blanks at line ends)."),
    (_fold_all, "The nearest text differs only in whitespace, quotes or letter case."),
)


def _find_folded(old: str, text: str, fold: Callable[[str], str]) -> int | None:
    """The line where the text begins that is the same when both are folded line by line."""
    if len(text) > _MAX_TEXT:
        return None
    wanted = [fold(line) for line in old.strip("\n").split("\n")]
    if not any(wanted):
        return None
    lines = [fold(line) for line in text.split("\n")]
    if len(wanted) == 1:
        return next((at for at, line in enumerate(lines, 1) if wanted[0] in line), None)
    first, *middle, last = wanted
    for at in range(len(lines) - len(wanted) + 1):
        end = at + len(wanted) - 1
        if lines[at].endswith(first) and lines[end].startswith(last) and lines[at + 1 : end] == middle:
            return at + 1
    return None


def _find_alike(old: str, text: str) -> int | None:
    """Where the first telling line of what was sought has its nearest kin."""
    from difflib import SequenceMatcher

    before, wanted = next(
        ((at, line.strip()[:_COMPARED_LENGTH]) for at, line in enumerate(old.split("\n")) if line.strip()), (0, "")
    )
    if not wanted:
        return None
    deadline = time.monotonic() + _MAX_WAIT_S
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best, best_at = _LIKENESS, 0
    for number, line in enumerate(text.split("\n"), 1):
        if number % 64 == 0 and time.monotonic() > deadline:
            break
        matcher.set_seq1(line.strip()[:_COMPARED_LENGTH])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        if (ratio := matcher.ratio()) > best:
            best, best_at = ratio, number
    return max(1, best_at - before) if best_at else None


def _render(text: str, first: int, count: int) -> str:
    lines = text.split("\n", first + _MAX_SHOWN)[first - 1 :][: min(count, _MAX_SHOWN)]
    body = "\n".join(line.removesuffix("\r")[:_COMPARED_LENGTH] for line in lines)
    more = "\n[…]" if count > len(lines) else ""
    return f"From line {first} on the file has:\n{show_nuls(body)}{more}\nCopy it exactly; whitespace counts."
