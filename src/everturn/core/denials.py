"""Calls that were not allowed to run, and why, as values."""

from enum import StrEnum
from typing import Any

import msgspec

DENIED = "Permission denied:"
"""Beginning of what the model reads when a call is denied; the reason follows."""


class DenialCause(StrEnum):
    """Kind of the reason for which a call is denied or asked about. The names are written to sessions and to JSON output."""

    RULE = "rule"
    """A rule denies the call, or wants a person to be asked."""
    MODE = "mode"
    """The permission mode denies the call."""
    UNAPPROVED = "unapproved"
    """Neither a rule nor the mode allows it, so a person must be asked."""
    OUTSIDE = "outside_folders"
    """It reads or writes outside the working folders, and no rule allows that."""
    PROTECTED_PATH = "protected_path"
    """It is about a protected place, which neither a rule nor a mode opens."""
    IRREVERSIBLE = "irreversible"
    """Its effect cannot be undone, so neither a rule nor a mode approves it."""
    SANDBOX = "sandbox"
    """It would run outside the sandbox."""
    SETTINGS = "settings"
    """Settings changed while the session runs, and count only if a person agrees."""
    HOOK = "hook"
    """A hook of the user said no, or wants a person to be asked."""
    PERSON = "person"
    """A person, or the program in their place, said no."""


class Denial(msgspec.Struct, frozen=True, kw_only=True):
    tool_use_id: str
    tool_name: str
    tool_input: dict[str, Any]
    reason: str
    by: str = ""
    """As in `CallDenied`."""
    rules: tuple[str, ...] = ()
    """Where nobody was asked: allow rules that would have let it run."""
    mode: str = ""
    """Where nobody was asked: the permission mode that would have."""
    cause: DenialCause | None = None
    """As in `CallDenied`. None where an older session does not tell, or a newer version named a cause that this one does not know."""
    unasked: bool = False
    """As in `CallDenied`."""


def find_cause(name: str) -> DenialCause | None:
    """By its name; None where there is none of that name."""
    return DenialCause(name) if name in _NAMES else None


_NAMES = frozenset(DenialCause)
