"""`everturn config list`, `get`, `set` and `unset`, and what keeps a new setting from its effect."""

import os
from collections.abc import Iterator
from typing import Any

from everturn.cli.config.change import change_setting
from everturn.cli.config.values import ENV_PREFIX, check_key, find_value, parse_value, render_list, render_value
from everturn.cli.console import complain, write
from everturn.cli.syntax import Arguments
from everturn.core.state import Exit
from everturn.settings.checks import nearest
from everturn.settings.keys import KEYS
from everturn.settings.options import Options
from everturn.settings.program_files import find_roots, load_program_settings, settings_path
from everturn.settings.sources import Merged

MODEL_KEYS = frozenset({"model", "fallbackModel"})


def run_list(_asked: Arguments) -> int:
    merged = load_in_force()
    write(render_list(merged))
    return tell_problems(merged)


def run_get(asked: Arguments) -> int:
    [name] = asked.words
    key, merged = check_key(name), load_in_force()
    write(render_value(key, find_value(key, merged)) + "\n")
    return tell_problems(merged)


def run_set(asked: Arguments) -> int:
    """What was done is said in one line; what keeps it from having the effect that was meant, in warnings."""
    name, text = asked.words
    key = check_key(name)
    value = parse_value(key, text)
    path = change_setting(key, value)
    write(f"{key} is {render_value(key, value)}, set in {path}\n")
    for warning in judge_effect(key, value):
        complain(f"warning: {warning}")
    return Exit.OK


def run_unset(asked: Arguments) -> int:
    [name] = asked.words
    path = change_setting(check_key(name), None)
    write(f"{name} is removed from {path}\n")
    return Exit.OK


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
    return load_program_settings(find_roots(os.environ), os.environ)[0]


def tell_problems(merged: Merged) -> Exit:
    """What is shown may be wrong where a file could not be read, and no run would begin with it."""
    for problem in merged.problems:
        complain(str(problem))
    return Exit.USAGE if merged.problems else Exit.OK
