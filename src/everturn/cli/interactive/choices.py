"""What the settings say about the interactive terminal."""

from typing import Any

from everturn.frontends.terminal.reports import TerminalChoices
from everturn.settings.keys import EDITOR_MODE, NOTIFICATIONS, PROGRESS, SCREEN_READER, STATUS_COMMAND, THEME, TITLE
from everturn.settings.sources import Merged


def read_choices(merged: Merged) -> TerminalChoices:
    theme = find(merged, THEME)
    return TerminalChoices(
        title=find(merged, TITLE) is not False,
        notifications=find(merged, NOTIFICATIONS) is not False,
        progress=find(merged, PROGRESS) is not False,
        theme=theme if theme in {"light", "dark"} else "",
    )


def uses_vi(merged: Merged) -> bool:
    return bool(find(merged, EDITOR_MODE) == "vim")


def status_command(merged: Merged) -> str:
    """Empty where there is none."""
    return find(merged, STATUS_COMMAND) or ""


def has_screen_read(merged: Merged) -> bool:
    return find(merged, SCREEN_READER) is True


def find(merged: Merged, name: str) -> Any:
    found = merged.found.get(name)
    return found.value if found is not None else None
