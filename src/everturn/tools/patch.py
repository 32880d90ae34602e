"""Two texts to the hunks between them, for people."""

from collections.abc import Callable
from typing import NamedTuple

from everturn.tools.result_types import Hunk

_CONTEXT = 3
_COMPARABLE = 4_000
"""Beyond as many changed lines, comparing costs more than it tells: they become one hunk."""

_BLOCK = 1 << 16

Change = tuple[str, int, int, int, int]


class Window(NamedTuple):
    """The lines in which two texts differ, with the context around them."""

    passed: int
    """Lines before it, equal in both."""
    old: list[str]
    new: list[str]


def plan_patch(before: str, after: str) -> tuple[Hunk, ...]:
    """Lines end at the line feed alone, as Read counts them."""
    window = plan_window(before, after)
    changes = _changes(window.old, window.new)
    return tuple(_hunk(group, window) for group in _group(changes)) if changes else ()


def foresee_patch(before: str, after: str) -> tuple[Hunk, ...]:
    """For who consents. Nothing where a patch would not tell all: it shows no end of the last line."""
    return plan_patch(before, after) if before.endswith("\n") == after.endswith("\n") else ()


def plan_window(before: str, after: str) -> Window:
    """What is equal at both ends is compared as text and never cut into lines: an edit in a long file stays cheap."""
    head = _line_start(before, _common_head(before, after))
    tail = _whole_lines(before, after, _common_tail(before, after, head), head)
    first = head
    for _ in range(_CONTEXT):
        first = _line_start(before, max(0, first - 1))
    ends = len(before) - tail, len(after) - tail
    trail = _split(before[ends[0] :], _CONTEXT)
    lead = _split(before[first:head])
    return Window(
        passed=before.count("\n", 0, first),
        old=[*lead, *_split(before[head : ends[0]]), *trail],
        new=[*lead, *_split(after[head : ends[1]]), *trail],
    )


def _common_head(one: str, other: str) -> int:
    """How many characters are equal from the beginning."""
    return _grow(min(len(one), len(other)), lambda start, end: one[start:end] == other[start:end])


def _common_tail(one: str, other: str, head: int) -> int:
    """How many are equal at the end, without those of the head."""
    first, second = len(one), len(other)
    return _grow(
        min(first, second) - head,
        lambda start, end: one[first - end : first - start] == other[second - end : second - start],
    )


def _grow(most: int, equal: Callable[[int, int], bool]) -> int:
    """Compares block by block, which the machine does fast, and looks closer at the block that differs."""
    done, step = 0, _BLOCK
    while done < most and step:
        end = min(done + step, most)
        if equal(done, end):
            done = end
        else:
            step = (end - done) // 2
    return done


def _whole_lines(before: str, after: str, tail: int, head: int) -> int:
    """The longest equal end, not longer than `tail`, that begins with a line in both texts."""
    starts = len(before) - tail, len(after) - tail
    if all(at == head or text[at - 1] == "\n" for text, at in zip((before, after), starts, strict=True)):
        return tail
    end = before.find("\n", starts[0])
    return 0 if end < 0 else len(before) - end - 1


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _split(text: str, most: int | None = None) -> list[str]:
    lines = text.split("\n") if most is None else text.split("\n", most)[: most + 1]
    if most is not None and len(lines) > most:
        return [line.removesuffix("\r") for line in lines[:most]]
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _changes(old: list[str], new: list[str]) -> list[Change]:
    if old == new:
        return []
    if len(old) + len(new) > _COMPARABLE:
        return [_one_change(old, new)]
    from difflib import SequenceMatcher

    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [code for code in codes if code[0] != "equal"]


def _one_change(old: list[str], new: list[str]) -> Change:
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    most = shorter - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    return ("replace", head, len(old) - tail, head, len(new) - tail)


def _group(changes: list[Change]) -> list[list[Change]]:
    groups = [[changes[0]]]
    for change in changes[1:]:
        if change[1] - groups[-1][-1][2] <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: list[Change], window: Window) -> Hunk:
    passed, old, new = window
    _, old_first, _, new_first, _ = group[0]
    _, _, old_last, _, new_last = group[-1]
    lead = min(_CONTEXT, old_first)
    trail = min(_CONTEXT, len(old) - old_last)
    lines: list[str] = []
    at = old_first - lead
    for _, a, b, c, d in group:
        lines += [f" {line}" for line in old[at:a]]
        lines += [f"-{line}" for line in old[a:b]]
        lines += [f"+{line}" for line in new[c:d]]
        at = b
    lines += [f" {line}" for line in old[at : old_last + trail]]
    return Hunk(
        old_start=passed + old_first - lead + 1,
        old_lines=old_last - old_first + lead + trail,
        new_start=passed + new_first - lead + 1,
        new_lines=new_last - new_first + lead + trail,
        lines=tuple(lines),
    )
