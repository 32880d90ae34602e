"""Every setting by its public name: what fits, what it becomes, and whether a repository may say it."""

import re
from enum import StrEnum

import msgspec

from everturn.settings import checks
from everturn.settings.checks import Check
from everturn.settings.environment import HOME_VARIABLES
from everturn.settings.numbers import LIMITS, check_limit
from everturn.settings.options import DECLARED
from everturn.settings.sandbox import KEYS as SANDBOX_KEYS
from everturn.settings.sandbox import PREFIX as SANDBOX_PREFIX

ENV = "env"
PERMISSIONS = "permissions"
LIMIT_PREFIX = "everturn.limits."
GROUPS = ("", PERMISSIONS, "everturn", "sandbox")
CLOSED = frozenset(GROUPS[1:])
"""In these an unknown name is an error: a misspelt `deny` that is merely passed over would protect nobody."""
PASSED_OVER = frozenset({"$schema"})
PROTECTING = frozenset({"permissions.deny", "permissions.ask"})
"""Nobody may run without what these say."""
RULES = ("permissions.allow", *sorted(PROTECTING))
MAX_RULES = 10_000
"""Of one list: to prepare them takes time, and a repository could ask for minutes of it. More stop the start; none is dropped."""
FOLDERS = "permissions.additionalDirectories"
NO_BYPASS = "permissions.disableBypassPermissionsMode"
ONLY_MANAGED_RULES = "allowManagedPermissionRulesOnly"
DEFAULT_MODE = "permissions.defaultMode"
NO_HOOKS, ONLY_MANAGED_HOOKS = "disableAllHooks", "allowManagedHooksOnly"
HOOK_URLS, HOOK_VARIABLES = "allowedHttpHookUrls", "httpHookAllowedEnvVars"
NO_SERVERS = "disabledMcpjsonServers"
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


THEME, EDITOR_MODE, STATUS_COMMAND = "theme", "editorMode", "everturn.terminal.statusCommand"
TITLE, NOTIFICATIONS, PROGRESS = (
    "everturn.terminal.title",
    "everturn.terminal.notifications",
    "everturn.terminal.progress",
)
SCREEN_READER = "everturn.terminal.screenReader"


class SettingsKey(msgspec.Struct, frozen=True, kw_only=True):
    """A setting by its public name."""

    check: Check
    meaning: str
    option: str = ""
    """The field of `Options` that it becomes; empty: none yet, or one of the limits."""
    joins: bool = False
    """The lists of all sources are joined; otherwise the highest source wins."""
    reach: Reach = Reach.TRUSTED


def _limit(name: str) -> Check:
    return lambda value: check_limit(name, value)


def _rules(meaning: str, reach: Reach = Reach.ANYWHERE) -> SettingsKey:
    # Whether a text is a rule is judged by the permissions: a wrong allow is passed over, a wrong deny is not.
    return SettingsKey(check=checks.list_of(checks.text, MAX_RULES), joins=True, reach=reach, meaning=meaning)


def _place(name: str) -> int:
    """Settings that belong together follow each other."""
    group, dot, _ = name.partition(".")
    return GROUPS.index(group) if dot else 0


_UNORDERED: dict[str, SettingsKey] = {
    **{
        option.key: SettingsKey(
            check=option.key_check or option.check, meaning=option.key_help or option.help, option=field
        )
        for field, option in DECLARED.items()
        if option.key
    },
    "permissions.allow": _rules("rules for calls that run without asking", Reach.TRUSTED),
    "permissions.ask": _rules("rules for calls that a person is always asked about"),
    "permissions.deny": _rules("rules for calls that never run"),
    FOLDERS: SettingsKey(
        check=checks.list_of(checks.text), joins=True, meaning="folders to work in besides the working folder"
    ),
    NO_BYPASS: SettingsKey(
        check=checks.one_of("disable"), reach=Reach.ANYWHERE, meaning="disable: the mode bypassPermissions is refused"
    ),
    ONLY_MANAGED_RULES: SettingsKey(
        check=checks.flag, reach=Reach.MANAGED, meaning="allow rules count only from managed settings"
    ),
    NO_HOOKS: SettingsKey(
        check=checks.flag,
        meaning="true: no hook runs; only managed settings can switch off managed hooks",
    ),
    ONLY_MANAGED_HOOKS: SettingsKey(
        check=checks.flag, reach=Reach.MANAGED, meaning="only hooks of managed settings run"
    ),
    HOOK_URLS: SettingsKey(
        check=checks.list_of(checks.text),
        joins=True,
        meaning="addresses that http hooks may call, `*` for any characters",
    ),
    HOOK_VARIABLES: SettingsKey(
        check=checks.list_of(checks.text), joins=True, meaning="variables that the headers of http hooks may use"
    ),
    NO_SERVERS: SettingsKey(
        check=checks.list_of(checks.text),
        joins=True,
        reach=Reach.ANYWHERE,
        meaning="MCP servers of `.mcp.json` files that never start",
    ),
    THEME: SettingsKey(
        check=checks.one_of("auto", "dark", "light"),
        meaning="colours of the interactive terminal; auto: as its background is",
    ),
    EDITOR_MODE: SettingsKey(check=checks.one_of("emacs", "vim"), meaning="keys of the prompt in the terminal"),
    STATUS_COMMAND: SettingsKey(
        check=checks.text,
        meaning="command whose output is the status line of the terminal; it gets JSON on standard input",
    ),
    SCREEN_READER: SettingsKey(
        check=checks.flag, meaning="true: nothing moves in the terminal, for those who have the screen read to them"
    ),
    TITLE: SettingsKey(check=checks.flag, meaning="false: the title of the terminal is left alone"),
    NOTIFICATIONS: SettingsKey(check=checks.flag, meaning="false: no notification when a question waits"),
    PROGRESS: SettingsKey(check=checks.flag, meaning="false: no progress in the terminal's tab or task bar"),
    "cleanupPeriodDays": SettingsKey(
        check=checks.whole(1), meaning="days after which `everturn sessions prune` removes a session"
    ),
    **{
        SANDBOX_PREFIX + name: SettingsKey(
            check=key.check,
            meaning=key.meaning,
            joins=key.joins,
            reach=Reach.ANYWHERE if key.tightens else Reach.TRUSTED,
        )
        for name, key in SANDBOX_KEYS.items()
    },
    **{
        LIMIT_PREFIX + name: SettingsKey(check=_limit(name), meaning="see docs/reference/settings.md")
        for name in LIMITS
    },
}
"""Those of options are declared with them, in `options.py`; here is what no option holds."""
KEYS = {name: _UNORDERED[name] for name in sorted(_UNORDERED, key=_place)}


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
