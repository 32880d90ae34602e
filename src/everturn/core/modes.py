"""The permission modes: one enumeration for settings, permissions, prompt and session files."""

from enum import StrEnum
from typing import Literal

ModeName = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
"""How a user of the library writes a mode: type checkers take no plain text for a member of the enumeration."""


class PermissionMode(StrEnum):
    """What runs where no rule decides."""

    DEFAULT = "default"
    """Reads inside the folder; asks for the rest."""
    ACCEPT_EDITS = "acceptEdits"
    """Edits inside the folder, too."""
    PLAN = "plan"
    """Nothing that changes anything."""
    DONT_ASK = "dontAsk"
    """What would be asked is denied."""
    BYPASS = "bypassPermissions"
    """Everything that no deny or ask rule names."""
