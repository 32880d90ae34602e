"""The catalogue: what it knows by itself, what it guesses, and what a user adds."""

import json

import msgspec
import pytest

from everturn.compose.catalog import choose_model
from everturn.core.budget import Prices
from everturn.core.errors import OptionError
from everturn.models.catalog import JsonCatalog
from everturn.ports.model import ModelCard, ThinkingMode
from everturn.settings.options import Options
from everturn.settings.setup import check_options

ADAPTIVE, ENABLED, DISABLED = ThinkingMode.ADAPTIVE, ThinkingMode.ENABLED, ThinkingMode.DISABLED


def test_a_known_model_has_its_whole_card(catalog):
    assert catalog.card("claude-opus-5") == ModelCard(
        id="claude-opus-5",
        family="opus",
        window=1_000_000,
        max_output=128_000,
        prices=Prices(input=5, output=25, cache_write=6.25, cache_write_1h=10, cache_read=0.5),
        fast_prices=Prices(input=10, output=50, cache_write=12.5, cache_write_1h=20, cache_read=1),
        thinking=(ADAPTIVE, DISABLED),
        thinking_default_on=True,
        efforts=("low", "medium", "high", "xhigh", "max"),
        task_budget=True,
        max_media=600,
        min_cacheable=512,
        knowledge="2026-05",
    )


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-fable-5", (1_000_000, 128_000, (ADAPTIVE,), 5, 600)),
        ("claude-mythos-5", (1_000_000, 128_000, (ADAPTIVE,), 5, 600)),
        ("claude-opus-4-8", (1_000_000, 128_000, (ADAPTIVE,), 5, 600)),
        ("claude-opus-4-7", (1_000_000, 128_000, (ADAPTIVE,), 5, 600)),
        ("claude-opus-4-6", (1_000_000, 128_000, (ADAPTIVE, ENABLED, DISABLED), 4, 600)),
        ("claude-opus-4-5", (200_000, 64_000, (ENABLED, DISABLED), 3, 100)),
        ("claude-sonnet-5", (1_000_000, 128_000, (ADAPTIVE, DISABLED), 5, 600)),
        ("claude-sonnet-4-6", (1_000_000, 128_000, (ADAPTIVE, ENABLED, DISABLED), 4, 600)),
        ("claude-sonnet-4-5", (200_000, 64_000, (ENABLED, DISABLED), 0, 100)),
        ("claude-haiku-4-5", (200_000, 64_000, (ENABLED, DISABLED), 0, 100)),
        ("claude-opus-5-5", (1_000_000, 128_000, (ADAPTIVE,), 5, 600)),
        ("claude-sonnet-5-5", (1_000_000, 128_000, (ADAPTIVE,), 5, 600)),
        ("claude-haiku-5-5", (1_000_000, 128_000, (ADAPTIVE, DISABLED), 5, 600)),
    ],
)
def test_the_models_of_the_api_are_known(catalog, model, expected):
    card = catalog.card(model)

    assert card.known
    assert (card.window, card.max_output, card.thinking, len(card.efforts), card.max_media) == expected


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5-20251101"),
        ("claude-opus-5-20260724", "claude-opus-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5-20251101"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("anthropic/claude-sonnet-5", "claude-sonnet-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"),
        ("Claude-Opus-5", "claude-opus-5"),
        ("opus", "claude-opus-5"),
    ],
)
def test_a_model_is_known_by_its_other_names(catalog, name, id_):
    card = catalog.card(name)

    assert (card.id, card.known) == (id_, True)


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("opus", "claude-opus-5"),
        ("Sonnet", "claude-sonnet-5"),
        ("haiku", "claude-haiku-4-5"),
        ("fable", "claude-fable-5"),
        ("best", "claude-fable-5"),
        ("opus[1m]", "claude-opus-5"),
        ("haiku[1m]", "claude-haiku-4-5[1m]"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5[1m]"),
        ("claude-opus-4-5", "claude-opus-4-5"),
        ("anything-else", "anything-else"),
    ],
)
def test_an_alias_stands_for_an_id_and_anything_else_for_itself(catalog, name, id_):
    assert catalog.resolve(name) == id_


def test_the_suffix_for_the_long_window_makes_it_long(catalog):
    assert [catalog.card(name).window for name in ("claude-sonnet-4-5", "claude-sonnet-4-5[1m]")] == [
        200_000,
        1_000_000,
    ]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("claude-opus-9", "opus"),
        ("claude-sonnet-9-20300101", "sonnet"),
        ("claude-haiku-9", "haiku"),
        ("claude-fable-9", "fable"),
        ("llama", ""),
        ("", ""),
    ],
)
def test_an_unknown_model_gets_the_card_of_its_family_as_a_guess(catalog, name, family):
    card = catalog.card(name)

    assert (card.id, card.family, card.known, card.window) == (name, family, False, 200_000)


def test_a_file_adds_models_and_changes_fields_of_known_ones(tmp_path):
    file = tmp_path / "models.json"
    added = {
        "models": {
            "claude-opus-5": {"window": 500_000},
            "local": {"window": 32_000, "names": ["mine"], "source": "me"},
        },
        "aliases": {"Opus": "local"},
        "families": [{"contains": "qwen", "family": "qwen", "window": 64_000}],
    }
    file.write_text(json.dumps(added))

    for catalog in (JsonCatalog(file), JsonCatalog(str(file)), JsonCatalog(added)):
        before = JsonCatalog().card("claude-opus-5")
        assert catalog.card("claude-opus-5") == msgspec.structs.replace(before, window=500_000)
        assert catalog.card("mine") == ModelCard(id="local", window=32_000)
        assert catalog.resolve("opus") == "local"
        assert (catalog.card("qwen-7").window, catalog.card("qwen-7").known) == (64_000, False)


@pytest.mark.parametrize(
    ("extra", "error"),
    [
        ({"models": {"x": {"window": "big"}}}, "FILE: models.x.window: expected `int`, got `str`"),
        ({"models": {"x": {"prices": {"input": []}}}}, "FILE: models.x.prices.input: expected `float`, got `array`"),
        ({"models": {"x": {"colour": 1}}}, "FILE: models.x.colour: is not a field of a model's entry"),
        ({"models": {"x": {"id": "y"}}}, "FILE: models.x.id: is not a field of a model's entry"),
        ({"models": {"x": 3}}, "FILE: models.x: must be an object"),
        ({"models": {"x": {"names": "y"}}}, "FILE: models.x.names: must be a list of texts"),
        ({"models": {"x": {"window": -1}}}, "FILE: models.x.window: must not be negative"),
        ({"models": {"x": {"thinking": ["loud"]}}}, "FILE: models.x.thinking[0]: invalid enum value 'loud'"),
        ({"families": [{"window": 5}]}, "FILE: families[0].contains: must be a text"),
        ({"models": []}, "FILE.models: expected `object`, got `array`"),
        ({"colour": 1}, "FILE: object contains unknown field `colour`"),
    ],
)
def test_a_mistake_in_a_file_is_named_by_file_entry_and_field(tmp_path, extra, error):
    file = tmp_path / "models.json"
    file.write_text(json.dumps(extra))

    with pytest.raises(OptionError) as caught:
        JsonCatalog(file)

    assert str(caught.value).replace(str(file), "FILE") == error


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text("{")

    for file, words in ((tmp_path / "none.json", "cannot be read: no such file"), (broken, "is not valid JSON")):
        with pytest.raises(OptionError) as caught:
            JsonCatalog(file)
        assert str(caught.value).startswith(f"{file}: {words}")


def test_an_unknown_model_is_refused_with_the_nearest_and_taken_behind_an_endpoint_of_ones_own(catalog):
    vendors, own = (check_options(Options(base_url=url), {}) for url in (None, "http://127.0.0.1:9"))

    with pytest.raises(
        OptionError, match=r"no model claude-hiaku-4-5 in the catalogue\. Did you mean claude-haiku-4-5\?"
    ):
        choose_model("claude-hiaku-4-5", vendors, catalog)

    model, remark = choose_model("claude-hiaku-4-5", own, catalog)
    assert (model, "Did you mean claude-haiku-4-5?" in remark) == ("claude-hiaku-4-5", True)
    assert choose_model("my-own", own, catalog)[0] == "my-own"
    assert choose_model("haiku", vendors, catalog) == (catalog.resolve("haiku"), "")


def test_every_entry_of_our_own_file_is_whole_and_says_where_it_is_from(catalog):
    for id_, entry in catalog._models.items():
        card = catalog.card(id_)
        assert card.known
        assert entry["source"].startswith("https://")
        assert 0 < card.prices.cache_read < card.prices.input < card.prices.cache_write < card.prices.cache_write_1h
