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
from everturn.settings.setup import Setup


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
