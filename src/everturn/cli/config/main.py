"""Takes the words behind `everturn config` to what they ask for, and tells what keeps a new setting from its effect."""

import os
from collections.abc import Iterator
from typing import Any

from everturn.cli.config.changing import change_setting
from everturn.cli.config.listing import render_list
from everturn.cli.config.values import ENV_PREFIX, check_key, find_value, parse_value, render_value
from everturn.cli.console import complain, write
from everturn.cli.usage import UsageError
from everturn.compose.cli import find_grounds, load_program_settings, settings_path
from everturn.core.state import Exit
from everturn.settings.checks import nearest
from everturn.settings.keys import KEYS
from everturn.settings.options import Options
from everturn.settings.sources import Merged

ACTIONS = {"list": 0, "get": 1, "set": 2, "unset": 1}
"""Each with the number of words that follow it."""
MODEL_KEYS = frozenset({"model", "fallbackModel"})
SEE = "everturn config --help"


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


def load_in_force() -> Merged:
    """What a run in this folder would begin with; problems are for the caller to tell."""
    return load_program_settings(find_grounds(os.environ), os.environ)[0]


def tell_problems(merged: Merged) -> Exit:
    """What is shown may be wrong where a file could not be read, and no run would begin with it."""
    for problem in merged.problems:
        complain(str(problem))
    return Exit.USAGE if merged.problems else Exit.OK
