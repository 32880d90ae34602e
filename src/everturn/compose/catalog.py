"""The model catalogue as the options extend it, and the name of the model that a setup means."""

import os
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.models.catalog import JsonCatalog
from everturn.ports.model import ModelCard
from everturn.settings.options import Options
from everturn.settings.setup import Setup


def build_catalog(options: Options) -> JsonCatalog:
    """Raises `OptionError` that names file or entry."""
    return JsonCatalog(catalog_entries(options.models))


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
