"""Whatever JSON comes, it gets a verdict or an answer: nothing a client sends brings the server down."""

import copy
import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.modelserver.rule_examples import EXAMPLES

from everturn.modelserver import Ask, ModelServer, check_request, script
from everturn.modelserver.prompt_cache import count_input
from everturn.modelserver.rules.lints import find_lints
from everturn.modelserver.scripts import Match, matches

BODIES = [example.body for pair in EXAMPLES.values() for example in pair if isinstance(example.body, dict)]
ODD = st.sampled_from(
    [None, True, 0, -1, 10**30, 1.5, "", " ", "x", [], [[]], {}, {"type": []}, [{"type": {}}], {"a": {"b": []}}]
)


def places(value, path=()):
    """Every place in a JSON value, as the keys that lead there."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield from places(child, (*path, key))


@st.composite
def nonsense(draw):
    """A request that made sense before one or two of its values were replaced."""
    body = copy.deepcopy(draw(st.sampled_from(BODIES)))
    for _ in range(draw(st.integers(1, 2))):
        *way, last = draw(st.sampled_from([place for place in places(body) if place]))
        holder = body
        for key in way:
            holder = holder[key]
        holder[last] = copy.deepcopy(draw(ODD))
    return body


@settings(max_examples=300, deadline=None)
@given(nonsense(), st.booleans())
def test_every_request_gets_a_verdict(body, counting):
    violation = check_request(body, counting=counting)
    assert violation is None or (violation.message and 400 <= violation.status < 500)


@settings(max_examples=100, deadline=None)
@given(nonsense())
def test_every_request_can_be_matched_counted_and_linted(body):
    ask = Ask(body)
    everything = Match(
        last_user_contains="x",
        system_contains="x",
        tool_result_contains="x",
        tool_result_of="x",
        offers_tool="x",
        last_user_matches="x",
    )
    assert matches(everything, ask) in {True, False}
    assert count_input(ask) >= 0
    assert isinstance(find_lints(ask), tuple)


async def test_odd_requests_over_http_leave_the_server_well(client, ask):
    odd = random.Random(7)  # noqa: S311  a fixed choice, not a secret
    nested = b'{"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "more": %s}]}]}'
    deep = [nested % (b"[" * depth + b"]" * depth) for depth in (300, 500, 900, 5000)]
    async with ModelServer(cases={"strict": ["Hello"], "loose": script("Hello", strict=False)}) as server:
        for body in [
            *deep,
            b"",
            b"null",
            b"{",
            b"\xff",
            b'{"a": NaN}',
            *(json.dumps(one).encode() for one in odd.sample(BODIES, 10)),
        ]:
            for case in ("strict", "loose"):
                reply = await client.post(server.url_of(case), body)
                assert reply.status in {200, 400, 404}
        assert (await client.post(server.url_of("strict"), ask())).status == 200
