"""`everturn sessions ACTION`: one table of what can be done, each imported when it is asked for."""

from collections.abc import Callable
from importlib import import_module

from everturn.cli.console import complain, write
from everturn.cli.flags import SESSION_ACTIONS
from everturn.cli.sessions.words import SEE
from everturn.cli.usage import UsageError
from everturn.cli.words import Words, parse_words
from everturn.core.state import Exit
from everturn.sessions.patience import tell_slow_reading
from everturn.settings.checks import nearest

ROOMS = {
    "list": "listing",
    "search": "searching",
    "show": "showing",
    "rename": "naming",
    "tag": "naming",
    "export": "exporting",
    "delete": "removing",
    "prune": "removing",
    "rebuild": "rebuilding",
}
"""Where each action is at home: `run_ACTION` in the module of this name."""


def run_sessions(words: list[str]) -> int:
    """Raises `UsageError`, and `JournalError` for a session that cannot be read or changed."""
    if "--help" in words or "-h" in words:
        from everturn.cli.help import SESSIONS

        write(SESSIONS)
        return Exit.OK
    action, rest = (words[0], words[1:]) if words and not words[0].startswith("-") else ("list", words)
    if action not in ROOMS:
        known = ", ".join(ROOMS)
        raise UsageError(f"sessions knows no {action!r}{nearest(action, ROOMS)} (it knows {known})", see=SEE)
    tell_slow_reading(complain)
    run: Callable[[Words], int] = getattr(import_module(f"everturn.cli.sessions.{ROOMS[action]}"), f"run_{action}")
    return run(parse_words(f"sessions {action}", rest, SESSION_ACTIONS[action], see=SEE))
