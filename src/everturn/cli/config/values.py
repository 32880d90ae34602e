"""The values of settings: which keys may be set, how a value is written, how it is shown, and what holds without one."""

from contextlib import suppress
from typing import Any

import msgspec

from everturn.cli.arguments import split_list
from everturn.cli.debug import is_secret_name
from everturn.cli.usage import UsageError
from everturn.core.limits import Limits
from everturn.frontends.harmless import make_line
from everturn.models.anthropic.masking import mask_secrets
from everturn.ports.policy import Ruling
from everturn.settings.keys import ENV, KEYS, LIMIT_PREFIX, RULES, Reach, check_variable, is_limit, nearest_key
from everturn.settings.setup import DEFAULT_MODEL
from everturn.settings.sources import Merged

DEFAULTS = {"model": DEFAULT_MODEL, "permissions.defaultMode": "default", "autoCompactEnabled": True}
ENV_PREFIX = f"{ENV}."
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
    from everturn.permissions.rules.parsing import RuleProblem, parse_rule

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
