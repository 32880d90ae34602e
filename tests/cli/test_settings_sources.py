"""Which source wins, what is joined, and what is refused."""

import pytest

from everturn.core.errors import OptionError
from everturn.core.limits import Limits
from everturn.settings.files import parse_settings
from everturn.settings.options import Options
from everturn.settings.sources import KEYS, Found, merge_settings


def merge(user: str = "{}", env: dict[str, str] | None = None, given: str = "{}"):
    return merge_settings(parse_settings(user, "file"), env or {}, parse_settings(given, "--settings"))


def test_the_highest_source_wins_and_says_where_it_is_from():
    user = '{"model": "a", "effortLevel": "low", "cleanupPeriodDays": 3}'
    merged = merge(user, {"ANTHROPIC_MODEL": "b"}, '{"effortLevel": "high"}')
    assert merged.found == {
        "model": Found(value="b", origin="ANTHROPIC_MODEL", by_environment=True),
        "effortLevel": Found(value="high", origin="--settings"),
        "cleanupPeriodDays": Found(value=3, origin="file"),
    }
    assert merged.options() == {"effort": "high"}


def test_permission_lists_are_joined_and_other_lists_replaced():
    user = '{"permissions": {"allow": ["Read"], "deny": ["Bash"]}, "fallbackModel": ["a", "b"]}'
    given = '{"permissions": {"allow": ["Glob", "Read"]}, "fallbackModel": ["c"]}'
    assert merge(user, given=given).options() == {
        "allowed_tools": ["Read", "Glob"],
        "disallowed_tools": ["Bash"],
        "fallback_models": ["c"],
    }


def test_variables_lie_over_those_of_the_file_and_under_those_given():
    merged = merge('{"env": {"A": "1", "B": "1", "C": "1"}}', {"B": "2", "C": "2"}, '{"env": {"C": "3"}}')
    assert merged.env == {"A": "1", "B": "2", "C": "3"}


def test_a_variable_of_the_file_decides_like_any_other():
    merged = merge('{"env": {"ANTHROPIC_MODEL": "b"}, "model": "a"}')
    assert merged.found["model"].value == "b"


def test_a_key_in_the_environment_beats_the_helper_of_the_file_but_not_a_given_one():
    helper = '{"apiKeyHelper": "print-key"}'
    assert merge(helper).options() == {"api_key_helper": "print-key"}
    assert merge(helper, {"ANTHROPIC_API_KEY": "k"}).options() == {}
    assert merge(env={"ANTHROPIC_API_KEY": "k"}, given=helper).options() == {"api_key_helper": "print-key"}


def test_limits_of_the_file_give_way_to_their_variables():
    user = '{"everturn": {"limits": {"tries": 3, "stall_s": 5, "max_turns": 7, "output_cap": 100, "escalate": true}}}'
    env = {"CLAUDE_CODE_MAX_RETRIES": "1", "EVERTURN_STALL_S": "9", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "50"}
    assert merge(user, env).options() == {"limits": {"max_turns": 7}}


def test_every_limit_is_a_setting_and_every_setting_fits_its_option():
    limits = {name: getattr(Limits(), name) for name in Limits.__struct_fields__}
    for name, value in limits.items():
        assert KEYS[f"everturn.limits.{name}"].check(value) is None
    assert {key.option for key in KEYS.values() if key.option} <= set(Options.__struct_fields__)


def test_manual_is_another_name_for_default():
    assert merge('{"permissions": {"defaultMode": "manual"}}').options() == {"permission_mode": "default"}


def test_what_is_not_supported_is_passed_over_with_a_warning():
    merged = merge('{\n"$schema": "x",\n"modle": "a",\n"statusLine": {}}')
    assert merged.found == {}
    assert merged.warnings == (
        "file:3: modle is not supported and was passed over; did you mean 'model'?",
        "file:4: statusLine is not supported and was passed over",
    )


@pytest.mark.parametrize(
    ("user", "field", "problem"),
    [
        ('{\n"effortLevel": "hihg"}', "file:2", "effortLevel must be one of low, medium, high, xhigh, max, not 'hihg'"),
        ('{"permissions":\n{"denny": []}}', "file:2", "permissions.denny is not a setting; did you mean"),
        ('{"permissions": {"deny": ["Bash(rm *)"]}}', "file:1", "permissions.deny holds an entry that is a rule"),
        ('{"permissions": []}', "file:1", "permissions must be an object"),
        ('{"everturn": {"limits": {"max_turn": 1}}}', "file:1", "everturn.limits.max_turn is not a setting; did you"),
        ('{"everturn": {"limits": {"max_turns": -1}}}', "file:1", "everturn.limits.max_turns must be a whole number"),
        ('{"env": {"A": 1}}', "file:1", "env must map texts to texts"),
        ('{"env": {"EVERTURN_HOME": "x"}}', "file:1", "env.EVERTURN_HOME cannot be set here"),
        ('{"env": {"A": "\\u0000"}}', "file:1", "env.A holds a null character"),
        ('{"env": {"A=B": "x"}}', "file:1", "env.A=B is not the name of a variable"),
        ('{"fallbackModel": "a"}', "file:1", "fallbackModel must be a list"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(user, field, problem):
    with pytest.raises(OptionError) as caught:
        merge(user)
    assert caught.value.field == field
    assert caught.value.problem.startswith(problem)
