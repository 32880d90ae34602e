"""Options: what is right is taken, what is wrong names its field and says what is allowed."""

from pathlib import Path
from types import MappingProxyType

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import OptionError
from everturn.core.limits import Limits
from everturn.ports.hook_events import HOOK_EVENTS
from everturn.ports.model import TaskBudget, ThinkingConfig, ThinkingMode
from everturn.ports.tool import Tool
from everturn.settings.declaration import Declaration
from everturn.settings.environment import Environment
from everturn.settings.option_checks import HOOKS
from everturn.settings.options import DECLARED, OPTIONAL, Options
from everturn.settings.setup import WrittenSettings, build_limits, check_options

READY_EVENTS = tuple(event.name for event in HOOK_EVENTS.values() if not event.not_yet)
KEY = "sk-ant-secret-0123456789"


class Named(Tool):
    name = "Mine"
    description = "Does mine."
    schema = MappingProxyType({"type": "object"})
    result_limit = 100

    def parse(self, input_):
        return input_

    def run(self, call, context):
        return None

    def approve(self, call, reason):
        return None


def problem(**fields):
    with pytest.raises(OptionError) as caught:
        Options(**fields)
    return str(caught.value)


def test_every_field_is_declared():
    assert list(DECLARED) == [field.name for field in msgspec.structs.fields(Options)]
    assert all(isinstance(declared, Declaration) for declared in DECLARED.values())


def test_the_defaults_are_fine_and_shown_as_nothing():
    assert repr(Options()) == "Options()"


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "opus", "fallback_models": ["sonnet"], "small_model": "haiku"},
        {"models": "models.json"},
        {"models": [{"id": "own"}]},
        {"allowed_tools": ["Read", "mcp__a__b"], "builtin_tools": ("Read",)},
        {"builtin_tools": False, "tools": [Named()], "approver": Named()},
        {"hooks": {"stop": print, "post_tool": [print, print]}},
        {"max_turns": 0, "max_budget_usd": 1, "max_wall_s": 0.5},
        {"thinking": "adaptive"},
        {"thinking": {"type": "enabled", "budget_tokens": 2_000, "display": "omitted"}},
        {"thinking": ThinkingConfig(mode=ThinkingMode.DISABLED)},
        {"task_budget": 50_000},
        {"task_budget": TaskBudget(total=50_000)},
        {"limits": {"pauses": 3}},
        {"limits": Limits(pauses=3)},
        {"session_id": "3f2a-9c", "persist": False},
        {"cwd": Path("/tmp"), "home": "~/sessions"},
        {"headers": {"X-Team": "blue"}, "base_url": "http://127.0.0.1:8080/case/"},
    ],
)
def test_what_is_right_is_taken(fields):
    made = Options.of(**fields)
    assert {name: getattr(made, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"model": ""}, "model: must be a text that is not empty"),
        ({"fallback_models": "opus"}, "fallback_models: must be a list, not 'opus'"),
        ({"fallback_models": [""]}, "fallback_models: holds an entry that must be a text that is not empty"),
        (
            {"permission_mode": "acceptedits"},
            "permission_mode: must be one of default, acceptEdits, plan, dontAsk, bypassPermissions, not 'acceptedits'; did you mean 'acceptEdits'?",
        ),
        (
            {"effort": "hihg"},
            "effort: must be one of low, medium, high, xhigh, max, not 'hihg'; did you mean 'high'?",
        ),
        ({"cache_ttl": "10m"}, "cache_ttl: must be one of 5m, 1h, not '10m'"),
        ({"max_turns": -1}, "max_turns: must be a whole number of at least 0, not -1"),
        ({"max_turns": True}, "max_turns: must be a whole number of at least 0, not True"),
        ({"max_turns": 1.5}, "max_turns: must be a whole number of at least 0, not 1.5"),
        ({"max_budget_usd": float("nan")}, "max_budget_usd: must be a number of at least 0, not nan"),
        ({"max_output_tokens": 0}, "max_output_tokens: must be a whole number of at least 1, not 0"),
        (
            {"builtin_tools": ["Bash(git *)"]},
            (
                "builtin_tools: must be true or false, not ['Bash(git *)'] or holds an entry that is a rule with a "
                "specifier (Bash(git *)); only bare tool names are taken here"
            ),
        ),
        (
            {"hooks": {"Stopp": print}},
            f"hooks: knows no 'Stopp'; did you mean 'Stop'? (allowed: {', '.join((*HOOKS, *READY_EVENTS))})",
        ),
        ({"hooks": {"stop": "echo"}}, "hooks: must map stop to a function or a list of functions"),
        ({"limits": {"pause": 1}}, "limits: knows no 'pause'; did you mean 'pauses'?"),
        ({"thinking": "on"}, "thinking: must be one of adaptive, enabled, disabled, not 'on'"),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 5}},
            "thinking: has budget_tokens that must be a whole number of at least 1024, not 5",
        ),
        (
            {"thinking": {"type": "adaptive", "budget_tokens": 5}},
            "thinking: takes budget_tokens with type enabled only",
        ),
        ({"streaming_tools": 1}, "streaming_tools: must be true or false, not 1"),
        ({"user_context": {"date": 5}}, "user_context: must map texts to texts; the entry 'date' does not"),
        ({"session_id": "a/b"}, "session_id: must be letters, digits, dots, dashes and underscores"),
        (
            {"session_id": "a", "resume": "b"},
            "resume: cannot be given together with session_id: a resumed session has its id already",
        ),
        ({"resume": "b", "persist": False}, "resume: needs persist: what is resumed is the session on disk"),
        ({"base_url": "api.example"}, "base_url: must be an http or https URL, such as https://api.anthropic.com"),
        ({"base_url": "http://host:99999"}, "base_url: must be an http or https URL"),
        (
            {"tools": [print]},
            "tools: holds an entry that is neither a function written in Python nor a tool made by the decorator @tool: <built-in function print>",
        ),
        (
            {"tools": ["Read"]},
            "tools: holds an entry that is neither a function written in Python nor a tool made by the decorator @tool: 'Read'; built-in tools are named in builtin_tools",
        ),
        (
            {"approver": print},
            "approver: must be a function of the call and the reason, or an object with such a method `approve`, not <built-in function print>",
        ),
        (
            {"approver": lambda call: call},
            "approver: must be a function of the call and the reason, or an object with such a method `approve`, not <function",
        ),
        ({"cwd": ""}, "cwd: must be a path, not ''"),
    ],
)
def test_what_is_wrong_names_the_field_and_what_is_allowed(fields, text):
    assert problem(**fields).startswith(text)


def test_an_unknown_name_is_told_with_the_one_that_was_meant():
    with pytest.raises(OptionError, match=r"^max_turn: is not an option; did you mean 'max_turns'\?$"):
        Options.of(max_turn=3)
    with pytest.raises(TypeError, match="max_turn"):
        Options(max_turn=3)


def test_an_unknown_name_a_wrong_value_and_a_contradiction_are_told_together():
    with pytest.raises(OptionError) as caught:
        Options.of(max_turn=3, max_budget_usd=-1, goal="All tests pass.", fork_session=True)

    assert [error.field for error in caught.value.all] == ["max_turn", "max_budget_usd", "fork_session", "goal"]


def test_a_field_that_is_wrong_is_told_once():
    with pytest.raises(OptionError) as caught:
        Options(resume="", persist=False)

    assert [str(error) for error in caught.value.all] == ["resume: must be a text that is not empty"]


def test_no_credential_is_ever_shown():
    options = Options(api_key=KEY, auth_token=KEY, headers={"Authorization": f"Bearer {KEY}"})
    setup = check_options(options, {"ANTHROPIC_CUSTOM_HEADERS": f"X-Key: {KEY}", "HOME": "/nowhere"})
    environment = Environment(api_key=KEY, headers={"X-Key": KEY})
    shown = "".join(map(repr, (options, setup, environment))) + str(options) + f"{setup}"
    assert KEY not in shown + "".join(map(str, (*options.__rich_repr__(), *setup.__rich_repr__())))
    assert repr(options) == "Options(api_key=<set>, auth_token=<set>, headers=<set>)"


@pytest.mark.parametrize(
    "fields",
    [
        {"api_key": f"{KEY}\nX-Evil: 1"},
        {"auth_token": f"{KEY} {KEY}"},
        {"headers": {"X-Key": f"{KEY}\r\n"}},
        {"base_url": f"https://user:{KEY}@host"},
        {"base_url": f"https://host/?key={KEY}"},
        {"api_key": [KEY]},
    ],
)
def test_no_error_text_shows_a_credential(fields):
    assert KEY not in problem(**fields)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=5,
)


@given(st.sampled_from(sorted(DECLARED)), JSON)
@settings(max_examples=300, deadline=None)
def test_any_value_for_any_field_is_taken_or_refused_with_an_option_error(field, value):
    named = field
    try:
        check_options(Options.of(**{field: value}), {"HOME": "/nowhere"})
    except OptionError as error:
        named = error.field
    assert named == field


def test_none_is_taken_exactly_where_it_is_the_default():
    for name in DECLARED:
        if name in OPTIONAL:
            assert getattr(Options.of(**{name: None}), name) is None
        else:
            assert problem(**{name: None}).startswith(f"{name}: ")


def test_a_setup_finds_every_value():
    options = Options(task_budget=9, hooks={"stop": print}, thinking="disabled", betas=["b1", "b2"])
    setup = check_options(
        options,
        {
            "ANTHROPIC_API_KEY": f" {KEY} ",
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/case/",
            "ANTHROPIC_BETAS": "b2, b3",
            "ANTHROPIC_MODEL": "opus",
            "ANTHROPIC_DEFAULT_OPUS_MODEL": "claude-opus-5",
            "ANTHROPIC_CUSTOM_HEADERS": "X-A: 1\nX-B: two: parts",
            "BRAVE_API_KEY": "made-up-brave-key",
            "HOME": "/home/somebody",
        },
    )
    assert {name: getattr(setup, name) for name in setup.__struct_fields__} == {
        "options": options,
        "written": WrittenSettings(),
        "limits": Limits(),
        "model": "opus",
        "aliases": {"opus": "claude-opus-5"},
        "folder": Path.cwd(),
        "home": Path("/home/somebody/.everturn"),
        "thinking": ThinkingConfig(mode=ThinkingMode.DISABLED),
        "task_budget": TaskBudget(total=9),
        "hooks": {"stop": (print,), "post_tool": (), "stop_failure": (), "pre_compact": (), "post_compact": ()},
        "api_key": KEY,
        "auth_token": None,
        "base_url": "http://127.0.0.1:1/case",
        "headers": {"X-A": "1", "X-B": "two: parts"},
        "betas": ("b1", "b2", "b3"),
        "search_key": "made-up-brave-key",
    }


def test_options_beat_the_environment():
    env = {
        "ANTHROPIC_API_KEY": "env",
        "ANTHROPIC_AUTH_TOKEN": "env",
        "ANTHROPIC_MODEL": "env",
        "EVERTURN_HOME": "/env",
        "ANTHROPIC_CUSTOM_HEADERS": "X-A: env",
    }
    setup = check_options(Options(api_key=KEY, model="own", home="/own", headers={"X-A": "own"}), env)
    assert (setup.api_key, setup.auth_token, setup.model) == (KEY, None, "own")
    assert (setup.home, setup.headers) == (Path("/own"), {"X-A": "own"})


def test_defaults_where_nobody_says_anything():
    setup = check_options(Options(), {"HOME": "/h", "ANTHROPIC_API_KEY": ""})
    assert (setup.model, setup.base_url, setup.api_key) == ("claude-sonnet-5", "https://api.anthropic.com", None)
    assert not setup.has_credentials
    assert check_options(Options(api_key_helper="pass show key"), {"HOME": "/h"}).has_credentials


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OptionError, match=r"cwd: is not a folder: .*missing"):
        check_options(Options(cwd=tmp_path / "missing"), {"HOME": "/h"})


def test_limits_are_layered_defaults_environment_limits_options():
    environment = Environment(stall_s=1.0, retry_scale=0.5, tool_concurrency=2, max_retries=3, max_output_tokens=100)
    assert build_limits(Options(), environment) == Limits(
        stall_s=1.0,
        retry_scale=0.5,
        tool_concurrency=2,
        tries=4,
        unreached_tries=4,
        unanswered_s=0.0,
        output_cap=100,
        output_cap_thinking=100,
        escalate=False,
    )
    options = Options(limits={"stall_s": 2.0, "tries": 9, "max_turns": 5}, max_turns=7, max_retries=0)
    assert build_limits(options, environment) == Limits(
        stall_s=2.0,
        retry_scale=0.5,
        tool_concurrency=2,
        tries=1,
        unreached_tries=1,
        unanswered_s=0.0,
        output_cap=100,
        output_cap_thinking=100,
        escalate=False,
        max_turns=7,
    )


def test_of_a_whole_limits_only_what_differs_from_the_defaults_counts():
    made = build_limits(Options(limits=Limits(pauses=3)), Environment(stall_s=1.0))
    assert made == Limits(pauses=3, stall_s=1.0)


def test_options_that_are_limits_reach_their_limit():
    options = Options(
        max_budget_usd=2.5,
        max_total_tokens=10,
        max_tool_calls=11,
        max_wall_s=12,
        work_budget=13,
        auto_compact=False,
        reactive_compact=False,
        escalate=False,
        stall_s=4,
    )
    assert build_limits(options, Environment()) == Limits(
        max_usd=2.5,
        max_tokens_total=10,
        max_tool_calls=11,
        max_wall_s=12,
        work_budget=13,
        auto_compact=False,
        reactive_compact=False,
        escalate=False,
        stall_s=4,
    )


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"tries": 0}, "limits: has tries, which must be a whole number of at least 1, not 0"),
        (
            {"compact_share": 1.5},
            "limits: has compact_share, which must be a number of at least 0 and at most 1, not 1.5",
        ),
        ({"escalate": "no"}, "limits: has escalate, which must be true or false, not 'no'"),
        ({"stall_s": -1}, "limits: has stall_s, which must be a number of at least 0, not -1"),
        (Limits(pauses=-1), "limits: has pauses, which must be a whole number of at least 0, not -1"),
    ],
)
def test_a_limit_that_does_not_fit_is_named(limits, text):
    assert problem(limits=limits) == text
