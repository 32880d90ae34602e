"""Examples for the rules about the request around its body, and about its fields."""

import msgspec
from tests.modelserver.rule_examples.example import Example, Json, Pair, ask, body, user

from everturn.modelserver.rules.envelope import MAX_BYTES


def _large() -> Json:
    return body(user("x" * MAX_BYTES))


GOOD = Example(body=body())


def _but(**fields: object) -> Example:
    """A good request, but for this."""
    return msgspec.structs.replace(GOOD, **fields)


PAIRS: dict[str, Pair] = {
    "path-known": (GOOD, _but(path="/v1/complete")),
    "method-allowed": (_but(method="GET", path="/v1/models", body=b""), _but(method="GET", body=b"")),
    "size-limit": (GOOD, Example(body=_large)),
    "key-present": (
        _but(headers={"authorization": "Bearer any", "anthropic-version": "2023-06-01"}),
        _but(headers={"anthropic-version": "2023-06-01"}),
    ),
    "key-valid": (_but(key="any"), _but(key="another")),
    "version-header": (GOOD, _but(headers={"x-api-key": "any"})),
    "json-valid": (GOOD, _but(body=b'{"model": ')),
    "json-surrogates": (ask(user("\ud83d\ude00")), ask(user("\ud83d"))),
    "fields-known": (ask(metadata={"user_id": "u"}), ask(beta="x")),
    "fields-required": (ask(), _but(body={"model": "claude-opus-4-8", "messages": [user()]})),
    "fields-typed": (ask(stream=False, max_tokens=0), ask(stream="yes")),
    "fields-beta": (ask(mcp_servers=[], betas="mcp-client-2025-11-20"), ask(mcp_servers=[])),
    "model-known": (ask(model="claude-haiku-4-5"), ask(model="claude-opus-4-1")),
}
