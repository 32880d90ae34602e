"""The models that the server plays: all of our own catalogue, with the limits that stand there."""

import pytest

from everturn.models.catalog import JsonCatalog, load_own
from everturn.modelserver import KNOWN_MODELS

NAMES = [name for id_, entry in load_own().models.items() for name in (id_, *entry.get("names", ()))]


@pytest.mark.parametrize("name", NAMES)
def test_every_model_of_our_catalogue_is_served_with_its_limits(name):
    card, model = JsonCatalog().card(name), KNOWN_MODELS.find(name)

    assert model is not None
    assert {
        "window": model.window,
        "max_output": model.max_output,
        "max_media": model.images,
        "min_cacheable": model.min_cacheable,
        "efforts": model.efforts,
        "thinking_default_on": model.thinks_unasked,
        "fast": model.fast != "no",
        "task_budget": model.task_budget,
        "prefill": model.prefill,
    } == {
        "window": card.window,
        "max_output": card.max_output,
        "max_media": card.max_media,
        "min_cacheable": card.min_cacheable,
        "efforts": card.efforts,
        "thinking_default_on": card.thinking_default_on,
        "fast": card.fast_prices is not None,
        "task_budget": card.task_budget,
        "prefill": card.prefill,
    }
    assert set(card.thinking) <= set(model.thinking)
