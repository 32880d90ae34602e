"""The headers of a request, its betas, the user's own headers, and the address they go to."""

import pytest

from everturn.core.errors import OptionError
from everturn.models.anthropic.endpoint import parse_base_url
from everturn.models.anthropic.headers import headers_for
from everturn.ports.model import TaskBudget, ThinkingConfig, ThinkingMode

MANUAL = ThinkingConfig(mode=ThinkingMode.ENABLED, budget_tokens=2_000)


def betas_of(catalog, request, **options):
    headers = headers_for(request, catalog.card(request.model), credentials={}, **options)
    return headers.get("anthropic-beta", "").split(",")


def test_a_plain_request_has_these_headers(ask, catalog):
    request = ask()

    assert headers_for(request, catalog.card(request.model), credentials={"x-api-key": "k"}, version="1.2") == {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "user-agent": "everturn/1.2",
        "x-api-key": "k",
    }


@pytest.mark.parametrize(
    ("fields", "betas"),
    [
        ({"task_budget": TaskBudget(total=1)}, ["task-budgets-2026-03-13"]),
        ({"fast": True}, ["fast-mode-2026-02-01"]),
        ({"fast": True, "model": "claude-sonnet-5"}, [""]),
        ({"thinking": MANUAL, "model": "claude-sonnet-4-5", "max_tokens": 9_000}, ["interleaved-thinking-2025-05-14"]),
        ({"thinking": MANUAL, "model": "claude-opus-4-6", "max_tokens": 9_000}, [""]),
        ({"thinking": MANUAL, "model": "claude-haiku-4-5", "max_tokens": 9_000}, [""]),
        ({"model": "claude-sonnet-4-5[1m]"}, ["context-1m-2025-08-07"]),
        ({"model": "claude-opus-4-1-20250805"}, ["model-context-window-exceeded-2025-08-26"]),
        ({"model": "claude-sonnet-4-20250514"}, ["model-context-window-exceeded-2025-08-26"]),
        ({"betas": ("a", "b", "a")}, ["a", "b"]),
    ],
)
def test_a_feature_brings_the_beta_that_it_needs(ask, catalog, fields, betas):
    assert betas_of(catalog, ask(**fields)) == betas


def test_betas_of_all_sources_are_joined_once_each(ask, catalog):
    request = ask(betas=("b", "c"), fast=True)

    assert betas_of(catalog, request, betas=("a", "b"), custom={"anthropic-beta": "z, a"}) == [
        "z",
        "a",
        "b",
        "c",
        "fast-mode-2026-02-01",
    ]


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com"),
        (" https://host/prefix/ ", "https://host/prefix"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
    ],
)
def test_an_address_may_have_a_prefix(given, url):
    assert parse_base_url(given) == url


@pytest.mark.parametrize(
    "given",
    [
        *("", "api.anthropic.com", "ftp://host", "https://", "https://host:many", "https://ho st", "https://u:p@host"),
        *("https://host?x=1", "https://host#x", "https://[::1", "http://h\n/x", "https://host:0"),
    ],
)
def test_a_bad_address_is_refused_by_the_name_of_the_option(given):
    with pytest.raises(OptionError) as caught:
        parse_base_url(given)

    assert caught.value.field == "base_url"
    assert "u:p" not in str(caught.value)
