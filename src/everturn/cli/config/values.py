"""The values of settings: which keys may be set, how a value is written, how one and all are shown, and what holds without one."""

from contextlib import suppress
from typing import Any

import msgspec

from everturn.cli.arguments import split_list
from everturn.cli.debug import is_secret_name
from everturn.cli.errors import UsageError
from everturn.core.limits import Limits
from everturn.core.modes import PermissionMode
from everturn.frontends.harmless import make_line
from everturn.models.anthropic.key_mask import mask_secrets
from everturn.ports.policy import Ruling
from everturn.settings.keys import (
    DEFAULT_MODE,
    ENV,
    KEYS,
    LIMIT_PREFIX,
    RULES,
    Reach,
    check_variable,
    is_limit,
    nearest_key,
)
from everturn.settings.setup import DEFAULT_MODEL
from everturn.settings.sources import FoundSettings, Merged

DEFAULTS = {"model": DEFAULT_MODEL, DEFAULT_MODE: str(PermissionMode.DEFAULT), "autoCompactEnabled": True}
ENV_PREFIX = f"{ENV}."
DEFAULT = "default"
LISTED_WHEN_SET = (LIMIT_PREFIX, "sandbox.")
NO_SECRETS = (
    "keys are not kept in settings: set ANTHROPIC_API_KEY in the environment, or name a command that prints one "
    "(everturn config set apiKeyHelper 'COMMAND')"
)


def check_key(key: str) -> str:
    """Raises `UsageError` for a name that is no setting, or one that cannot be kept."""
    if key.startswith(ENV_PREFIX):
        variable = key.removeprefix(ENV_PREFIX)
        if problem := check_variable(variable):
            raise UsageError(f"{key} {problem}")
        return key
    if key in KEYS and KEYS[key].reach is Reach.MANAGED:
        raise UsageError(f"{key} counts only in managed settings, which are an administrator's")
    if key in KEYS:
        return key
    if below := next((name for name in (*KEYS, f"{ENV_PREFIX}NAME") if name.startswith(f"{key}.")), None):
        raise UsageError(f"{key} holds several settings: name one of them, such as {below}")
    if is_secret_name(key):
        raise UsageError(f"{key}: {NO_SECRETS}")
    raise UsageError(f"there is no setting {key!r}{nearest_key(key) or '; everturn config list shows them all'}")


def find_value(key: str, merged: Merged) -> Any:
    """In force now: whatever source it comes from. Raises `UsageError` for one that is not set."""
    if key.startswith(ENV_PREFIX):
        found = merged.env.get(key.removeprefix(ENV_PREFIX))
    elif key in merged.found:
        found = merged.found[key].value
    else:
        found = default_of(key)
    if found is None:
        raise UsageError(f"{key} is not set")
    return found


def default_of(key: str) -> Any:
    if is_limit(key):
        return getattr(Limits(), key.removeprefix(LIMIT_PREFIX))
    return DEFAULTS.get(key)


def parse_value(key: str, text: str) -> Any:
    """JSON where it is JSON of the right kind, else the text itself; a list may be written with commas."""
    is_variable = key.startswith(ENV_PREFIX)
    if mask_secrets(text, ()) != text or (is_variable and is_secret_name(key)):
        raise UsageError(f"{key}: {NO_SECRETS}")
    if is_variable:
        return text
    check = KEYS[key].check
    readings: list[Any] = [text, split_list(text)]
    with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        readings.insert(0, msgspec.json.decode(text))
    for reading in readings:
        if check(reading) is None:
            refuse_broken_rules(key, reading)
            return reading
    # Of a list the entry that is wrong is named, of anything else the whole.
    raise UsageError(f"{key} {check(readings[-1] if check([]) is None else readings[0])}")


def refuse_broken_rules(key: str, value: Any) -> None:
    """Raises `UsageError` for a rule that could never work."""
    if key not in RULES:
        return
    from everturn.permissions.rules.rule_parser import RuleProblem, parse_rule

    for rule in value:
        try:
            parse_rule(rule, Ruling(key.rpartition(".")[2]))
        except RuleProblem as problem:
            raise UsageError(f"{key} holds an entry that cannot work: {problem}") from None


def render_value(key: str, value: Any) -> str:
    """A text as it is, everything else as JSON; of a secret only that it is there."""
    if key.startswith(ENV_PREFIX) and is_secret_name(key):
        return "<set>"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return make_line(mask_secrets(text, ()))


def render_list(merged: Merged) -> str:
    """Every setting; of the limits and of the sandbox only those that were set."""
    shown = [key for key in KEYS if key in merged.found or not key.startswith(LISTED_WHEN_SET)]
    rows = [_row(key, merged.found.get(key)) for key in shown]
    for name, origin in merged.env_origins.items():
        rows.append((ENV_PREFIX + name, render_value(ENV_PREFIX + name, merged.env[name]), origin))
    width, room = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"{key:<{width}}  {value:<{room}}  {make_line(origin)}" for key, value, origin in rows]
    told = [*merged.warnings, *([merged.held] if merged.held else [])]
    notes = [f"warning: {make_line(warning)}" for warning in told]
    limits = f"{' and '.join(f'{prefix}*' for prefix in LISTED_WHEN_SET)} that are not listed have their defaults: docs/reference/settings.md"
    return "\n".join([*lines, *notes, limits]) + "\n"


def _row(key: str, found: FoundSettings | None) -> tuple[str, str, str]:
    if found is None:
        value = default_of(key)
        return key, "-" if value is None else render_value(key, value), DEFAULT
    if key == "apiKeyHelper" and found.by_environment:
        return key, "(not used)", found.origin
    return key, render_value(key, found.value), found.origin
