"""A session in a few words, as lists show it and as searches name it."""

import msgspec

from everturn.core.masking import mask_keys
from everturn.sessions.places import SUFFIX

MAX_TITLE_LENGTH = 80


class Gathered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the lines of a file tell, up to some line of it."""

    folder: str = ""
    """Where the session began."""
    branch: str = ""
    custom_title: str = ""
    """A person chose it."""
    given_title: str = ""
    """A program chose it."""
    first_prompt: str = ""
    """Shortened."""
    tag: str = ""
    model: str = ""
    turns: int = 0
    messages: int = 0
    usd: float = 0.0
    began: str = ""
    """ISO 8601 in UTC; empty where no line says so."""
    unfinished: bool = False
    """A query began and did not end: it still runs, or it was interrupted."""
    ours: bool = False
    """An engine of ours wrote to the file; otherwise it is another program's."""
    newer: int = 0
    """The format of a later Everturn; nothing behind that line is understood."""


class Card(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    size: int
    """Of the file, in bytes."""
    written: float
    """When the file was last written, in seconds since 1970."""
    told: Gathered
    opened: bool = False
    """An engine holds it at this moment."""

    @property
    def id(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(SUFFIX)

    @property
    def title(self) -> str:
        return self.told.custom_title or self.told.given_title or self.told.first_prompt

    @property
    def state(self) -> str:
        """Empty for a session that can simply be gone on with."""
        if self.told.newer:
            return f"newer format {self.told.newer}"
        if self.opened:
            return "open"
        if self.told.unfinished:
            return "interrupted"
        return "" if self.told.ours else "foreign"


def shorten_title(text: str) -> str:
    """On one line, and without keys: half of one would no longer be known by its shape."""
    line = " ".join(mask_keys(text[: MAX_TITLE_LENGTH * 100]).split())
    return line if len(line) <= MAX_TITLE_LENGTH else f"{line[: MAX_TITLE_LENGTH - 1].rstrip()}…"


def plan_short_ids(ids: list[str], least: int = 8) -> dict[str, str]:
    """For each id its shortest beginning, but no shorter than `least`, that no other of them has."""
    ordered = sorted(set(ids))
    short: dict[str, str] = {}
    for at, id_ in enumerate(ordered):
        shared = max(
            (_shared(id_, ordered[beside]) for beside in (at - 1, at + 1) if 0 <= beside < len(ordered)), default=0
        )
        short[id_] = id_[: max(shared + 1, least)]
    return short


def _shared(one: str, other: str) -> int:
    """Characters that both begin with."""
    length = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return length
