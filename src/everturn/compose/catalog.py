"""The model catalogue, extended by the options; resolves the name of a model, and checks that the model has the abilities that the options ask for."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.models.anthropic.thinking import check_effort, check_thinking
from everturn.models.catalog import JsonCatalog
from everturn.ports.model import Catalog, ModelCard
from everturn.settings.options import Options
from everturn.settings.setup import DEFAULT_URL, Setup


def build_catalog(options: Options) -> JsonCatalog:
    """Raises `OptionError` that names file or entry."""
    entries = catalog_entries(options.models)
    return load_catalog() if entries is None else JsonCatalog(entries)


@cache
def load_catalog() -> JsonCatalog:
    """Ours alone. Nothing of it changes, so that all sessions of a process share it."""
    return JsonCatalog()


def resolve_model(name: str, setup: Setup, catalog: JsonCatalog) -> str:
    """What the environment says that an alias means comes before what the catalogue says."""
    return catalog.resolve(setup.aliases.get(name, name))


def choose_model(name: str, setup: Setup, catalog: JsonCatalog) -> tuple[str, str]:
    """The id that a person means in mid-session, and a remark on it. Raises `OptionError` for one that nobody knows.

    Behind an endpoint of the user's own there may be any model: an unknown one is taken, with the remark.
    """
    model = resolve_model(name, setup, catalog)
    if catalog.card(model).known:
        return model, ""
    near = suggest_model(name, catalog)
    if setup.base_url == DEFAULT_URL:
        raise OptionError(
            "model",
            f"there is no model {name} in the catalogue.{near} One that is new is described with the option models",
        )
    return model, f"It is not in the catalogue, so its window and prices are a guess.{near}"


def suggest_model(name: str, catalog: JsonCatalog) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), catalog.spellings, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def catalog_entries(models: Any) -> Any:
    """In the shape of a catalogue file."""
    if isinstance(models, str | os.PathLike):
        return Path(models).expanduser()
    entries: dict[str, Any] = {}
    for model in models:
        fields = msgspec.to_builtins(model) if isinstance(model, ModelCard) else dict(model)
        id_ = fields.pop("id", None)
        if not isinstance(id_, str) or not id_:
            raise OptionError("models", "each entry needs an id")
        fields.pop("known", None)
        entries[id_] = fields
    return {"models": entries} if entries else None


def check_model(model: str, setup: Setup, catalog: Catalog, name_option: Callable[[str], str]) -> list[str]:
    """Notices about the model. Raises `OptionError` where it cannot do what is demanded."""
    card, effort = catalog.card(model), setup.options.effort
    notes = []
    if not card.known:
        notes.append(
            f"The model {model} is not in the catalogue; window, caps and prices are those of its family "
            f"({card.family or 'generic'}). Describe it with {name_option('models')}."
        )
    # What stands in the environment or the settings is meant for all models, and no demand on each of them.
    is_demand = setup.options.thinking is not None and not isinstance(setup.options.thinking, bool)
    if is_demand and (problem := check_thinking(setup.thinking, card, effort)):
        raise OptionError("thinking", problem)
    if effort is not None and (problem := check_effort(effort, card)):
        raise OptionError("effort", problem)
    return notes
