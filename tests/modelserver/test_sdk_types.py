"""What the vendor's SDK can send is known to the rules: its types of requests are the reference, field by field."""

from typing import get_args

import anthropic.types.beta as sdk
import pytest
from anthropic.types.beta import message_count_tokens_params, message_create_params
from anthropic.types.beta.beta_tool_result_block_param import Content
from typing_extensions import get_type_hints, is_typeddict

from everturn.modelserver import check_request

MODEL = "claude-opus-5"
HEADERS = {
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "mcp-client-2025-11-20,compact-2026-09-04,context-management-2025-06-27,fast-mode-2026-02-01,"
    "server-side-fallback-2026-07-01,fallback-credit-2026-07-01,user-profiles-billing-2026-10-01,"
    "message-threads-2026-08-12",
}
SHAPES = {"message-shape", "block-types-known", "block-fields", "result-content", "thinking-shape", "tool-shape"}
"""The rules that refuse what is not known; the values below are no good, only known."""


def kinds_of(union):
    """The typed dicts of a union, each with its types."""
    for part in get_args(union):
        if is_typeddict(part):
            yield from ((kind, part) for kind in get_args(get_type_hints(part).get("type")) if isinstance(kind, str))
        else:
            yield from kinds_of(part)


def refusal(body):
    violation = check_request(body, HEADERS)
    return violation.message if violation is not None and violation.rule in SHAPES else None


def request(*messages, **fields):
    said = list(messages) or [{"role": "user", "content": "Hello"}]
    return {"model": MODEL, "max_tokens": 2000, "messages": said, **fields}


BLOCKS = dict(kinds_of(sdk.BetaContentBlockParam))
USERS = {"text", "image", "document", "search_result", "container_upload", "tool_result", "browser_state"}
TEXTS = {"text", "thinking", "data", "id", "name", "tool_use_id", "signature"}


@pytest.mark.parametrize("kind", BLOCKS)
def test_every_kind_of_block_is_known_with_all_its_fields(kind):
    block = {name: "x" if name in TEXTS else {} for name in BLOCKS[kind].__annotations__ if name != "cache_control"}
    if kind == "tool_result":
        block["content"] = []
    block["type"] = kind
    role = "user" if kind in USERS else "assistant"
    assert refusal(request({"role": "user", "content": "Hello"}, {"role": role, "content": [block]})) is None


@pytest.mark.parametrize("kind", dict(kinds_of(Content)))
def test_every_kind_of_content_of_a_result_is_known(kind):
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": kind}]}
    assert refusal(request({"role": "user", "content": [result]})) is None


@pytest.mark.parametrize("kind", dict(kinds_of(sdk.BetaThinkingConfigParam)))
def test_every_kind_of_thinking_is_known(kind):
    assert refusal(request(thinking={"type": kind, "budget_tokens": 1024})) is None


@pytest.mark.parametrize("kind", [kind for kind, _ in kinds_of(sdk.BetaToolUnionParam) if kind != "custom"])
def test_tools_of_the_api_are_taken_twice_where_they_have_no_name(kind):
    tools = dict(kinds_of(sdk.BetaToolUnionParam))
    named = {"name": kind} if "name" in tools[kind].__annotations__ else {}
    violation = check_request(request(tools=[{"type": kind, **named}, {"type": kind, **named}]))
    assert (violation and violation.rule) == ("tool-names-unique" if named else None)


@pytest.mark.parametrize("part", [part for part in get_args(sdk.BetaMessageParam) if is_typeddict(part)])
def test_every_field_of_a_message_is_known(part):
    [role] = get_args(get_type_hints(part)["role"])
    message = dict.fromkeys(part.__annotations__) | {"role": role, "content": "Hello"}
    assert refusal(request({"role": "user", "content": "Hello"}, message)) is None


def fields_of(params):
    return sorted(set(params.__annotations__) - {"betas", "messages", "model", "user_profile_id", "workspace_id"})


@pytest.mark.parametrize("field", fields_of(message_create_params.MessageCreateParamsBase))
def test_every_field_of_a_request_is_known(field):
    violation = check_request(request() | {field: None}, HEADERS)
    assert violation is None or violation.rule != "fields-known"


COUNTED = fields_of(message_count_tokens_params.MessageCountTokensParams)
ASKED = fields_of(message_create_params.MessageCreateParamsBase)


@pytest.mark.parametrize("field", sorted({*COUNTED, *ASKED}))
def test_counting_takes_the_fields_that_the_sdk_counts_with_and_no_others(field):
    violation = check_request(
        {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}], field: None}, HEADERS, counting=True
    )
    assert (violation is not None and violation.rule == "fields-known") == (field not in COUNTED)
