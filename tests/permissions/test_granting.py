"""What a longer yes may add to the rules, and what it covers in words."""

import pytest

from everturn.permissions.grants import Grant, describe_rule, plan_grants
from everturn.permissions.rules.rule_parser import parse_rule
from everturn.ports.policy import Call, Ruling, Scope
from everturn.ports.tool import Traits


def call(name, traits=None, **fields):
    return Call(id="1", name=name, input=fields, traits=traits or Traits(), line=name)


def both(*rules):
    return Grant(scope=Scope.SESSION, rules=rules), Grant(scope=Scope.ALWAYS, rules=rules)


@pytest.mark.parametrize(
    ("asked", "grants"),
    [
        (call("WebFetch", url="https://Docs.Example.com/a?b"), both("WebFetch(domain:docs.example.com)")),
        (call("WebFetch", url="not a url"), ()),
        (call("WebSearch", query="x"), both("WebSearch")),
        (call("mcp__git__push"), both("mcp__git__push")),
        (call("Agent", subagent_type="Explore"), both("Agent(Explore)")),
        (call("Skill", skill="deploy", args="now"), both("Skill(deploy)")),
        (call("Edit", file_path="a"), (Grant(scope=Scope.SESSION, mode="acceptEdits"),)),
        (call("Write", file_path="a"), (Grant(scope=Scope.SESSION, mode="acceptEdits"),)),
        (call("NotebookEdit", notebook_path="a"), (Grant(scope=Scope.SESSION, mode="acceptEdits"),)),
        (call("Read", file_path="/etc/hosts"), (Grant(scope=Scope.SESSION, rules=("Read(//etc/hosts)",)),)),
        (call("Grep", path="/etc/", pattern="x"), (Grant(scope=Scope.SESSION, rules=("Read(//etc/**)",)),)),
        (call("Read", file_path="../other"), ()),
        (call("Read", file_path="/etc/../root/x"), ()),
        (call("Read", file_path="/etc/a*"), ()),
        (call("AskUserQuestion", Traits(needs_person=True)), ()),
    ],
)
def test_the_narrowest_rule_that_makes_sense(asked, grants):
    assert plan_grants(asked) == grants
    for grant in grants:
        for rule in grant.rules:
            assert parse_rule(rule, Ruling.ALLOW).text == rule


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("Bash(npm test *)", "`npm test` alone, or with anything after it"),
        ("Bash(npm test:*)", "`npm test` alone, or with anything after it"),
        ("Bash(make)", "exactly `make`"),
        ("Bash(git * main)", "`git * main`, where each * matches any text"),
        ("WebFetch(domain:a.example)", "any page of a.example"),
        ("Read(//etc/hosts)", "reading /etc/hosts"),
        ("Read(//etc/**)", "reading whatever is below /etc"),
        ("Edit(src/**)", "changing src/**"),
        ("Agent(Explore)", "Agent with Explore"),
        ("WebSearch", "every call of WebSearch"),
    ],
)
def test_a_rule_in_words(rule, words):
    assert describe_rule(rule) == words
