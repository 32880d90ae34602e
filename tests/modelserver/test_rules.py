"""The rules, each shown by an example that is taken and one that is refused, over HTTP."""

import pytest
from tests.modelserver.rule_examples import EXAMPLES
from tests.modelserver.rule_examples.example import Example

from everturn.modelserver import KNOWN_MODELS, ModelServer, check_request, say, script, thinking
from everturn.modelserver.rules import RULES

MODEL = "claude-opus-4-8"
BINDS = "claude-fable-5-1"


def thoughts_of(example: Example) -> list:
    """Who binds its thinking thinks."""
    return [thinking("Hm.")] * any(earlier.made_body["model"] == BINDS for earlier in example.before)


async def send(client, example: Example):
    answers = [say(*thoughts_of(example), "Hello", id=f"msg_{count}") for count in range(1, 9)]
    async with ModelServer(script(*answers, key=example.key, window=example.window)) as server:
        server.handed.remember(MODEL, example.handed)
        for earlier in example.before:
            assert (await client.post(server.url, earlier.made_body, headers=earlier.headers)).status == 200
        body = example.made_body
        if example.method == "GET":
            return await client.send(server.url, "GET", example.path, b"", example.headers), server.requests[-1]
        return await client.post(server.url, body, headers=example.headers, path=example.path), server.requests[-1]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
async def test_the_accepted_example_is_accepted(rule, client):
    reply, received = await send(client, EXAMPLES[rule.id][0])
    assert (reply.status, received.refused) == (200, None)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
async def test_the_refused_example_is_refused_by_its_rule(rule, client):
    reply, received = await send(client, EXAMPLES[rule.id][1])
    assert received.refused == rule.id
    assert reply.headers["everturn-rule"] == rule.id
    assert reply.status == rule.status
    error = reply.json["error"]
    assert reply.json == {
        "type": "error",
        "error": {"type": rule.type, "message": error["message"]} | ({"details": rule.details} if rule.details else {}),
        "request_id": reply.headers["request-id"],
    }
    assert error["message"]


def test_each_rule_has_its_examples_and_a_source():
    assert [rule.id for rule in RULES] == list(dict.fromkeys(rule.id for rule in RULES))
    assert {rule.id for rule in RULES} == set(EXAMPLES)
    assert all(rule.source and rule.summary.endswith(".") for rule in RULES)


THINKING = [
    # model, accepted kinds of thinking, accepted efforts
    ("claude-fable-5", "adaptive", "low medium high xhigh max"),
    ("claude-mythos-5", "adaptive", "low medium high xhigh max"),
    ("claude-opus-5", "adaptive disabled", "low medium high xhigh max"),
    ("claude-opus-4-8", "adaptive disabled", "low medium high xhigh max"),
    ("claude-opus-4-7", "adaptive disabled", "low medium high xhigh max"),
    ("claude-opus-4-6", "adaptive enabled disabled", "low medium high max"),
    ("claude-opus-4-5", "enabled disabled", "low medium high"),
    ("claude-sonnet-5", "adaptive disabled", "low medium high xhigh max"),
    ("claude-sonnet-4-6", "adaptive enabled disabled", "low medium high max"),
    ("claude-sonnet-4-5", "enabled disabled", ""),
    ("claude-haiku-4-5", "enabled disabled", ""),
]


@pytest.mark.parametrize(("model", "modes", "efforts"), THINKING)
def test_each_model_takes_its_thinking_and_its_efforts(model, modes, efforts, ask):
    configs = {
        "adaptive": {"type": "adaptive"},
        "enabled": {"type": "enabled", "budget_tokens": 1024},
        "disabled": {"type": "disabled"},
    }
    taken = [
        mode
        for mode, config in configs.items()
        if check_request(ask(model=model, max_tokens=4000, thinking=config)) is None
    ]
    levels = ("low", "medium", "high", "xhigh", "max")
    known = [effort for effort in levels if check_request(ask(model=model, output_config={"effort": effort})) is None]
    assert (taken, known) == (modes.split(), efforts.split())


@pytest.mark.parametrize(
    ("model", "window", "output"),
    [
        ("claude-opus-5", 1_000_000, 128_000),
        ("claude-haiku-4-5", 200_000, 64_000),
        ("claude-opus-4-5-20251101", 200_000, 64_000),
    ],
)
def test_models_have_their_windows_and_limits(model, window, output, ask):
    found = KNOWN_MODELS.find(model)
    assert (found.window, found.max_output) == (window, output)
    assert check_request(ask(model=model, max_tokens=output)) is None
    assert check_request(ask(model=model, max_tokens=output + 1)).rule == "max-tokens-limit"


def test_a_check_without_headers_asks_for_no_key(ask):
    assert check_request(ask()) is None
    assert check_request(ask(), {}).rule == "key-present"
    assert check_request(ask(), {"X-API-Key": "k", "Anthropic-Version": "2023-06-01"}) is None


def test_counting_needs_no_limit_and_takes_none(ask):
    body = {key: value for key, value in ask().items() if key != "max_tokens"}
    assert check_request(body, counting=True) is None
    assert check_request(ask(), counting=True).rule == "fields-known"


@pytest.mark.parametrize("betas", ["", "unheard-of-2030-01-01", "a,b , c"])
def test_unknown_betas_are_no_fault(betas, ask):
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01", "anthropic-beta": betas}
    assert check_request(ask(), headers) is None


def test_neighbours_of_the_same_role_are_accepted(ask):
    twice = [{"role": "user", "content": "Hello"}, {"role": "user", "content": "again"}]
    assert check_request(ask(twice)) is None


def test_a_system_message_does_not_come_between_a_call_and_its_result(ask):
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {}}
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [call]},
        {"role": "system", "content": "Hurry."},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
    ]
    tools = [{"name": "Read", "input_schema": {"type": "object"}}]
    assert check_request(ask(messages, tools=tools)).rule == "system-message-place"


def test_results_spread_over_two_messages_leave_a_call_open(ask):
    calls = [{"type": "tool_use", "id": name, "name": "Read", "input": {}} for name in ("a", "b")]
    results = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": name}]} for name in ("a", "b")]
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": calls}, *results]
    violation = check_request(ask(messages, tools=[{"name": "Read", "input_schema": {"type": "object"}}]))
    assert violation.rule == "calls-answered"
    assert violation.message == (
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def test_a_tool_of_the_api_needs_no_schema(ask):
    assert check_request(ask(tools=[{"type": "web_search_20260318", "name": "web_search"}])) is None


def test_the_message_about_the_window_is_the_apis(ask):
    violation = check_request(ask("x" * 4000), window=1000)
    assert violation.message == "prompt is too long: 1003 tokens > 1000 maximum"
