"""`everturn config`: reads settings with their origins, and changes the user's file."""

import copy
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from everturn.cli.arguments import split_list
from everturn.cli.console import complain, write
from everturn.cli.debug import is_secret_name
from everturn.cli.usage import UsageError
from everturn.compose.cli import find_grounds, load_program_settings, settings_path
from everturn.core.errors import OptionError
from everturn.core.limits import Limits
from everturn.core.state import Exit
from everturn.frontends.harmless import make_line
from everturn.models.anthropic.masking import mask_secrets
from everturn.ports.policy import Ruling
from everturn.settings.checks import nearest
from everturn.settings.files import SettingsText, load_settings, replace_settings
from everturn.settings.flattening import Remarks, flatten_settings
from everturn.settings.keys import ENV, KEYS, LIMIT_PREFIX, RULES, Reach, check_variable, is_limit, nearest_key
from everturn.settings.options import Options
from everturn.settings.places import USER, Place
from everturn.settings.setup import DEFAULT_MODEL
from everturn.settings.sources import Found, Merged

ACTIONS = {"list": 0, "get": 1, "set": 2, "unset": 1}
"""Each with the number of words that follow it."""
DEFAULT = "default"
DEFAULTS = {"model": DEFAULT_MODEL, "permissions.defaultMode": "default", "autoCompactEnabled": True}
ENV_PREFIX = f"{ENV}."
MANY = (LIMIT_PREFIX, "sandbox.")
"""Of these only what is set is listed."""
MODEL_KEYS = frozenset({"model", "fallbackModel"})
SEE = "everturn config --help"
NO_SECRETS = (
    "keys are not kept in settings: set ANTHROPIC_API_KEY in the environment, or name a command that prints one "
    "(everturn config set apiKeyHelper 'COMMAND')"
)


def run_config(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help"}:
        from everturn.cli.help import CONFIG

        write(CONFIG)
        return Exit.OK if words else Exit.USAGE
    action, *rest = words
    if action not in ACTIONS:
        raise UsageError(
            f"config knows no {action!r}{nearest(action, ACTIONS)} (it knows {', '.join(ACTIONS)})", see=SEE
        )
    if len(rest) != ACTIONS[action]:
        wanted = {0: "", 1: " KEY", 2: " KEY VALUE"}[ACTIONS[action]]
        raise UsageError(f"this is how it is written: everturn config {action}{wanted}", see=SEE)
    match action:
        case "list":
            merged = load_in_force()
            write(render_list(merged))
            return tell_problems(merged)
        case "get":
            key, merged = check_key(rest[0]), load_in_force()
            write(render_value(key, find_value(key, merged)) + "\n")
            return tell_problems(merged)
        case "set":
            run_set(check_key(rest[0]), rest[1])
        case _:
            path = change_setting(check_key(rest[0]), None)
            write(f"{rest[0]} is removed from {path}\n")
    return Exit.OK


def run_set(key: str, text: str) -> None:
    """What was done is said in one line; what keeps it from having the effect that was meant, in warnings."""
    value = parse_value(key, text)
    path = change_setting(key, value)
    write(f"{key} is {render_value(key, value)}, set in {path}\n")
    for warning in judge_effect(key, value):
        complain(f"warning: {warning}")


def judge_effect(key: str, value: Any) -> Iterator[str]:
    merged = load_in_force()
    variable = key.removeprefix(ENV_PREFIX)
    if key.startswith(ENV_PREFIX):
        if os.environ.get(variable) not in {None, "", value}:
            yield f"{variable} is set to something else in the environment now, which comes before the file"
    elif (found := merged.found.get(key)) is not None and found.by_environment:
        yield f"{found.origin} is set in the environment now, which comes before the file"
    elif found is not None and found.origin != str(settings_path(os.environ)) and not KEYS[key].joins:
        yield f"{found.origin} says {render_value(key, found.value)}, which comes before the file"
    if key in MODEL_KEYS:
        from everturn.compose.catalog import build_catalog

        catalog = build_catalog(Options.of(models=merged.options().get("models", ())))
        for name in [value] if isinstance(value, str) else value:
            if not catalog.card(catalog.resolve(name)).known:
                guessed = "its window and prices are guessed (everturn.models can describe it)"
                yield f"the model {name} is not in the catalogue, so {guessed}{nearest(name, catalog.names)}"


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
    if is_secret_name(key):
        raise UsageError(f"{key}: {NO_SECRETS}")
    raise UsageError(f"there is no setting {key!r}{nearest_key(key) or '; everturn config list shows them all'}")


def tell_problems(merged: Merged) -> Exit:
    """What is shown may be wrong where a file could not be read, and no run would begin with it."""
    for problem in merged.problems:
        complain(str(problem))
    return Exit.USAGE if merged.problems else Exit.OK


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


def change_setting(key: str, value: Any) -> Path:
    """The file that was changed. None removes the setting. A file that cannot be understood is never overwritten."""
    path = settings_path(os.environ)
    before = load_settings(path)
    # Judged as a whole first: what is written must be readable at the next start.
    refuse_unsound(path, before)
    values = copy.deepcopy(before.values) if before else {}
    place = values
    *parents, name = (ENV, key.removeprefix(ENV_PREFIX)) if key.startswith(ENV_PREFIX) else key.split(".")
    for parent in parents:
        place = place.setdefault(parent, {})
    if value is None:
        if name not in place:
            raise UsageError(f"{key} is not set in {path}")
        del place[name]
    else:
        place[name] = value
    make_home(path.parent)
    replace_settings(path, values)
    return path


def load_in_force() -> Merged:
    """What a run in this folder would begin with; problems are for the caller to tell."""
    return load_program_settings(find_grounds(os.environ), os.environ)[0]


def refuse_unsound(path: Path, text: SettingsText | None) -> None:
    """Raises `OptionError` for what would keep the file from being read at the next start."""
    remarks = Remarks()
    if text is not None:
        foreign = find_grounds(os.environ).foreign_home
        flatten_settings(Place(source=USER, path=str(path), folder=str(path.parent), foreign=foreign), text, remarks)
    if remarks.problems:
        raise remarks.problems[0]


def make_home(home: Path) -> None:
    try:
        home.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(str(home), f"cannot be written: {error.strerror}") from None


def render_list(merged: Merged) -> str:
    """Every setting; of the limits and of the sandbox only those that were set."""
    shown = [key for key in KEYS if key in merged.found or not key.startswith(MANY)]
    rows = [_row(key, merged.found.get(key)) for key in shown]
    for name, origin in merged.env_origins.items():
        rows.append((ENV_PREFIX + name, render_value(ENV_PREFIX + name, merged.env[name]), origin))
    width, room = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"{key:<{width}}  {value:<{room}}  {make_line(origin)}" for key, value, origin in rows]
    told = [*merged.warnings, *([merged.held] if merged.held else [])]
    notes = [f"warning: {make_line(warning)}" for warning in told]
    limits = (
        f"{' and '.join(f'{prefix}*' for prefix in MANY)} that are not listed have their defaults: docs/settings.md"
    )
    return "\n".join([*lines, *notes, limits]) + "\n"


def render_value(key: str, value: Any) -> str:
    """A text as it is, everything else as JSON; of a secret only that it is there."""
    if key.startswith(ENV_PREFIX) and is_secret_name(key):
        return "<set>"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return make_line(mask_secrets(text, ()))


def default_of(key: str) -> Any:
    if is_limit(key):
        return getattr(Limits(), key.removeprefix(LIMIT_PREFIX))
    return DEFAULTS.get(key)


def _row(key: str, found: Found | None) -> tuple[str, str, str]:
    if found is None:
        value = default_of(key)
        return key, "-" if value is None else render_value(key, value), DEFAULT
    if key == "apiKeyHelper" and found.by_environment:
        return key, "(not used)", found.origin
    return key, render_value(key, found.value), found.origin
