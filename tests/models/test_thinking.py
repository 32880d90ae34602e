"""Thinking and effort: what each kind of model is sent, and what an option is told that does not fit."""

import pytest

from everturn.models.anthropic.thinking import check_effort, check_thinking, plan_effort, plan_thinking
from everturn.models.catalog import JsonCatalog
from everturn.ports.model import ThinkingConfig, ThinkingMode

CATALOG = JsonCatalog()
ADAPTIVE = ThinkingConfig(mode=ThinkingMode.ADAPTIVE)
ENABLED = ThinkingConfig(mode=ThinkingMode.ENABLED, budget_tokens=5_000)
DISABLED = ThinkingConfig(mode=ThinkingMode.DISABLED)
BUDGET = {"type": "enabled", "budget_tokens": 5_000}


@pytest.mark.parametrize(
    ("model", "config", "plan"),
    [
        ("claude-fable-5", None, None),
        ("claude-fable-5", ADAPTIVE, {"type": "adaptive"}),
        ("claude-fable-5", ENABLED, {"type": "adaptive"}),
        ("claude-fable-5", DISABLED, None),
        ("claude-opus-5", DISABLED, {"type": "disabled"}),
        ("claude-opus-5", ENABLED, {"type": "adaptive"}),
        ("claude-sonnet-5", DISABLED, {"type": "disabled"}),
        ("claude-opus-4-8", ADAPTIVE, {"type": "adaptive"}),
        ("claude-opus-4-8", DISABLED, None),
        ("claude-opus-4-6", ADAPTIVE, {"type": "adaptive"}),
        ("claude-opus-4-6", ENABLED, BUDGET),
        ("claude-sonnet-4-5", ADAPTIVE, {"type": "enabled", "budget_tokens": 10_000}),
        ("claude-sonnet-4-5", ENABLED, BUDGET),
        ("claude-haiku-4-5", DISABLED, None),
        ("some-other-model", ADAPTIVE, None),
    ],
)
def test_each_model_is_sent_what_it_takes(model, config, plan):
    assert plan_thinking(config, CATALOG.card(model), 20_000) == plan


@pytest.mark.parametrize(
    ("wanted", "max_tokens", "budget"),
    [(None, 100_000, 16_000), (None, 3_000, 1_500), (10, 20_000, 1_024), (90_000, 20_000, 19_999)],
)
def test_a_budget_is_kept_within_what_the_api_takes(wanted, max_tokens, budget):
    config = ThinkingConfig(mode=ThinkingMode.ENABLED, budget_tokens=wanted)

    plan = plan_thinking(config, CATALOG.card("claude-sonnet-4-5"), max_tokens)

    assert plan == {"type": "enabled", "budget_tokens": budget}


def test_there_is_no_thinking_where_there_is_no_room_for_it():
    assert plan_thinking(ENABLED, CATALOG.card("claude-sonnet-4-5"), 1_024) is None


@pytest.mark.parametrize(
    ("effort", "model", "thinking", "sent"),
    [
        (None, "claude-opus-5", None, None),
        ("max", "claude-opus-5", None, "max"),
        ("max", "claude-opus-5", {"type": "disabled"}, "high"),
        ("low", "claude-opus-5", {"type": "disabled"}, "low"),
        ("xhigh", "claude-opus-4-6", None, "high"),
        ("max", "claude-opus-4-5", None, "high"),
        ("high", "claude-sonnet-4-5", None, None),
    ],
)
def test_an_effort_falls_to_the_nearest_that_is_taken(effort, model, thinking, sent):
    assert plan_effort(effort, CATALOG.card(model), thinking) == sent


@pytest.mark.parametrize(
    ("config", "model", "effort", "problem"),
    [
        (None, "claude-fable-5", None, None),
        (ADAPTIVE, "claude-fable-5", None, None),
        (ENABLED, "claude-fable-5", None, "claude-fable-5 does not take enabled thinking; it takes adaptive"),
        (DISABLED, "claude-fable-5", None, "claude-fable-5 always thinks; lower the effort instead"),
        (DISABLED, "claude-opus-5", "high", None),
        (DISABLED, "claude-opus-5", "max", "claude-opus-5 can be kept from thinking only at effort high or below"),
        (DISABLED, "claude-opus-4-8", "max", None),
        (
            ADAPTIVE,
            "claude-haiku-4-5",
            None,
            "claude-haiku-4-5-20251001 does not take adaptive thinking; it takes enabled",
        ),
        (
            ThinkingConfig(mode=ThinkingMode.ENABLED, budget_tokens=10),
            "claude-opus-4-6",
            None,
            "a thinking budget is at least 1024 tokens, not 10",
        ),
        (
            ThinkingConfig(mode=ThinkingMode.ADAPTIVE, budget_tokens=2_000),
            "claude-opus-4-6",
            None,
            "a thinking budget needs enabled thinking",
        ),
        (ENABLED, "model-nobody-knows", None, None),
    ],
)
def test_an_option_is_told_what_is_wrong_with_it(config, model, effort, problem):
    assert check_thinking(config, CATALOG.card(model), effort) == problem


@pytest.mark.parametrize(
    ("effort", "model", "problem"),
    [
        (None, "claude-opus-5", None),
        ("max", "claude-opus-5", None),
        ("xhigh", "claude-opus-4-6", "claude-opus-4-6 does not take the effort xhigh; it takes low, medium, high, max"),
        ("low", "claude-haiku-4-5", "claude-haiku-4-5-20251001 takes no effort"),
        ("max", "model-nobody-knows", None),
    ],
)
def test_an_effort_is_told_what_is_wrong_with_it(effort, model, problem):
    assert check_effort(effort, CATALOG.card(model)) == problem
