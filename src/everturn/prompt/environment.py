"""Where the model works: the entries of the system context that every session begins with."""

import msgspec

from everturn.core.marks import one_line

CHANGED_FILES = "uncommitted files at the start"
TOLD_ONCE = frozenset({CHANGED_FILES})
"""They tell of the beginning: what becomes of them later is no news."""
MODEL = "model"
TOLD_WITH_PROMPT = frozenset({MODEL})
"""A model that falls back to another one in mid-query hears of it with the next prompt."""
_MAX_BRANCH = 200
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class PromptEnvironment(msgspec.Struct, frozen=True, kw_only=True):
    """What was found. Texts that are empty are not told."""

    folder: str
    added: tuple[str, ...] = ()
    """Further folders to work in."""
    trusted: bool
    branch: str = ""
    """`HEAD` where no branch is checked out; empty where there is no repository."""
    changed_files: int | None = None
    """What git counts at the start of the session; None = not known."""
    platform: str
    shell: str = "bash"
    today: tuple[int, int, int, int]
    """Year, month, day, and the day of the week from 0 (Monday)."""
    model: str
    knowledge: str = ""
    """How far the model's knowledge reaches."""
    scratch: str = ""
    """The session's folder for temporary files."""
    mode: str = ""
    """The permission mode in a line, for those whose system prompt does not tell."""


def render_environment(found: PromptEnvironment) -> dict[str, str]:
    """By name, one line each."""
    year, month, day, weekday = found.today
    entries = {
        "working folder": one_line(found.folder),
        "further folders": ", ".join(map(one_line, found.added)),
        "trusted by the user": "yes" if found.trusted else "no",
        "git": _render_branch(found.branch),
        CHANGED_FILES: "" if found.changed_files is None else str(found.changed_files),
        "temporary folder": f"{one_line(found.scratch)} ($TMPDIR; private, goes with the session)"
        if found.scratch
        else "",
        "platform": one_line(found.platform),
        "shell": found.shell,
        "today": f"{year:04}-{month:02}-{day:02}, {_DAYS[weekday]}",
        MODEL: f"{found.model}, knowledge until {found.knowledge}" if found.knowledge else found.model,
        "permission mode": found.mode,
    }
    return {name: text for name, text in entries.items() if text}


def _render_branch(branch: str) -> str:
    if not branch:
        return "not a repository"
    return "a repository, no branch checked out" if branch == "HEAD" else f"branch {one_line(branch)[:_MAX_BRANCH]}"
