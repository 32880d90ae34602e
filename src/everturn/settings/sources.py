"""Where a setting comes from: user file, environment, `--settings`; merged in this order, each value with its origin."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from everturn.settings import checks
from everturn.settings.checks import Check
from everturn.settings.environment import HOME_VARIABLES, Environment, parse_environment
from everturn.settings.files import FILE_NAME, KeyPath, SettingsText, load_given, load_settings
from everturn.settings.numbers import LIMITS, check_limit
from everturn.settings.options import CHECKS, EFFORTS, MODES

ENV = "env"
LIMIT_PREFIX = "everturn.limits."
CLOSED = frozenset({"permissions", "everturn"})
"""In these an unknown name is an error: a misspelt `deny` that is merely passed over would protect nobody."""
PASSED_OVER = frozenset({"$schema"})
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A setting by its public name."""

    check: Check
    meaning: str
    option: str = ""
    """The field of `Options` that it becomes; empty: none yet, or one of the limits."""
    joins: bool = False
    """The lists of all sources are joined; otherwise the highest source wins."""


def _mode(value: Any) -> str | None:
    return checks.one_of(*MODES, "manual")(value)


def _limit(name: str) -> Check:
    return lambda value: check_limit(name, value)


KEYS: dict[str, Key] = {
    "model": Key(check=checks.text, option="model", meaning="the main model: an id or an alias"),
    "fallbackModel": Key(
        check=checks.list_of(checks.text), option="fallback_models", meaning="models to switch to, in this order"
    ),
    "effortLevel": Key(check=checks.one_of(*EFFORTS), option="effort", meaning=", ".join(EFFORTS)),
    "permissions.defaultMode": Key(check=_mode, option="permission_mode", meaning=", ".join(MODES)),
    "permissions.allow": Key(
        check=checks.list_of(checks.tool_rule), option="allowed_tools", joins=True, meaning="tools that run unasked"
    ),
    "permissions.deny": Key(
        check=checks.list_of(checks.tool_rule), option="disallowed_tools", joins=True, meaning="tools that never run"
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
    **{LIMIT_PREFIX + name: Key(check=_limit(name), meaning="see docs/settings.md") for name in LIMITS},
}


class Found(msgspec.Struct, frozen=True, kw_only=True):
    value: Any
    origin: str
    """For people: a file, a variable, `--settings`."""
    by_environment: bool = False
    """Read again where the options are checked; here only to say that it wins."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    found: dict[str, Found]
    """By public name; only what was set somewhere."""
    env: dict[str, str]
    """The environment of the program: that of the user's file, the process's own over it, that of `--settings` on top."""
    warnings: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """Fields for `Options`. What the environment decides is left to it."""
        chosen = {name: found.value for name, found in self.found.items() if not found.by_environment}
        fields = {KEYS[name].option: value for name, value in chosen.items() if KEYS[name].option}
        if fields.get("permission_mode") == "manual":
            fields["permission_mode"] = "default"
        limits = {name.removeprefix(LIMIT_PREFIX): value for name, value in chosen.items() if is_limit(name)}
        return fields | ({"limits": limits} if limits else {})


def load_merged(home: Path, env: Mapping[str, str], given: str | None = None) -> Merged:
    """`given` is a file or JSON. Raises `OptionError`: a settings file that cannot be understood is never passed over."""
    return merge_settings(load_settings(home / FILE_NAME), env, load_given(given) if given is not None else None)


def merge_settings(user: SettingsText | None, env: Mapping[str, str], given: SettingsText | None) -> Merged:
    user, given = user or SettingsText(where=""), given or SettingsText(where="")
    warnings: list[str] = []
    below, above = flatten_settings(user, warnings), flatten_settings(given, warnings)
    merged_env = {**below.pop(ENV, {}), **env, **above.pop(ENV, {})}
    found = {name: Found(value=value, origin=user.where) for name, value in below.items()}
    for name, (value, variable) in environment_values(parse_environment(merged_env)).items():
        found[name] = Found(value=value, origin=variable, by_environment=True)
    for name, value in above.items():
        found[name] = (
            _join(found.get(name), value, given.where) if KEYS[name].joins else Found(value=value, origin=given.where)
        )
    return Merged(found=found, env=merged_env, warnings=tuple(warnings))


def flatten_settings(settings: SettingsText, warnings: list[str]) -> dict[str, Any]:
    """Checked values by their dotted names, `env` as a whole. Raises `OptionError`; a stranger adds a warning."""
    flat: dict[str, Any] = {}
    for path, value in _walk(settings):
        name = ".".join(path)
        if name == ENV:
            check_env(settings, value)
        elif name in KEYS:
            if problem := KEYS[name].check(value):
                raise settings.problem(path, problem)
        elif path[0] in CLOSED:
            raise settings.problem(path, f"is not a setting{nearest_key(name)}")
        elif name not in PASSED_OVER:
            place = settings.problem(path, "is not supported and was passed over")
            warnings.append(f"{place}{nearest_key(name)}")
            continue
        flat[name] = value
    return {name: value for name, value in flat.items() if name not in PASSED_OVER}


def check_env(settings: SettingsText, value: Any) -> None:
    if problem := checks.text_map(value):
        raise settings.problem((ENV,), problem)
    for name, content in value.items():
        if problem := check_variable(name, content):
            raise settings.problem((ENV, name), problem)


def check_variable(name: str, content: str = "") -> str | None:
    if name in HOME_VARIABLES:
        return "cannot be set here: the settings file itself is found through it"
    if "\0" in content:
        return "holds a null character, which no variable can"
    return None if re.fullmatch(_VARIABLE, name) else "is not the name of a variable"


def nearest_key(name: str) -> str:
    """`allow` finds `permissions.allow`."""
    last = name.rpartition(".")[2].lower()
    named = next((key for key in KEYS if "." in key and key.rpartition(".")[2].lower() == last), None)
    return f"; did you mean {named!r}?" if named else checks.nearest(name, (*KEYS, ENV))


def is_limit(name: str) -> bool:
    return name.startswith(LIMIT_PREFIX)


def environment_values(environment: Environment) -> dict[str, tuple[Any, str]]:
    """Each setting that a variable decides, with its value and the variable."""
    cap, retries = environment.max_output_tokens, environment.max_retries
    credential = "ANTHROPIC_API_KEY" if environment.api_key else "ANTHROPIC_AUTH_TOKEN"
    candidates = {
        "model": (environment.model, "ANTHROPIC_MODEL"),
        "apiKeyHelper": ("" if environment.api_key or environment.auth_token else None, credential),
        "autoCompactEnabled": (False if environment.disable_auto_compact else None, "DISABLE_AUTO_COMPACT"),
        f"{LIMIT_PREFIX}retry_scale": (environment.retry_scale, "EVERTURN_RETRY_SCALE"),
        f"{LIMIT_PREFIX}stall_s": (environment.stall_s, "EVERTURN_STALL_S"),
        f"{LIMIT_PREFIX}tool_concurrency": (environment.tool_concurrency, "EVERTURN_MAX_TOOL_CONCURRENCY"),
        f"{LIMIT_PREFIX}output_cap": (cap, "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        f"{LIMIT_PREFIX}escalate": (None if cap is None else False, "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        f"{LIMIT_PREFIX}tries": (None if retries is None else retries + 1, "CLAUDE_CODE_MAX_RETRIES"),
    }
    return {name: pair for name, pair in candidates.items() if pair[0] is not None}


def _walk(settings: SettingsText) -> Iterator[tuple[KeyPath, Any]]:
    """Down to the depth at which names stand: `permissions.*`, `everturn.limits.*`, everything else at the top."""

    def descend(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
        name = ".".join(path)
        if name not in {*CLOSED, LIMIT_PREFIX.rstrip(".")}:
            yield path, value
            return
        if not isinstance(value, dict):
            raise settings.problem(path, "must be an object")
        for key, inner in value.items():
            yield from descend((*path, key), inner)

    for key, value in settings.values.items():
        yield from descend((key,), value)


def _join(lower: Found | None, value: list[str], origin: str) -> Found:
    if lower is None:
        return Found(value=value, origin=origin)
    return Found(value=list(dict.fromkeys([*lower.value, *value])), origin=f"{lower.origin}, {origin}")
