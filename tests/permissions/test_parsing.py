"""Texts of rules: which work, which are refused, with what reason, and what was probably meant."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import OptionError
from everturn.permissions.rules.given_rules import advise_rule, find_strangers, parse_given
from everturn.permissions.rules.rule import Rule, Source
from everturn.permissions.rules.rule_parser import TOOL_NAMES, RuleProblem, parse_rule
from everturn.ports.policy import Ruling
from everturn.tools.announcements import load_announcements

ALLOW, ASK, DENY = Ruling.ALLOW, Ruling.ASK, Ruling.DENY


@pytest.mark.parametrize(
    ("text", "tool", "specifier"),
    [
        ("Bash", "Bash", None),
        ("Bash(*)", "Bash", "*"),
        ("Bash(npm run:*)", "Bash", "npm run:*"),
        ("Bash(echo (a) b)", "Bash", "echo (a) b"),
        (" Read(./.env) ", "Read", "./.env"),
        ("Edit(/src/**)", "Edit", "/src/**"),
        ("WebFetch(domain:*.example.com)", "WebFetch", "domain:*.example.com"),
        ("WebSearch", "WebSearch", None),
        ("mcp__github", "mcp__github", None),
        ("mcp__github__*", "mcp__github__*", None),
        ("Agent(Explore)", "Agent", "Explore"),
        ("Task(Explore)", "Task", "Explore"),
        ("Skill(plugin:deploy *)", "Skill", "plugin:deploy *"),
        ("Grep", "Grep", None),
        ("my-own_tool", "my-own_tool", None),
    ],
)
@pytest.mark.parametrize("ruling", list(Ruling))
def test_a_rule_is_taken_apart(text, tool, specifier, ruling):
    assert parse_rule(text, ruling, source=Source.USER, folder="/f", origin="x:1") == Rule(
        ruling=ruling, tool=tool, specifier=specifier, source=Source.USER, folder="/f", origin="x:1"
    )


@pytest.mark.parametrize(
    "text", ["*", "mcp__*", "mcp__*__write", "Ba*", "Agent(model:opus)", "Bash(run_in_background:true)"]
)
def test_some_rules_may_deny_and_ask_but_not_allow(text):
    assert [parse_rule(text, ruling).text for ruling in (DENY, ASK)] == [text, text]
    with pytest.raises(RuleProblem):
        parse_rule(text, ALLOW)


@pytest.mark.parametrize(
    ("text", "reason", "nearest"),
    [
        ("", "is empty", ""),
        ("  ", "is empty", ""),
        ("Bash(npm test", "opens a bracket that is not closed", "Bash(npm test)"),
        ("Bsh(npm test", "opens a bracket that is not closed", "Bash(npm test)"),
        ("Bsh(npm test)", "narrows Bsh, which takes nothing between brackets", "Bash(npm test)"),
        ("Raed()", "has nothing between its brackets", "Read"),
        ("WebSearch(x)", "narrows WebSearch, which takes nothing between brackets", "WebSearch"),
        ("my_tool(x)", "narrows my_tool, which takes nothing between brackets", "my_tool"),
        ("Bash(npm) test", "opens a bracket that is not closed", "Bash(npm)"),
        ("Bash npm test)", "closes a bracket that was not opened", "Bash(npm test)"),
        ("Bash (ls)", "has a blank before its bracket", "Bash(ls)"),
        ("Bash()", "has nothing between its brackets", "Bash"),
        ("Bash( )", "has nothing between its brackets", "Bash"),
        ("git status", "does not begin with the name of a tool", "Bash(git status)"),
        ("Bash: npm test", "does not begin with the name of a tool", "Bash(npm test)"),
        ("read:~/x", "does not begin with the name of a tool", "Read(~/x)"),
        ("bash(npm test)", "capitals count", "Bash(npm test)"),
        ("bash(npm test:*)", "capitals count", "Bash(npm test:*)"),
        ("READ(./x)", "capitals count", "Read(./x)"),
        ("write(./x)", "capitals count", "Edit(./x)"),
        ("webfetch(domain:a.com)", "capitals count", "WebFetch(domain:a.com)"),
        ("(ls)", "does not begin with the name of a tool", ""),
        ("Read(\0)", "holds a null character", ""),
        ("Write(docs/**)", "is never consulted", "Edit(docs/**)"),
        ("NotebookEdit(x)", "is never consulted", "Edit(x)"),
        ("Glob(src/**)", "is never consulted", "Read(src/**)"),
        ("Grep(src/**)", "is never consulted", "Read(src/**)"),
        ("Bash(command:ls)", "names the field command", "Bash(ls)"),
        ("Read(file_path:/x)", "names the field file_path", "Read(/x)"),
        ("Write(file_path:/x)", "names the field file_path", "Edit(/x)"),
        ("WebFetch(url:https://a.com/b)", "names the field url", "WebFetch(domain:a.com)"),
        ("WebFetch(example.com)", "does not say what it names", "WebFetch(domain:example.com)"),
        ("WebFetch(https://example.com/x)", "does not say what it names", "WebFetch(domain:example.com)"),
        ("WebFetch(domain:https://example.com/x)", "names no host", "WebFetch(domain:example.com)"),
        ("WebFetch(domain:)", "names no host", "WebFetch(domain:example.com)"),
        ("WebSearch(cats)", "takes nothing between brackets", "WebSearch"),
        ("mcp__github__push(main)", "takes nothing between brackets", "mcp__github__push"),
        ("TodoWrite(x)", "takes nothing between brackets", "TodoWrite"),
        ("Read(!x)", "nothing is taken out of a rule again", ""),
        ("Read([ab)", "opens a [ that is never closed", ""),
        ("Read(a\\)", "ends with a backslash", ""),
        ("Read([[:alpha:]])", "is not supported", ""),
        ("Read(~root/x)", "another user's home", ""),
        ("Read(a/../b)", "goes up (..) in the middle", ""),
        ("Read(//../b)", "goes above the root", ""),
    ],
)
@pytest.mark.parametrize("ruling", list(Ruling))
def test_a_rule_that_could_never_work_is_refused_with_the_nearest_right_form(text, reason, nearest, ruling):
    with pytest.raises(RuleProblem) as refused:
        parse_rule(text, ruling)

    assert reason in str(refused.value)
    assert refused.value.nearest == nearest
    if nearest:
        assert str(refused.value).endswith(f"; did you mean {nearest}?")
        assert parse_rule(nearest, DENY).text == nearest


@given(text=st.text(max_size=40), ruling=st.sampled_from(Ruling))
def test_any_text_is_a_rule_or_a_problem(text, ruling):
    with suppress(RuleProblem):
        assert parse_rule(text, ruling).text == text.strip()


@pytest.mark.parametrize("value", ["Bash", [3], ["Bash("], [""]])
def test_a_wrong_rule_of_the_command_line_is_an_error_that_names_the_option(value):
    with pytest.raises(OptionError, match=r"^disallowed_tools:? "):
        parse_given("disallowed_tools", value, DENY, "/")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Read(/etc/passwd)", "an absolute path has two slashes: Read(//etc/passwd)."),
        ("Read(//etc/passwd)", None),
        ("Read(/src/**)", None),
        ("Bash(/etc/init.d/x)", None),
    ],
)
def test_a_rule_that_is_hardly_what_was_meant_is_told(text, advice):
    told = advise_rule(parse_rule(text, DENY))

    assert told is None if advice is None else told.endswith(advice)


def test_rules_for_tools_that_are_not_there_are_found():
    rules = [parse_rule(text, DENY) for text in ("Raed", "Read(x)", "mcp__later", "Task(x)", "*", "W*")]

    assert [rule.text for rule in find_strangers(rules, {"Read", "Write"})] == ["Raed"]


def test_every_tool_of_ours_is_known_to_the_rules():
    assert set(load_announcements()) <= TOOL_NAMES
