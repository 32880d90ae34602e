"""The body of a request: the received bytes unchanged, at most four cache marks, and a prefix that stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.messages import decode_block, encode_block, result_block, text_block
from everturn.core.transcript import Wire
from everturn.models.anthropic.cache_marks import plan_marks
from everturn.models.anthropic.encode import encode_count, encode_request
from everturn.models.catalog import JsonCatalog
from everturn.ports.model import Request, TaskBudget, ThinkingConfig, ThinkingMode

CATALOG = JsonCatalog()
TOOL = b'{"name":"Read","description":"reads","input_schema":{"type":"object"}}'
MARK = {"type": "ephemeral"}
THINKING = decode_block(b'{"type":"thinking","thinking":"hm","signature":"s"}')


def body_of(request):
    return json.loads(encode_request(request, CATALOG.card(request.model)))


def user(*texts):
    return Wire("user", tuple(text_block(text) for text in texts))


def assistant(*texts):
    return Wire("assistant", tuple(text_block(text) for text in texts))


def text(said, *, marked=False):
    return {"type": "text", "text": said} | ({"cache_control": MARK} if marked else {})


def marks_in(body):
    blocks = [*body.get("tools", ()), *body.get("system", ())]
    blocks += [block for message in body["messages"] for block in message["content"]]
    return [block for block in blocks if "cache_control" in block]


@pytest.mark.parametrize(
    ("fields", "marked"),
    [
        ({"system": ("s", "branch: main"), "tools": (TOOL,)}, ["s"]),
        ({"system": (" ", "branch: main"), "tools": (TOOL,)}, ["Read"]),
        ({"system": ("branch: main",)}, ["branch: main"]),
    ],
)
def test_the_first_mark_stands_before_the_environment_where_anything_does(ask, fields, marked):
    body = body_of(ask(**fields, environment=1))
    assert [block.get("text", block.get("name")) for block in marks_in({**body, "messages": []})] == marked


def test_a_whole_request_has_these_fields():
    request = Request(
        model="claude-opus-5",
        messages=(user("one"), assistant("two"), user("three")),
        max_tokens=100,
        system=("static", " ", "dynamic"),
        tools=(TOOL,),
        thinking=ThinkingConfig(mode=ThinkingMode.ADAPTIVE, display="summarized"),
        effort="xhigh",
        task_budget=TaskBudget(total=50_000, remaining=20_000),
        fast=True,
        output_schema={"type": "integer", "minimum": 0},
        stop_sequences=("END",),
    )

    assert body_of(request) == {
        "model": "claude-opus-5",
        "max_tokens": 100,
        "stream": True,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {
            "effort": "xhigh",
            "format": {"type": "json_schema", "schema": {"type": "integer", "description": "minimum: 0"}},
            "task_budget": {"type": "tokens", "total": 50_000, "remaining": 20_000},
        },
        "speed": "fast",
        "stop_sequences": ["END"],
        "tools": [json.loads(TOOL)],
        "system": [text("static"), text("dynamic", marked=True)],
        "messages": [
            {"role": "user", "content": [text("one", marked=True)]},
            {"role": "assistant", "content": [text("two")]},
            {"role": "user", "content": [text("three", marked=True)]},
        ],
    }


def test_what_the_model_does_not_take_is_left_out(ask):
    request = ask(model="claude-haiku-4-5", effort="max", fast=True, task_budget=TaskBudget(total=1), cache=False)

    assert body_of(request) == {
        "model": "claude-haiku-4-5",
        "max_tokens": 1_000,
        "stream": True,
        "messages": [{"role": "user", "content": [text("hello")]}],
    }


def test_the_suffix_for_the_long_window_is_not_sent(ask):
    assert body_of(ask(model="claude-sonnet-4-5[1m]"))["model"] == "claude-sonnet-4-5"


def test_counting_sends_the_same_content_and_nothing_about_the_answer(ask):
    request = ask(system=("s",), tools=(TOOL,), effort="low", stop_sequences=("x",))
    whole = body_of(request)

    counted = json.loads(encode_count(request, CATALOG.card(request.model)))

    assert counted == {name: whole[name] for name in ("model", "tools", "system", "messages")}


def test_without_a_system_prompt_the_last_tool_is_marked(ask):
    body = body_of(ask(tools=(TOOL, TOOL)))

    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]


def test_an_hour_is_asked_for_where_it_is_wanted(ask):
    body = body_of(ask(system=("s",), cache_ttl="1h"))

    assert [block["cache_control"] for block in marks_in(body)] == [{"type": "ephemeral", "ttl": "1h"}] * 2


def test_marks_pass_over_thinking_and_blank_text():
    wires = (user("one", " "), Wire("assistant", (text_block("two"), THINKING)), Wire("user", (text_block(" "),)))

    assert plan_marks(wires) == {(0, 0), (1, 0)}


def test_marks_pass_over_blocks_that_are_unknown_or_marked_already():
    odd = decode_block(b'{"type":"future"}')
    marked = encode_block({"type": "text", "text": "x", "cache_control": MARK})

    assert plan_marks((Wire("user", (text_block("a"), odd, marked)),)) == {(0, 0)}


def test_a_round_longer_than_the_look_back_gets_a_mark_half_way():
    uses = tuple(encode_block({"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {}}) for n in range(15))
    results = tuple(result_block(f"t{n}", "x") for n in range(15))
    wires = (user("go"), Wire("assistant", uses), Wire("user", results))

    assert plan_marks(wires) == {(0, 0), (1, 14), (2, 14)}


def test_a_block_that_ends_with_blanks_can_be_marked(ask):
    wire = Wire("user", (decode_block(b'{"type":"text","text":"}"} '),))

    assert body_of(ask(messages=(wire,)))["messages"] == [{"role": "user", "content": [text("}", marked=True)]}]


TEXTS = st.text(max_size=4).map(text_block)
BLOCKS = st.one_of(
    TEXTS,
    st.just(THINKING),
    st.builds(lambda n: result_block(f"t{n}", "x"), st.integers(0, 9)),
    st.just(decode_block(b'{ "type" : "future", "n": 1.0 }')),
)
CONVERSATIONS = st.lists(
    st.builds(Wire, st.sampled_from(["user", "assistant"]), st.lists(BLOCKS, max_size=30).map(tuple)), max_size=6
).map(tuple)


def encoded(wires, *, cache):
    request = Request(model="claude-opus-5", messages=wires, max_tokens=1, system=("s",), tools=(TOOL,), cache=cache)
    return encode_request(request, CATALOG.card("claude-opus-5"))


@given(CONVERSATIONS)
def test_there_are_never_more_than_four_marks_and_they_change_nothing_else(wires):
    body = json.loads(encoded(wires, cache=True))
    marked = marks_in(body)

    assert len(marked) <= 4
    for block in marked:
        assert block["type"] not in {"thinking", "future"}
        assert block.get("text", "x").strip()
        del block["cache_control"]
    assert body == json.loads(encoded(wires, cache=False))


@given(CONVERSATIONS)
def test_every_block_without_a_mark_is_sent_with_its_own_bytes(wires):
    body = encoded(wires, cache=False)

    for wire in wires:
        assert b",".join(block.raw for block in wire.blocks) in body


@given(CONVERSATIONS, CONVERSATIONS)
def test_appended_messages_leave_the_bytes_before_them_as_they_were(wires, more):
    shorter, longer = encoded(wires, cache=False), encoded(wires + more, cache=False)

    assert longer.startswith(shorter.removesuffix(b"]}"))


@pytest.mark.parametrize("said", ["a\ud800b", "a\u2028", 'quote " and \\'])
def test_any_system_prompt_can_be_sent(ask, said):
    sent = body_of(ask(system=(said,), cache=False))["system"]

    assert sent == [text(said.replace("\ud800", "\ufffd"))]
