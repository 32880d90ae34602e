"""Two texts to the hunks between them, for people."""

from everturn.tools.shown import Hunk

_CONTEXT = 3
_COMPARABLE = 4_000
"""Beyond as many changed lines, comparing costs more than it tells: they become one hunk."""

Change = tuple[str, int, int, int, int]


def plan_patch(before: str, after: str) -> tuple[Hunk, ...]:
    old, new = before.splitlines(), after.splitlines()
    changes = _changes(old, new)
    return tuple(_hunk(group, old, new) for group in _group(changes)) if changes else ()


def _changes(old: list[str], new: list[str]) -> list[Change]:
    """What is equal at both ends is never compared: an edit in a long file stays cheap."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    most = shorter - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not middle_old and not middle_new:
        return []
    if not middle_old or not middle_new or len(middle_old) + len(middle_new) > _COMPARABLE:
        return [("replace", head, len(old) - tail, head, len(new) - tail)]
    from difflib import SequenceMatcher

    codes = SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes()
    return [(kind, a + head, b + head, c + head, d + head) for kind, a, b, c, d in codes if kind != "equal"]


def _group(changes: list[Change]) -> list[list[Change]]:
    groups = [[changes[0]]]
    for change in changes[1:]:
        if change[1] - groups[-1][-1][2] <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: list[Change], old: list[str], new: list[str]) -> Hunk:
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
        old_start=old_first - lead + 1,
        old_lines=old_last - old_first + lead + trail,
        new_start=new_first - lead + 1,
        new_lines=new_last - new_first + lead + trail,
        lines=tuple(lines),
    )
