"""Rules about the fields of a request and their types; the rules after these rely on them."""

from collections.abc import Callable
from typing import Any

from everturn.modelserver.ask import Ask
from everturn.modelserver.rules.rule import REFERENCE, BodyRules

SHAPE = BodyRules()


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) and text.strip() for text in value)


def _is_prompt(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(_is_text_block(block) for block in value))


def _is_text_block(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "text" and isinstance(value.get("text"), str)


def _is_anything(value: Any) -> bool:
    return value is not None


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model": (_is_text, "a valid string"),
    "messages": (_is_list, "a valid list"),
    "max_tokens": (_is_count, "a valid integer, greater than or equal to 0"),
    "system": (_is_prompt, "a valid string or a list of text blocks"),
    "tools": (_is_list, "a valid list"),
    "tool_choice": (_is_object, "a valid dictionary"),
    "thinking": (_is_object, "a valid dictionary"),
    "output_config": (_is_object, "a valid dictionary"),
    "output_format": (_is_object, "a valid dictionary"),
    "context_management": (_is_object, "a valid dictionary"),
    "cache_control": (_is_object, "a valid dictionary"),
    "metadata": (_is_object, "a valid dictionary"),
    "stream": (_is_truth, "a valid boolean"),
    "stop_sequences": (_is_texts, "a list of strings that are not blank"),
    "temperature": (_is_share, "a number from 0 to 1"),
    "top_p": (_is_share, "a number from 0 to 1"),
    "top_k": (_is_count, "a valid integer, greater than or equal to 0"),
    "service_tier": (_is_text, "'auto' or 'standard_only'"),
    "speed": (_is_text, "'standard' or 'fast'"),
    "inference_geo": (_is_text, "a valid string"),
    "container": (_is_anything, "a valid container"),
    "mcp_servers": (_is_list, "a valid list"),
    "fallbacks": (_is_anything, "'default' or a list of models"),
    "fallback_credit_token": (_is_text, "a valid string"),
    "diagnostics": (_is_object, "a valid dictionary"),
    "compaction": (_is_object, "a valid dictionary"),
    "billing_policy": (_is_object, "a valid dictionary"),
    "thread": (_is_object, "a valid dictionary"),
    "user_profile_id": (_is_text, "a valid string"),
    "workspace_id": (_is_text, "a valid string"),
}
_NULLABLE = {
    "cache_control",
    "container",
    "context_management",
    "diagnostics",
    "compaction",
    "billing_policy",
    "thread",
    "fallbacks",
    "fallback_credit_token",
    "inference_geo",
    "speed",
}
_OF_THE_ANSWER = {
    "max_tokens",
    "stream",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "metadata",
    "service_tier",
    "inference_geo",
    "container",
    "diagnostics",
    "fallbacks",
    "fallback_credit_token",
    "thread",
}
"""Counting takes none of them."""
_BETAS = {
    "mcp_servers": "mcp-client-",
    "fallbacks": "server-side-fallback-",
    "fallback_credit_token": "fallback-credit-",
    "compaction": "compact-",
    "billing_policy": "user-profiles-billing-",
}
"""How the header begins that each of these fields needs; its date changes."""


@SHAPE.rule(
    "fields-known",
    REFERENCE,
    "There are no unknown fields at the top; count_tokens takes none that concern the answer.",
)
def _known(ask: Ask) -> str | None:
    strange = [field for field in ask.body if field not in _FIELDS or (ask.counting and field in _OF_THE_ANSWER)]
    return f"{strange[0]}: Extra inputs are not permitted" if strange else None


@SHAPE.rule("fields-required", REFERENCE, "model, max_tokens and messages are given.")
def _required(ask: Ask) -> str | None:
    needed = ("model", "messages") if ask.counting else ("model", "max_tokens", "messages")
    missing = [field for field in needed if field not in ask.body]
    return f"{missing[0]}: Field required" if missing else None


@SHAPE.rule("fields-typed", REFERENCE, "Each field has its type.")
def _typed(ask: Ask) -> str | None:
    for field, value in ask.body.items():
        fits, wanted = _FIELDS[field]
        if not fits(value) and not (value is None and field in _NULLABLE):
            return f"{field}: Input should be {wanted}"
    return None


@SHAPE.rule("fields-beta", REFERENCE, "A field of a beta comes with its header.")
def _beta(ask: Ask) -> str | None:
    for field, prefix in _BETAS.items():
        if ask.body.get(field) is not None and not any(beta.startswith(prefix) for beta in ask.betas):
            return f"{field}: Extra inputs are not permitted"
    return None


@SHAPE.rule("model-known", "conventions §6.8", "The model exists.", status=404, kind="not_found_error")
def _model(ask: Ask) -> str | None:
    return None if ask.models.find(ask.body["model"]) else f"model: {ask.body['model']}"
