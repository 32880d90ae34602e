"""`everturn permissions ACTION`: one table of what can be done, each imported when it is asked for."""

from collections.abc import Callable
from importlib import import_module

from everturn.cli.console import write
from everturn.cli.flags import PERMISSION_ACTIONS
from everturn.cli.permissions.words import SEE, parse_action_words
from everturn.cli.usage import UsageError
from everturn.cli.words import Words
from everturn.core.state import Exit
from everturn.settings.checks import nearest

ROOMS = {"test": "testing", "list": "listing", "replay": "replaying"}
"""Where each action is at home: `run_ACTION` in the module of this name."""


def run_permissions(words: list[str]) -> int:
    """Raises `UsageError`, and `OptionError` for settings that nobody should run with."""
    asked = words[: words.index("--")] if "--" in words else words
    if "--help" in asked or "-h" in asked:
        from everturn.cli.help import PERMISSIONS

        write(PERMISSIONS)
        return Exit.OK
    action, rest = (words[0], words[1:]) if words and not words[0].startswith("-") else ("list", words)
    if action not in ROOMS:
        known = ", ".join(ROOMS)
        raise UsageError(f"permissions knows no {action!r}{nearest(action, ROOMS)} (it knows {known})", see=SEE)
    room = import_module(f"everturn.cli.permissions.{ROOMS[action]}")
    run: Callable[[Words], int] = getattr(room, f"run_{action}")
    return run(parse_action_words(action, rest, PERMISSION_ACTIONS[action]))
