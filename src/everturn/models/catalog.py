"""What is known of each model: windows, caps, prices and abilities, read from `catalog.json` and the user's additions."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.ports.model import ModelCard

LONG_WINDOW = "[1m]"
"""The suffix that asks for the long window of a model; it is ours, the API does not know it."""
LONG_WINDOW_TOKENS = 1_000_000
OWN_FILE = Path(__file__).with_name("catalog.json")
_DRESSED = re.compile(r"^(?:.*anthropic[./])?(.+?)(?:-v\d+(?::\d+)?)?(?:[@-]\d{8}|@latest)?(?:-v\d+(?::\d+)?)?$")
"""A model's name as cloud platforms and dated snapshots have it: prefix, name, date, version."""
_FIELD = r"`\$\.?(.*?)`"
_NOTES = frozenset({"source", "names", "contains"})
_CARD_FIELDS = frozenset(ModelCard.__struct_fields__) - {"id", "known"}

Entry = dict[str, Any]


class CatalogFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The shape of `catalog.json`, and of a user's own file.

    A model's entry has the fields of `ModelCard`, besides `names` (others it goes by) and `source` (who says so); over
    an entry that exists, it changes only the fields it names. Families are asked in order; the first whose `contains`
    is part of a name gives the card for a model that nobody knows.
    """

    aliases: dict[str, str] = {}
    models: dict[str, Any] = {}
    families: list[Any] = []


class JsonCatalog:
    """`extra` is a file, or what would stand in it. Raises `OptionError` that names file, entry and field."""

    def __init__(self, extra: Path | str | dict[str, Any] | None = None) -> None:
        own = load_own()
        self._aliases = own.aliases
        self._models = dict(own.models)
        self._families = own.families
        self._cards: dict[str, ModelCard] = {}
        if extra is not None:
            self._extend(*load_extra(extra))
        self._names = {name: id_ for id_, entry in self._models.items() for name in (id_, *entry.get("names", ()))}

    @property
    def names(self) -> tuple[str, ...]:
        """Aliases and ids, for suggestions."""
        return (*self._aliases, *self._models)

    @property
    def spellings(self) -> tuple[str, ...]:
        """Besides these, the other names that ids go by."""
        return (*self._aliases, *self._names)

    def card(self, model: str) -> ModelCard:
        card = self._cards.get(model)
        if card is None:
            card = self._cards[model] = self._find(model)
        return card

    def resolve(self, name: str) -> str:
        """Also drops the suffix `[1m]` where the model's window is that long anyway."""
        plain, suffix = _split(name)
        plain = self._aliases.get(plain.lower(), plain)
        if suffix and self.card(plain).window < LONG_WINDOW_TOKENS:
            return plain + suffix
        return plain

    def _find(self, model: str) -> ModelCard:
        plain, suffix = _split(model)
        plain = self._aliases.get(plain.lower(), plain).lower()
        bare = match[1] if (match := _DRESSED.match(plain)) else plain
        id_ = self._names.get(plain) or self._names.get(bare)
        if id_ is not None:
            card = build_card(self._models[id_], id=id_)
        else:
            guess: Entry = next((entry for entry in self._families if entry["contains"] in plain), {})
            card = build_card(guess, id=_split(model)[0], known=False)
        if suffix:
            card = msgspec.structs.replace(card, window=max(card.window, LONG_WINDOW_TOKENS))
        return card

    def _extend(self, where: str, extra: CatalogFile) -> None:
        for id_, entry in extra.models.items():
            self._models[id_] = check_entry(entry, f"{where}: models.{id_}", over=self._models.get(id_, {}))
        for index, entry in enumerate(extra.families):
            if not isinstance(check_entry(entry, f"{where}: families[{index}]").get("contains"), str):
                raise OptionError(f"{where}: families[{index}].contains", "must be a text")
        self._families = extra.families + self._families
        self._aliases = self._aliases | {name.lower(): id_ for name, id_ in extra.aliases.items()}


@cache
def load_own() -> CatalogFile:
    """Read once in a process: every session has a catalogue."""
    return msgspec.json.decode(OWN_FILE.read_bytes(), type=CatalogFile)


def load_extra(extra: Path | str | dict[str, Any]) -> tuple[str, CatalogFile]:
    """What to call it in an error, and what stands in it."""
    if isinstance(extra, dict):
        where = "catalog"
        try:
            return where, msgspec.convert(extra, CatalogFile)
        except msgspec.ValidationError as error:
            raise _option_error(where, error) from None
    where = str(extra)
    try:
        return where, msgspec.json.decode(Path(extra).read_bytes(), type=CatalogFile)
    except OSError as error:
        raise OptionError(where, f"cannot be read: {(error.strerror or 'unknown reason').lower()}") from None
    except msgspec.ValidationError as error:
        raise _option_error(where, error) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise OptionError(where, f"is not valid JSON: {error}") from None


def build_card(entry: Entry, **fields: Any) -> ModelCard:
    """Raises `msgspec.ValidationError`."""
    return msgspec.convert({name: value for name, value in entry.items() if name not in _NOTES} | fields, ModelCard)


def check_entry(entry: Any, where: str, *, over: Entry | None = None) -> Entry:
    """The entry, laid over what was known. Raises `OptionError`."""
    if not isinstance(entry, dict):
        raise OptionError(where, "must be an object")
    for name in entry:
        if name not in _NOTES | _CARD_FIELDS:
            raise OptionError(f"{where}.{name}", "is not a field of a model's entry")
    names = entry.get("names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise OptionError(f"{where}.names", "must be a list of texts")
    merged = (over or {}) | entry
    try:
        card = build_card(merged, id="")
    except msgspec.ValidationError as error:
        raise _option_error(where, error) from None
    for name in ("window", "max_output", "max_media", "min_cacheable"):
        if getattr(card, name) < 0:
            raise OptionError(f"{where}.{name}", "must not be negative")
    return merged


def _option_error(where: str, error: msgspec.ValidationError) -> OptionError:
    """Msgspec writes the place at the end: `Expected int, got str - at $.window`."""
    problem, _, place = str(error).partition(" - at ")
    field = match[1] if (match := re.search(_FIELD, place)) else ""
    return OptionError(f"{where}.{field}" if field else where, problem[:1].lower() + problem[1:])


def _split(name: str) -> tuple[str, str]:
    name = name.strip()
    return (name[: -len(LONG_WINDOW)], LONG_WINDOW) if name.lower().endswith(LONG_WINDOW) else (name, "")
