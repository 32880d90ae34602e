"""Scripts in files: every form says the same as its Python value, and bad ones are told where they are bad."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.modelserver import (
    ANY_MODEL,
    Fail,
    Say,
    Script,
    ScriptError,
    Wire,
    block,
    broken,
    call,
    calls,
    cut,
    error,
    load_cases,
    parse_cases,
    redacted,
    refusal,
    say,
    script,
    server_call,
    stall,
    text,
    thinking,
    truncated,
    when,
)
from everturn.modelserver.answers import Call, ServerCall
from everturn.modelserver.models import KNOWN, KNOWN_MODELS
from everturn.modelserver.script_files import line_of

FORMS = [
    ("Hello", text("Hello")),
    ({"text": "Hello", "chunk": 3, "delay_ms": 5, "gap_ms": 1}, text("Hello", chunk=3, delay_ms=5, gap_ms=1)),
    (
        {"calls": [["Read", {"a": 1}], {"name": "Write", "id": "t", "partial": 2}]},
        say(call("Read", {"a": 1}), Call(name="Write", input={}, id="t", partial=2)),
    ),
    ({"thinking": "Hm.", "text": "Hello", "calls": [["Read", {}]]}, say(thinking("Hm."), "Hello", calls(("Read", {})))),
    ({"thinking": "Hm.", "signature": "s"}, thinking("Hm.", signature="s")),
    (
        {
            "blocks": [
                "One",
                {"redacted": "x"},
                {"call": {"name": "Read"}},
                {"text": "Two"},
                {"thinking": "T", "signature": "s"},
            ]
        },
        say("One", redacted("x"), call("Read"), "Two", thinking("T", signature="s")),
    ),
    (
        {
            "blocks": [
                {"server_call": {"name": "web_search", "input": {"q": 1}, "result": []}},
                {"block": {"type": "x"}},
            ],
            "stop_reason": "pause_turn",
        },
        say(ServerCall(name="web_search", input={"q": 1}, result=[]), block({"type": "x"}), stop_reason="pause_turn"),
    ),
    ({"truncated": "Once"}, truncated("Once")),
    ({"refusal": "cyber", "text": "No."}, refusal("No.", category="cyber")),
    ({"refusal": {"explanation": "No."}}, refusal(explanation="No.")),
    ({"error": 529}, error(529)),
    ({"error": {"status": 429, "message": "Slow.", "retry_after": 2}}, error(429, message="Slow.", retry_after=2)),
    ({"text": "Hello", "cut": True}, cut("Hello")),
    ({"text": "Hello", "cut": {"after": 3, "how": "rst"}}, cut("Hello", after=3, how="rst")),
    ({"text": "Hello", "stall": {"after_bytes": 10}}, stall("Hello", after_bytes=10)),
    ({"stall": True}, stall()),
    ({"text": "Hello", "broken": True}, broken("Hello")),
    (
        {"text": "Hello", "broken": {"after": 1, "type": "api_error", "message": "Oh."}},
        broken("Hello", after=1, kind="api_error", message="Oh."),
    ),
    ({"wire": {"transport": "rst"}}, Wire(transport="rst")),
    (
        {"text": "Hello", "usage": {"input_tokens": 1}, "verbatim": True, "model": "m", "id": "i"},
        text("Hello", usage={"input_tokens": 1}, verbatim=True, model="m", id="i"),
    ),
    ({"stop_reason": "end_turn"}, say(stop_reason="end_turn")),
]


@pytest.mark.parametrize(
    ("form", "answer"),
    FORMS,
    ids=lambda value: json.dumps(value)[:50] if not isinstance(value, Say | Fail | Wire) else "",
)
def test_a_form_is_read_as_its_answer(form, answer):
    assert parse_cases(json.dumps([form])) == {"": script(answer)}


def test_a_script_with_settings_and_matches_is_read():
    source = {
        "answers": ["Hello"],
        "when": [{"match": {"last_user_contains": "sum"}, "answers": ["S", {"error": 529}], "at_end": "pass"}],
        "at_end": "error",
        "key": "k",
        "window": 2000,
        "min_cacheable": 0,
        "chunk": 5,
        "models": "any",
        "what": "a note",
    }
    wanted = script(
        "Hello",
        when("S", error(529), last_user_contains="sum", at_end="pass"),
        at_end="error",
        key="k",
        window=2000,
        min_cacheable=0,
        chunk=5,
        models="any",
    )
    assert parse_cases(json.dumps(source, indent=1)) == {"": wanted}


def test_models_of_a_script_can_be_like_known_ones():
    source = {
        "answers": ["Hello"],
        "models": [{"id": "mine", "like": "claude-haiku-4-5", "window": 500}, {"id": "free"}],
    }
    models = parse_cases(json.dumps(source))[""].models
    haiku = KNOWN_MODELS.find("claude-haiku-4-5")
    mine = models.find("mine")
    assert (mine.window, mine.max_output, mine.thinking) == (500, haiku.max_output, haiku.thinking)
    assert models.listed[2:] == KNOWN
    assert models.find("nobody") is None


def test_json_lines_are_cases_and_bytes_are_not_judged():
    lines = [
        {"id": "a", "responses": [{"status": 200, "body": "x"}], "what": "a body"},
        {"id": "b", "answers": ["Hello"]},
    ]
    assert parse_cases("\n".join(map(json.dumps, lines))) == {
        "a": Script(answers=(Wire(body="x"),), strict=False, models=ANY_MODEL),
        "b": script("Hello"),
    }


BAD = [
    ('["Hello",\n {"txt": "Hello"}]', "s.json:2: [1]: Object contains unknown field `txt`; did you mean `text`?"),
    (
        '[{"error": 429, "retry_after": 2}]',
        "s.json:1: [0]: Object contains unknown field `retry_after`; it is a field of an error",
    ),
    ('{"answers": [\n  "Hello",\n  {"text": 5}\n]}', "s.json:3: answers[1].text: Expected `str | null`, got `int`"),
    ('["Hello"', "s.json:1: this is not JSON: Expecting ',' delimiter (column 9)"),
    ('[\n"Hello",\nx]', "s.json:3: this is not JSON: Expecting value (column 1)"),
    ("{}", "s.json:1: there is no answer: give answers, responses or when"),
    ('"Hello"', "s.json:1: a script is a list of answers, or an object with answers and settings"),
    ('{"anwers": ["Hello"]}', "s.json:1: Object contains unknown field `anwers`; did you mean `answers`?"),
    ('{"answers": ["Hello"], "xyz": 1}', "s.json:1: Object contains unknown field `xyz`"),
    (" \n", "s.json: the script is empty"),
    ('[{"error": 529, "text": "Hello"}]', "s.json:1: [0]: error does not go with text"),
    ('[{"blocks": ["a"], "text": "b"}]', "s.json:1: [0]: blocks does not go with text"),
    ('[{"text": "a", "cut": true, "stall": true}]', "s.json:1: [0]: give one of cut, stall, broken"),
    (
        '[{"blocks": [{"text": "a", "redacted": "b"}]}]',
        "s.json:1: [0].blocks[0]: give one of text, thinking, redacted, call, server_call, block",
    ),
    ('[{"text": "a", "signature": "b"}]', "s.json:1: [0]: signature needs thinking"),
    ('{"answers": ["a"], "window": 0}', "s.json:1: window: Expected `int` >= 1"),
    ('{"answers": ["a"],\n "at_end": "loop"}', "s.json:2: at_end: Invalid enum value 'loop'"),
    ('{"answers": ["a"], "models": "some"}', "s.json:1: models: Invalid enum value 'some'"),
    (
        '{"answers": ["a"], "models": [{"id": "a", "like": "b"}]}',
        "s.json:1: models[0]: there is no model 'b' to be like",
    ),
    (
        '{"when": [\n{"match": {"last_user_matches": "("}, "answers": ["a"]}]}',
        "s.json:2: when[0].match: last_user_matches is no regular expression: missing ), unterminated subpattern at position 0",
    ),
    ('{"when": [{"match": {}, "answers": []}]}', "s.json:1: when[0].answers: Expected `array` of length >= 1"),
    ('{"id": "a/b", "answers": ["a"]}', "s.json:1: an id holds no slash: it is a part of a path"),
    ('{"id": "a", "responses": [{"sse": [{"event": "ping"}]}]}', "s.json:1: responses[0].sse[0]: an event needs data"),
    (
        '{"id": "a", "responses": [{"sse": [{}]}]}',
        "s.json:1: responses[0].sse[0]: an item is one of event, raw, raw_hex, sleep_ms, repeat, repeat_text",
    ),
    (
        '{"id": "a", "responses": [{"transport": "boat"}]}',
        "s.json:1: responses[0].transport: Expected `str` matching regex '^(rst|refuse|eof|garbage|stall|dns_.*|tls_.*)$'",
    ),
    ('{"id": "a", "answers": ["a"]}\n{"answers": ["b"]}', "s.json:2: id: a case among several needs an id"),
    ('{"id": "a", "answers": ["a"]}\n\n{"id": "a", "answers": ["b"]}', "s.json:3: id: there is another case 'a'"),
    (
        '{"id": "a", "answers": ["a"]}\n{"id": "b", "answers": [5]}',
        "s.json:2: answers[0]: Expected `str | object`, got `int`",
    ),
    ('[{"error": 20}]', "s.json:1: [0].error: Expected `int` >= 200"),
    (
        '["a",\n{"text": "b", "headers": {"x": "\\n"}}]',
        r"s.json:2: [1].headers[...]: Expected `str` matching regex '^[\\t -~]*\\Z'",
    ),
    ("[" * 100_000, "s.json:1: nested too deeply"),
]


@pytest.mark.parametrize(("source", "complaint"), BAD, ids=lambda value: value[:40])
def test_a_bad_script_is_told_with_its_line_and_field(source, complaint):
    with pytest.raises(ScriptError) as caught:
        parse_cases(source, name="s.json")
    assert str(caught.value) == complaint


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ScriptError, match="No such file"):
        load_cases(tmp_path / "none.json")


def test_a_file_that_is_no_text_is_told(tmp_path):
    path = tmp_path / "bytes.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScriptError, match="is not UTF-8"):
        load_cases(path)


@given(
    st.recursive(
        st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_the_line_of_a_field_is_found(value):
    """In JSON with one value on a line, the line of the n-th value is n, counting brackets."""
    source = json.dumps(value, indent=1)
    for path, wanted in places(value, "$", iter(source.splitlines()), [0]):
        assert line_of(source, path) == wanted


def places(value, path, lines, line):
    """Every path with its line, by walking the value as `indent` prints it."""
    line[0] += 1
    yield path, line[0]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield from places(child, f"{path}.{key}" if isinstance(value, dict) else f"{path}[{key}]", lines, line)
    if isinstance(value, dict | list) and value:
        line[0] += 1


def test_server_calls_in_python_and_json_agree():
    assert server_call("web_search", {"q": 1}).blocks == (ServerCall(name="web_search", input={"q": 1}),)
