"""Paths in rules: where a pattern starts from, and its names one by one, as gitignore reads them. Pure."""

from enum import StrEnum

import msgspec

from everturn.permissions.rules.globs import Glob, GlobError, parse_glob
from everturn.ports.policy import Ruling

MAX_LENGTH = 4_096
"""Characters of a path that a kernel takes."""
_MAX_NAME_LENGTH = 16 * MAX_LENGTH
"""Of one name in a pattern, without its stars: no class of characters is longer than that, either."""
_MAX_DEEP = 16
"""`**` in one pattern: each multiplies the ways through a path, and nobody needs more."""
_TOO_LONG = "is longer than any path may be, so it could never match"


class Anchor(StrEnum):
    """The four places that a pattern may start from."""

    ROOT = "//"
    HOME = "~/"
    SOURCE = "/"
    """The folder of the settings that hold the rule."""
    CWD = "./"


class Deep(msgspec.Struct, frozen=True):
    """`**`: any number of folders, none included."""


DEEP = Deep()
Step = Glob | Deep


class PathPattern(msgspec.Struct, frozen=True, kw_only=True):
    anchor: Anchor
    up: int = 0
    """Folders above the anchor (`../`)."""
    steps: tuple[Step, ...]
    """The names from there on; never ends with `**`."""
    covers_below: bool
    """What lies in a folder that it matches is covered, too."""
    only_below: bool = False
    """The folder itself is not: it ended with a slash."""


def parse_pattern(text: str, ruling: Ruling) -> PathPattern:
    """An allow is read narrowly, a deny and an ask widely. Raises `GlobError`."""
    anchor, rest = _take_anchor(text)
    names = [name for name in rest.split("/") if name not in {"", "."}]
    up = 0
    while names and names[0] == "..":
        up += 1
        names.pop(0)
    if ".." in names:
        raise GlobError("goes up (..) in the middle of its path, where it cannot be followed")
    if anchor is Anchor.ROOT and up:
        raise GlobError("goes above the root")
    if sum(name != "**" for name in names) > MAX_LENGTH // 2 or any(
        len(name) > _MAX_NAME_LENGTH < len(name.replace("*", "")) for name in names
    ):
        raise GlobError(_TOO_LONG)
    ends_open = bool(names) and names[-1] == "**"
    while names and names[-1] == "**":
        names.pop()
    narrow = ruling is Ruling.ALLOW
    floating = anchor is Anchor.CWD and not up and _floats(text, names, ends_open=ends_open, narrow=narrow)
    steps: list[Step] = [DEEP] if floating else []
    steps += [DEEP if name == "**" else parse_glob(name) for name in names]
    if _without_doubles(steps).count(DEEP) > _MAX_DEEP:
        raise GlobError(f"has more than {_MAX_DEEP} `**`")
    if sum(step.least for step in steps if isinstance(step, Glob)) > MAX_LENGTH:
        raise GlobError(_TOO_LONG)
    if ends_open or not names:
        steps.append(parse_glob("*"))
        return PathPattern(anchor=anchor, up=up, steps=_without_doubles(steps), covers_below=True)
    last = steps[-1]
    covers = not narrow or text.endswith("/") or (isinstance(last, Glob) and last.literal is not None)
    only_below = narrow and text.endswith("/")
    return PathPattern(anchor=anchor, up=up, steps=_without_doubles(steps), covers_below=covers, only_below=only_below)


def _take_anchor(text: str) -> tuple[Anchor, str]:
    if text.startswith("//"):
        return Anchor.ROOT, text[2:]
    if text == "~" or text.startswith("~/"):
        return Anchor.HOME, text[2:]
    if text.startswith("~"):
        raise GlobError("begins with another user's home; only ~/ is known")
    return (Anchor.SOURCE, text[1:]) if text.startswith("/") else (Anchor.CWD, text)


def _floats(text: str, names: list[str], *, ends_open: bool, narrow: bool) -> bool:
    """A single name is found at any depth. An allow wants it plain: neither `./`, nor a folder with all in it."""
    if len(names) != 1 or names[0] == "**":
        return False
    return not narrow or not (ends_open or text.startswith("./") or text.endswith("/"))


def _without_doubles(steps: list[Step]) -> tuple[Step, ...]:
    return tuple(step for at, step in enumerate(steps) if not (at and step == DEEP == steps[at - 1]))
