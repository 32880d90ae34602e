"""The little prompt cache: what was written before is read, and the counts add up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.modelserver import Ask, ModelServer, overloaded, reset, script
from everturn.modelserver.prompt_cache import PromptCache, count_input, segments_of

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def words(text: str, mark: dict | None = None) -> dict:
    return {"type": "text", "text": text} | ({"cache_control": mark} if mark else {})


def user(*blocks: dict) -> dict:
    return {"role": "user", "content": list(blocks)}


def body(*messages: dict, **fields) -> dict:
    return {"model": "claude-opus-4-8", "max_tokens": 10, "messages": list(messages), **fields}


class Meter:
    """A cache and its clock: asks, and returns (fresh, read, written for 5m, written for 1h)."""

    def __init__(self, minimum: int = 0) -> None:
        self.cache = PromptCache()
        self.minimum = minimum
        self.now = 0.0

    def ask(self, request: dict) -> tuple[int, int, int, int]:
        use = self.cache.judge(segments_of(Ask(request)), self.minimum, self.now)
        self.cache.commit(use, self.now)
        return use.fresh, use.read, use.written.get("5m", 0), use.written.get("1h", 0)


def test_a_prefix_is_written_once_and_then_read():
    meter = Meter()
    request = body(user(words("x" * 400, MARK), words("y" * 40)))
    assert meter.ask(request) == (10, 0, 103, 0)
    assert meter.ask(request) == (10, 103, 0, 0)


def test_nothing_is_cached_without_a_mark():
    meter = Meter()
    assert [meter.ask(body(user(words("x" * 400)))) for _ in range(2)] == [(103, 0, 0, 0)] * 2


def test_each_turn_reads_what_the_last_one_wrote():
    meter = Meter()
    first, second = user(words("x" * 400, MARK)), user(words("z" * 40, MARK))
    answer = {"role": "assistant", "content": "y" * 40}
    assert meter.ask(body(first)) == (0, 0, 103, 0)
    assert meter.ask(body(first, answer, second)) == (0, 103, 26, 0)
    # The mark has moved on, the prefix is the same.
    assert meter.ask(body(user(words("x" * 400)), answer, second)) == (0, 129, 0, 0)


def test_the_order_is_tools_then_system_then_messages():
    meter = Meter()
    tool = {"name": "Read", "input_schema": {"type": "object"}, "cache_control": HOUR}
    request = body(user(words("m" * 40, MARK)), tools=[tool], system=[words("s" * 40, HOUR)])
    tools = count_input(Ask(body(tools=[tool])))
    assert meter.ask(request) == (0, 0, 13, tools + 10)
    assert meter.ask(body(user(words("n" * 40, MARK)), tools=[tool], system=[words("s" * 40, HOUR)])) == (
        0,
        tools + 10,
        13,
        0,
    )
    assert meter.ask(body(user(words("m" * 40, MARK)), tools=[tool], system=[words("t" * 40, HOUR)])) == (
        0,
        tools,
        13,
        10,
    )


def test_short_prefixes_are_not_cached():
    meter = Meter(minimum=104)
    assert [meter.ask(body(user(words("x" * 400, MARK)))) for _ in range(2)] == [(103, 0, 0, 0)] * 2


@pytest.mark.parametrize(("mark", "lifetime"), [(MARK, 300), (HOUR, 3600)])
def test_an_entry_lives_from_its_last_use(mark, lifetime):
    meter = Meter()
    request = body(user(words("x" * 400, mark)))
    meter.ask(request)
    reads = []
    for wait in (lifetime - 1, lifetime - 1, lifetime):
        meter.now += wait
        reads.append(meter.ask(request)[1])
    assert reads == [103, 103, 0]


@pytest.mark.parametrize(("blocks", "read"), [(19, 103), (20, 103), (21, 0)])
def test_an_entry_is_looked_for_twenty_blocks_back(blocks, read):
    meter = Meter()
    meter.ask(body(user(words("x" * 400, MARK))))
    more = [words("y") for _ in range(blocks - 1)]
    assert meter.ask(body(user(words("x" * 400), *more, words("z", MARK))))[1] == read


CHANGES = {
    "the model": ({"model": "claude-opus-5"}, 0),
    "the tools": ({"tools": [{"name": "Write", "input_schema": {"type": "object"}}]}, 0),
    "the speed": ({"speed": "fast"}, 0),
    "the choice of tools": ({"tool_choice": {"type": "none"}}, 100),
    "thinking": ({"thinking": {"type": "adaptive"}}, 100),
    "the effort": ({"output_config": {"effort": "low"}}, 100),
    "max_tokens": ({"max_tokens": 11}, 203),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_breaks_the_cache_from_where_it_stands(name):
    change, read = CHANGES[name]
    meter = Meter()
    request = body(user(words("x" * 400, MARK)), system=[words("s" * 400, MARK)])
    meter.ask(request)
    assert meter.ask(request | change)[1] == read


def test_one_automatic_mark_moves_with_the_conversation():
    meter = Meter()
    first = body(user(words("x" * 400)), cache_control=MARK)
    assert meter.ask(first) == (0, 0, 103, 0)
    assert meter.ask(body(user(words("x" * 400)), user(words("y" * 40)), cache_control=MARK)) == (0, 103, 13, 0)


def test_a_mark_inside_a_tool_result_counts():
    meter = Meter()
    result = {"type": "tool_result", "tool_use_id": "t", "content": [words("x" * 400, MARK)]}
    assert meter.ask(body(user(result))) == (0, 0, 103, 0)


BLOCKS = st.builds(words, st.text(min_size=1, max_size=50), st.sampled_from([None, None, MARK]))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(BLOCKS, min_size=1, max_size=4), min_size=1, max_size=6), st.integers(0, 30))
def test_the_counts_always_add_up_and_what_repeats_is_read(turns, minimum):
    meter = Meter(minimum)
    messages = [user(*blocks) for blocks in turns]
    for count in range(1, len(messages) + 1):
        request = body(*messages[:count])
        first, second = meter.ask(request), meter.ask(request)
        total = count_input(Ask(request))
        assert sum(first) == sum(second) == total
        assert second[2:] == (0, 0)
        assert second[1] == first[1] + first[2]


async def test_usage_tells_of_the_cache_over_http(client):
    request = body(user(words("x" * 400, MARK), words("y" * 40)))
    async with ModelServer(script("Hello", min_cacheable=0)) as server:
        usages = [(await client.post(server.url, request)).json["usage"] for _ in range(2)]
    common = {"input_tokens": 10, "output_tokens": 2, "service_tier": "standard"}
    assert usages == [
        common
        | {
            "cache_creation_input_tokens": 103,
            "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 103, "ephemeral_1h_input_tokens": 0},
        },
        common
        | {
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 103,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        },
    ]


async def test_a_request_that_fails_writes_nothing(client):
    request = body(user(words("x" * 400, MARK)))
    async with ModelServer(script(overloaded(), reset(), "Hello", min_cacheable=0)) as server:
        replies = [await client.post(server.url, request) for _ in range(3)]
    assert replies[2].json["usage"]["cache_creation_input_tokens"] == 103


async def test_the_models_own_minimum_holds_unless_the_script_says_otherwise(client):
    request = body(user(words("x" * 400, MARK)))
    async with ModelServer(["Hello"]) as server:
        usage = (await client.post(server.url, request)).json["usage"]
    assert (usage["input_tokens"], usage["cache_creation_input_tokens"]) == (103, 0)
