"""Every setting by its public name: what fits, what it becomes, and whether a repository may say it."""

import re
from enum import StrEnum
from typing import Any

import msgspec

from everturn.settings import checks
from everturn.settings.checks import Check
from everturn.settings.environment import HOME_VARIABLES
from everturn.settings.numbers import LIMITS, check_limit
from everturn.settings.options import CHECKS, EFFORTS, MODES
from everturn.settings.sandbox import KEYS as SANDBOX_KEYS
from everturn.settings.sandbox import PREFIX as SANDBOX_PREFIX

ENV = "env"
PERMISSIONS = "permissions"
LIMIT_PREFIX = "everturn.limits."
CLOSED = frozenset({PERMISSIONS, "everturn", "sandbox"})
"""In these an unknown name is an error: a misspelt `deny` that is merely passed over would protect nobody."""
PASSED_OVER = frozenset({"$schema"})
PROTECTING = frozenset({"permissions.deny", "permissions.ask"})
"""Nobody may run without what these say."""
RULES = ("permissions.allow", *sorted(PROTECTING))
MOST_RULES = 10_000
"""Of one list: to prepare them takes time, and a repository could ask for minutes of it. More stop the start; none is dropped."""
FOLDERS = "permissions.additionalDirectories"
NO_BYPASS = "permissions.disableBypassPermissionsMode"
ONLY_MANAGED_RULES = "allowManagedPermissionRulesOnly"
DEFAULT_MODE = "permissions.defaultMode"
PROGRAMS = ("hooks", "mcpServers", "statusLine", "apiKeyHelper")
"""Settings that name programs to run."""
NEVER_SET = frozenset({*HOME_VARIABLES, "EVERTURN_TRUST"})
"""Variables that decide which files are read, and whether they are believed: no file may set them."""
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"


class Reach(StrEnum):
    """From where a setting counts."""

    TRUSTED = "trusted"
    """From a repository only when its folder is trusted."""
    ANYWHERE = "anywhere"
    """It can only tighten."""
    MANAGED = "managed"
    """Only the administrator's word counts."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A setting by its public name."""

    check: Check
    meaning: str
    option: str = ""
    """The field of `Options` that it becomes; empty: none yet, or one of the limits."""
    joins: bool = False
    """The lists of all sources are joined; otherwise the highest source wins."""
    reach: Reach = Reach.TRUSTED


def _mode(value: Any) -> str | None:
    return checks.one_of(*MODES, "manual")(value)


def _limit(name: str) -> Check:
    return lambda value: check_limit(name, value)


def _rules(meaning: str, reach: Reach = Reach.ANYWHERE) -> Key:
    # Whether a text is a rule is judged by the permissions: a wrong allow is passed over, a wrong deny is not.
    return Key(check=checks.list_of(checks.text, MOST_RULES), joins=True, reach=reach, meaning=meaning)


KEYS: dict[str, Key] = {
    "model": Key(check=checks.text, option="model", meaning="the main model: an id or an alias"),
    "fallbackModel": Key(
        check=checks.list_of(checks.text), option="fallback_models", meaning="models to switch to, in this order"
    ),
    "effortLevel": Key(check=checks.one_of(*EFFORTS), option="effort", meaning=", ".join(EFFORTS)),
    "alwaysThinkingEnabled": Key(
        check=checks.flag, option="thinking", meaning="false: the model does not think, where it can be kept from it"
    ),
    DEFAULT_MODE: Key(check=_mode, option="permission_mode", meaning=", ".join(MODES)),
    "permissions.allow": _rules("rules for calls that run unasked", Reach.TRUSTED),
    "permissions.ask": _rules("rules for calls that a person is always asked about"),
    "permissions.deny": _rules("rules for calls that never run"),
    FOLDERS: Key(
        check=checks.list_of(checks.text), joins=True, meaning="folders to work in besides the one that we start in"
    ),
    "permissions.tryHeld": Key(
        check=checks.flag,
        option="try_held",
        meaning="a command that would be asked about runs held first, and is asked about only where it met the wall",
    ),
    NO_BYPASS: Key(
        check=checks.one_of("disable"), reach=Reach.ANYWHERE, meaning="disable: the mode bypassPermissions is refused"
    ),
    ONLY_MANAGED_RULES: Key(
        check=checks.flag, reach=Reach.MANAGED, meaning="allow rules count only from managed settings"
    ),
    "apiKeyHelper": Key(check=checks.text, option="api_key_helper", meaning="shell command that prints the credential"),
    "autoCompactEnabled": Key(check=checks.flag, option="auto_compact", meaning="summarise before the window is full"),
    "cleanupPeriodDays": Key(
        check=checks.whole(1), meaning="days after which `everturn sessions prune` removes a session"
    ),
    "everturn.webSearch": Key(
        check=checks.one_of("brave"), option="web_search", meaning="the search engine behind WebSearch: brave"
    ),
    "everturn.journalSync": Key(
        check=CHECKS["journal_sync"],
        option="journal_sync",
        meaning="when a session is forced to the disk: always, end (of a query), off",
    ),
    "everturn.models": Key(
        check=CHECKS["models"], option="models", meaning="more entries for the model catalogue, or a file with them"
    ),
    **{
        SANDBOX_PREFIX + name: Key(
            check=key.check,
            meaning=key.meaning,
            joins=key.joins,
            reach=Reach.ANYWHERE if key.tightens else Reach.TRUSTED,
        )
        for name, key in SANDBOX_KEYS.items()
    },
    **{LIMIT_PREFIX + name: Key(check=_limit(name), meaning="see docs/settings.md") for name in LIMITS},
}


def is_limit(name: str) -> bool:
    return name.startswith(LIMIT_PREFIX)


def nearest_key(name: str) -> str:
    """`allow` finds `permissions.allow`."""
    last = name.rpartition(".")[2].lower()
    named = next((key for key in KEYS if "." in key and key.rpartition(".")[2].lower() == last), None)
    return f"; did you mean {named!r}?" if named else checks.nearest(name, (*KEYS, ENV))


def check_variable(name: str, content: str = "") -> str | None:
    if name in HOME_VARIABLES:
        return "cannot be set here: the settings file itself is found through it"
    if name in NEVER_SET:
        return "cannot be set here: no file may say whether files are trusted"
    if "\0" in content:
        return "holds a null character, which no variable can"
    return None if re.fullmatch(_VARIABLE, name) else "is not the name of a variable"
