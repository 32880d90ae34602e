"""Which source wins, what is joined, what is refused, and what is only warned about."""

import json

import pytest

from everturn.core.limits import Limits
from everturn.ports.policy import Ruling
from everturn.ports.rules import WrittenRule
from everturn.settings.keys import KEYS
from everturn.settings.options import Options
from everturn.settings.sources import FoundSettings

SOURCES = ("user", "foreign project", "project", "foreign local", "local")
"""Lowest first."""


def test_the_highest_source_wins_and_says_where_it_is_from(ground):
    user = ground.write("user", {"model": "a", "effortLevel": "low", "cleanupPeriodDays": 3})
    merged = ground.merge({"ANTHROPIC_MODEL": "b"}, '{"effortLevel": "high"}')
    assert merged.found == {
        "model": FoundSettings(value="b", origin="ANTHROPIC_MODEL", by_environment=True),
        "effortLevel": FoundSettings(value="high", origin="--settings"),
        "cleanupPeriodDays": FoundSettings(value=3, origin=str(user)),
    }
    assert merged.options() == {"effort": "high", "trusted": True}


def test_files_beat_each_other_in_their_order(ground):
    for name in SOURCES:
        ground.write(name, {"model": name})
        assert ground.merge().found["model"].value == name
    assert ground.merge(given='{"model": "given"}').found["model"].value == "given"
    ground.write("managed", {"model": "managed"})
    assert ground.merge(given='{"model": "given"}').found["model"].value == "managed"


def test_only_the_sources_that_were_asked_for_are_read_but_for_the_administrators(ground):
    for name in (*SOURCES, "managed"):
        ground.write(name, {"permissions": {"deny": [f"mcp__{name.replace(' ', '_')}__x"]}})
    assert [rule.source for rule in ground.merge(wanted=("user",)).permissions.rules] == ["user", "managed"]
    assert [rule.source for rule in ground.merge(wanted=("local",)).permissions.rules] == ["local", "local", "managed"]
    assert [rule.source for rule in ground.merge(wanted=()).permissions.rules] == ["managed"]


def test_rules_are_joined_and_each_knows_its_file_line_and_folder(ground):
    user = ground.write("user", '{"permissions": {\n"allow": ["Read",\n\n"Bash(ls)"],\n"deny": ["Bash(rm *)"]}}')
    project = ground.write("foreign project", {"permissions": {"ask": ["WebFetch"]}})
    rules = ground.merge(given='{"permissions": {"allow": ["Glob"]}}').permissions.rules
    home, folder = str(ground.home), str(ground.folder)

    def rule(text, ruling, source, folder, origin):
        return WrittenRule(text=text, ruling=ruling, source=source, folder=folder, origin=origin)

    assert rules == (
        rule("Read", Ruling.ALLOW, "user", home, f"{user}:2"),
        rule("Bash(ls)", Ruling.ALLOW, "user", home, f"{user}:4"),
        rule("Bash(rm *)", Ruling.DENY, "user", home, f"{user}:5"),
        rule("WebFetch", Ruling.ASK, "project", folder, f"{project}:1"),
        rule("Glob", Ruling.ALLOW, "command line", folder, "--settings:1"),
    )


def test_lists_of_models_are_replaced_and_lists_of_permissions_joined(ground):
    ground.write(
        "user", {"permissions": {"allow": ["Read"], "additionalDirectories": ["/a"]}, "fallbackModel": ["a", "b"]}
    )
    merged = ground.merge(
        given='{"permissions": {"allow": ["Glob", "Read"], "additionalDirectories": ["../b"]}, "fallbackModel": ["c"]}'
    )
    assert merged.found["permissions.allow"].value == ["Read", "Glob"]
    assert merged.found["fallbackModel"].value == ["c"]
    assert merged.permissions.paths == ("/a", str(ground.folder.parent / "b"))


def test_a_file_given_by_name_is_the_anchor_of_its_own_rules(ground, tmp_path):
    path = tmp_path / "given.json"
    path.write_text('{"permissions": {"deny": ["Read(/x)"]}}')
    (rule,) = ground.merge(given=str(path)).permissions.rules
    assert (rule.folder, rule.origin) == (str(tmp_path), f"{path}:1")


def test_managed_files_are_read_in_order_and_all_of_them_count(ground):
    ground.write("managed", {"model": "first", "permissions": {"deny": ["A"]}})
    more = ground.managed / "managed-settings.d"
    more.mkdir()
    (more / "20.json").write_text('{"model": "third", "permissions": {"deny": ["C"]}}')
    (more / "10.json").write_text('{"model": "second", "permissions": {"deny": ["B"]}}')
    (more / "README").write_text("no settings")
    merged = ground.merge()
    assert merged.found["model"].value == "third"
    assert [rule.text for rule in merged.permissions.rules] == ["A", "B", "C"]


def test_where_only_managed_rules_may_allow_everybody_may_still_forbid(ground):
    ground.write("managed", {"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Read"]}})
    ground.write("user", {"permissions": {"allow": ["Bash"], "deny": ["Write"], "ask": ["Edit"]}})
    rules = ground.merge(given='{"permissions": {"allow": ["Glob"]}}').permissions.rules
    assert [(rule.text, rule.ruling) for rule in rules] == [
        ("Edit", Ruling.ASK),
        ("Write", Ruling.DENY),
        ("Read", Ruling.ALLOW),
    ]


def test_what_only_an_administrator_may_say_is_ignored_elsewhere(ground):
    path = ground.write("user", {"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Bash"]}})
    merged = ground.merge()
    assert [rule.text for rule in merged.permissions.rules] == ["Bash"]
    assert merged.warnings == (
        f"{path}:1: allowManagedPermissionRulesOnly counts only in managed settings; it was ignored",
    )


def test_variables_lie_over_those_of_the_files_and_under_those_given(ground):
    ground.write("user", {"env": {"A": "1", "B": "1", "C": "1", "D": "1", "E": "1"}})
    ground.write("project", {"env": {"D": "2"}})
    ground.write("managed", {"env": {"E": "4"}})
    merged = ground.merge({"B": "2", "C": "2"}, '{"env": {"C": "3", "E": "3"}}')
    assert merged.env == {"A": "1", "B": "2", "C": "3", "D": "2", "E": "4"}
    assert merged.env_origins == {
        "A": str(ground.files["user"]),
        "B": "B",
        "C": "--settings",
        "D": str(ground.files["project"]),
        "E": str(ground.files["managed"]),
    }


def test_a_variable_of_the_file_decides_like_any_other(ground):
    ground.write("user", {"env": {"ANTHROPIC_MODEL": "b"}, "model": "a"})
    assert ground.merge().found["model"].value == "b"


def test_a_key_in_the_environment_beats_the_helper_of_the_file_but_not_a_given_one(ground):
    ground.write("user", {"apiKeyHelper": "print-key"})
    assert ground.merge().options()["api_key_helper"] == "print-key"
    assert "api_key_helper" not in ground.merge({"ANTHROPIC_API_KEY": "k"}).options()
    given = '{"apiKeyHelper": "print-other"}'
    assert ground.merge({"ANTHROPIC_API_KEY": "k"}, given).options()["api_key_helper"] == "print-other"


def test_limits_of_the_file_give_way_to_their_variables(ground):
    limits = {"tries": 3, "stall_s": 5, "max_turns": 7, "output_cap": 100, "escalate": True}
    ground.write("user", {"everturn": {"limits": limits}})
    env = {"CLAUDE_CODE_MAX_RETRIES": "1", "EVERTURN_STALL_S": "9", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "50"}
    assert ground.merge(env).options() == {"limits": {"max_turns": 7}, "trusted": True}


def test_every_limit_is_a_setting_and_every_setting_fits_its_option():
    limits = {name: getattr(Limits(), name) for name in Limits.__struct_fields__}
    for name, value in limits.items():
        assert KEYS[f"everturn.limits.{name}"].check(value) is None
    assert {key.option for key in KEYS.values() if key.option} <= set(Options.__struct_fields__)


def test_manual_is_another_name_for_default(ground):
    ground.write("user", {"permissions": {"defaultMode": "manual"}})
    assert ground.merge().options()["permission_mode"] == "default"


def test_what_is_not_supported_is_passed_over_with_a_warning(ground):
    path = ground.write("user", '{\n"$schema": "x",\n"modle": "a",\n"statusLine": {}}')
    merged = ground.merge()
    assert (merged.found, merged.problems) == ({}, ())
    assert merged.warnings == (
        f"{path}:3: modle is not supported and was passed over; did you mean 'model'?",
        f"{path}:4: statusLine is not supported and was passed over",
    )


def test_a_file_of_another_program_is_no_list_of_mistakes(ground):
    ground.foreign_home = True
    values = {
        "permissions": {"allow": ["Bash(ls)"], "disableAutoMode": "disable", "defaultMode": "auto"},
        "outputStyle": "x",
        "effortLevel": "ultra",
        "everturn": 5,
    }
    path = ground.write("user", values)
    merged = ground.merge()
    assert [rule.text for rule in merged.permissions.rules] == ["Bash(ls)"]
    assert merged.problems == ()
    assert [warning.partition(" is passed over: it must")[0] for warning in merged.warnings] == [
        f"{path}:1: permissions.defaultMode",
        f"{path}:1: effortLevel",
        f"{path}:1: everturn",
        f"{path}: not supported and passed over: permissions.disableAutoMode, outputStyle",
    ]


@pytest.mark.parametrize("file", ["user", "foreign project", "local"])
@pytest.mark.parametrize(
    "values",
    [
        {"permissions": {"denny": []}},
        {"permissions": {"deny": "Bash"}},
        {"permissions": {"ask": [5]}},
        {"permissions": 1},
    ],
)
def test_what_was_to_protect_is_never_passed_over_in_any_file(ground, file, values):
    ground.foreign_home = True
    ground.write(file, values)
    assert len(ground.merge().problems) == 1


@pytest.mark.parametrize(
    ("user", "line", "problem"),
    [
        ('{\n"effortLevel": "hihg"}', 2, "effortLevel must be one of low, medium, high, xhigh, max, not 'hihg'"),
        ('{"permissions":\n{"denny": []}}', 2, "permissions.denny is not a setting; did you mean"),
        ('{"permissions": []}', 1, "permissions must be an object"),
        ('{"everturn": {"limits": {"max_turn": 1}}}', 1, "everturn.limits.max_turn is not a setting; did you"),
        ('{"everturn": {"limits": {"max_turns": -1}}}', 1, "everturn.limits.max_turns must be a whole number"),
        ('{"env": {"A": 1}}', 1, "env must map texts to texts"),
        ('{"env": {"EVERTURN_HOME": "x"}}', 1, "env.EVERTURN_HOME cannot be set here"),
        ('{"env": {"EVERTURN_TRUST": "1"}}', 1, "env.EVERTURN_TRUST cannot be set here"),
        ('{"env": {"A": "\\u0000"}}', 1, "env.A holds a null character"),
        ('{"env": {"A=B": "x"}}', 1, "env.A=B is not the name of a variable"),
        ('{"fallbackModel": "a"}', 1, "fallbackModel must be a list"),
        ('{\n"permissions.deny": ["Bash"]}', 2, "permissions.deny is not a setting: a dot in a name leads nowhere"),
        ('{\n"x": "é",\n"y": NaN}', 3, "is not valid JSON: invalid character"),
        (
            '{\n"x": "\\ud83c\\udf89\\\\ud800",\n"y": "\\ud800!"}',
            3,
            "is not valid JSON: \\ud800 is half of a character",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(ground, user, line, problem):
    path = ground.write("user", user)
    (found,) = ground.merge().problems
    assert found.field == f"{path}:{line}"
    assert found.problem.startswith(problem)


def test_a_file_that_cannot_be_read_is_a_problem_and_the_others_still_count(ground):
    ground.write("user", {"model": "a", "permissions": {"deny": ["Bash"]}})
    broken = ground.write("foreign project", '{"permissions": {"deny": ["Write"]\n')
    ground.write("managed", {"permissions": {"deny": ["Edit"]}})
    merged = ground.merge()
    assert [problem.field for problem in merged.problems] == [f"{broken}:2"]
    assert [rule.text for rule in merged.permissions.rules] == ["Bash", "Edit"]
    assert merged.found["model"].value == "a"


def test_a_broken_flag_takes_nothing_from_the_administrator(ground):
    ground.write("managed", {"permissions": {"deny": ["Edit"]}})
    merged = ground.merge(given="{")
    assert len(merged.problems) == 1
    assert [rule.text for rule in merged.permissions.rules] == ["Edit"]


def test_started_in_the_users_own_folder_there_is_one_file_and_it_is_the_users(ground):
    grounds = ground.grounds
    home = ground.folder / ".everturn"
    home.mkdir()
    (home / "settings.json").write_text(json.dumps({"model": "mine", "permissions": {"allow": ["Bash"]}}))
    from everturn.settings.places import SettingsRoots
    from everturn.settings.sources import load_merged

    at_home = SettingsRoots(home=str(home), folder=grounds.folder, root=grounds.folder, managed=())
    merged = load_merged(at_home, {})
    assert merged.found["model"].value == "mine"
    assert [rule.source for rule in merged.permissions.rules] == ["user"]


def test_ten_thousand_rules_are_read_in_a_moment(ground):
    import time

    ground.write("user", {"permissions": {"deny": [f"Bash(program-{number} *)" for number in range(10_000)]}})
    start = time.process_time()
    rules = ground.merge().permissions.rules
    assert time.process_time() - start < 1
    assert len(rules) == 10_000


@pytest.mark.parametrize(
    ("source", "name"), [("user", "allow"), ("user", "deny"), ("foreign project", "ask"), ("foreign project", "deny")]
)
def test_more_rules_than_ten_thousand_in_a_list_are_a_problem_and_never_a_part_of_them(ground, source, name):
    rules = [f"Read(**/a{number}*/**/b*)" for number in range(10_001)]
    path = ground.write(source, {"permissions": {name: rules}})

    merged = ground.merge()

    assert [str(problem) for problem in merged.problems] == [
        f"{path}:1: permissions.{name} holds 10,001 entries, and 10,000 are the most"
    ]
    assert merged.permissions.rules == ()
