"""Matchers: exact names, lists of them, and regular expressions that are not anchored."""

import pytest

from everturn.hooks.matcher import Matcher


@pytest.mark.parametrize(
    ("matcher", "matched", "passed_over"),
    [
        ("", ["Bash", "mcp__memory__read"], []),
        ("*", ["Bash"], []),
        ("Bash", ["Bash"], ["BashOutput", "bash"]),
        ("Edit|Write", ["Edit", "Write"], ["NotebookEdit"]),
        ("Edit, Write", ["Edit", "Write"], ["Edit, Write"]),
        ("code-reviewer", ["code-reviewer"], ["code-reviewer-2"]),
        ("mcp__memory", [], ["mcp__memory__read"]),
        ("mcp__memory__.*", ["mcp__memory__read"], ["mcp__other__read"]),
        ("Edit.*", ["Edit", "NotebookEdit"], ["Write"]),
        ("^Edit$", ["Edit"], ["NotebookEdit"]),
        ("^my-plugin:reviewer$", ["my-plugin:reviewer"], ["reviewer"]),
        ("(?<kind>Edit|Write)", ["Edit"], ["Read"]),
        ("(", [], ["Bash"]),
    ],
)
def test_trap_1_what_a_matcher_means(matcher, matched, passed_over):
    made = Matcher(matcher)

    assert [value for value in [*matched, *passed_over] if made.matches(value)] == matched


@pytest.mark.parametrize(
    ("name", "older"), [("Agent", "Task"), ("TaskOutput", "BashOutput"), ("TaskStop", "KillShell")]
)
def test_trap_15_older_names_of_tools_are_understood(name, older):
    assert Matcher(older).matches(name)
    assert not Matcher(older).matches("Bash")


def test_some_events_take_fewer_characters_for_names():
    assert not Matcher("rate_limit, overloaded", strict_names=True).matches("overloaded")
    assert Matcher("rate_limit|overloaded", strict_names=True).matches("overloaded")


def test_what_is_no_regular_expression_says_so():
    assert "no regular expression" in Matcher("Bash(").problem
    assert Matcher("Bash.*").problem == ""
