"""Follows `cd` through a command line, to know in which folders the next command may run."""

from posixpath import isabs, join, normpath

from everturn.permissions.shell.reading.syntax import Here, Word

_MAX_COUNT = 4
"""More possible folders than these are as good as any folder."""
_MAX_DEPTH = 40
"""To follow a path costs time for each of its parts."""
MOVERS = frozenset({"cd", "pushd", "popd"})


def unite(*places: Here) -> Here:
    together: set[str] = set()
    for place in places:
        if place is None:
            return None
        together |= place
    return frozenset(together) if len(together) <= _MAX_COUNT else None


def follow_cd(here: Here, words: tuple[Word, ...], home: str) -> Here:
    """Where `cd` leads when it succeeds."""
    if here is None or words[0].value != "cd":
        return None
    target = find_cd_target(words, home)
    if target is None:
        return None
    arrived: set[str] = set()
    for folder in here:
        path = join(folder, target)
        if path.count("/") > _MAX_DEPTH:
            return None
        # Bash takes `..` by name, the kernel by link; we do not know which of them will hold.
        arrived |= {path, normpath(path)}
    return frozenset(arrived) if len(arrived) <= _MAX_COUNT else None


def find_cd_target(words: tuple[Word, ...], home: str) -> str | None:
    """As written, `~` resolved; None when it is not one fixed folder."""
    operands = list(words[1:])
    if operands and operands[0].raw in {"-P", "-L", "--"}:
        operands.pop(0)
    if not operands:
        return home
    if len(operands) > 1:
        return None
    word = operands[0]
    if word.raw == "~" or word.raw.startswith("~/"):
        return home + word.raw[1:] if word.tilde and word.raw == word.value else None
    target = word.fixed
    if not target or target.startswith("-"):
        return None
    return normpath(target) if isabs(target) and ".." not in target else target


def resolve(here: Here, path: str) -> tuple[str, ...] | None:
    """All that a path may mean; None when it depends on a folder that is not known."""
    if isabs(path):
        return (path,)
    return None if here is None else tuple(join(folder, path) for folder in sorted(here))
