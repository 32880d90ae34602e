"""The outside world of an engine (environment, disk, clock, ids, model). Tests and embedding programs replace its fields."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from everturn.core.errors import OptionError
from everturn.core.sources import QuerySource, SourceKind
from everturn.settings.options import Options, make_options
from everturn.settings.setup import WrittenSettings

if TYPE_CHECKING:
    from everturn.permissions.policy import RulePolicy
    from everturn.ports.clock import Clock, Ids
    from everturn.ports.disk import Disk
    from everturn.ports.ledger import Ledger
    from everturn.ports.model import Model
    from everturn.ports.rules import LivePermissions
    from everturn.workspace.git_count import GitCount


class World(msgspec.Struct, frozen=True, kw_only=True):
    env: Mapping[str, str] = os.environ
    model: "Model | None" = None
    """In place of the client of the API."""
    ledger: "Ledger | None" = None
    """A child of another engine's: what is spent here counts there, and the limits there hold here."""
    disk: "Disk | None" = None
    clock: "Clock | None" = None
    ids: "Ids | None" = None
    live: "LivePermissions | None" = None
    """Settings that may change while we run: what they let run beyond the start counts when the approver agrees."""
    find_leader: "Callable[[], RulePolicy] | None" = None
    """The policy of another engine that this one works for: its rules hold here, as they are at each call."""
    written: WrittenSettings = WrittenSettings()
    """What settings files said at the start besides options."""
    list_instructions: Callable[[], tuple[tuple[str, str], ...]] = tuple
    """Memory files that the model was given, each with User or Project, for hooks."""
    list_settings: Callable[[], tuple[tuple[str, str], ...]] = tuple
    """Settings files that may change while we run, each as source and path, for hooks."""
    source: QuerySource = QuerySource(SourceKind.SDK)
    """Of every query."""
    git: "GitCount | None" = None
    """Counts changed files for the model; it was begun before the engine was made."""


KEYWORDS = ("model", "env", "ledger", "disk", "clock", "ids")
"""What a user of the library gives by name besides options. The rest is handed over by the program."""


def split_named(options: Options | None, named: Mapping[str, Any]) -> tuple[Options, World]:
    """What belongs to the world, and what is an option. Raises `OptionError`, also for a name that is neither."""
    # The name of a model is an option; a client stands in for the world's.
    is_client = "model" in named and not isinstance(named["model"], str | None)
    places = {name: value for name, value in named.items() if name in World.__struct_fields__}
    if not is_client:
        places.pop("model", None)
    fields = {name: value for name, value in named.items() if name not in places}
    if options is not None and not isinstance(options, Options):
        raise OptionError("options", f"must be an Options, not {options!r:.60}")
    if fields or options is None:
        make = Options if options is None else partial(msgspec.structs.replace, options)
        options = make_options(make, fields, other_names=KEYWORDS)
    env = places.get("env")
    return options, World(**{**places, "env": os.environ if env is None else env})
