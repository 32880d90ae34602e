"""The command line as data: flags, values, and what is left."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.cli.arguments import parse_arguments, parse_command
from everturn.cli.commands import find_command
from everturn.cli.dispatch import asks_for_help, check_command, find_action
from everturn.cli.errors import UsageError
from everturn.cli.flags import BY_SPELLING, FLAGS
from everturn.cli.syntax import Arguments
from everturn.settings.declaration import Takes
from everturn.settings.options import Options


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-p", "Go"], Arguments(given={"--print": True}, words=("Go",))),
        (["Go", "--print"], Arguments(given={"--print": True}, words=("Go",))),
        (["-p", "--max-turns=3", "Go"], Arguments(given={"--print": True, "--max-turns": 3}, words=("Go",))),
        (["--max-budget-usd", "0.5"], Arguments(given={"--max-budget-usd": 0.5})),
        (["-r", "abc"], Arguments(given={"--resume": "abc"})),
        (["--model", "a", "--model", "b"], Arguments(given={"--model": "b"})),
        (["--system-prompt=You are: kind = good"], Arguments(given={"--system-prompt": "You are: kind = good"})),
        (
            ["--allowedTools", "Read,Glob Grep", "--allowed-tools", "Bash"],
            Arguments(given={"--allowed-tools": ["Read", "Glob", "Grep", "Bash"]}),
        ),
        (
            ["--allowed-tools", "Bash(make *)", "Bash(git log *)", "Go (now)"],
            Arguments(given={"--allowed-tools": ["Bash(make *)", "Bash(git log *)"]}, words=("Go (now)",)),
        ),
        (["-p", "- a list, not a flag"], Arguments(given={"--print": True}, words=("- a list, not a flag",))),
        (["-p", "--", "--model"], Arguments(given={"--print": True}, words=("--model",))),
        (["--debug", "Go"], Arguments(given={"--debug": True}, words=("Go",))),
        (["--debug=a.log"], Arguments(given={"--debug": "a.log"})),
        (["--append-system-prompt", "-x"], Arguments(given={"--append-system-prompt": "-x"})),
    ],
)
def test_words_become_flags_and_a_prompt(words, expected):
    assert parse_arguments(words, FLAGS) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--outputformat", "json"], "unknown flag '--outputformat'; did you mean '--output-format'?"),
        (["--model"], "--model needs a value: --model NAME"),
        (["--model", "--verbose"], "--model needs a value: --model NAME"),
        (["--verbose=yes"], "--verbose takes no value"),
        (["--max-budget-usd", "a lot"], "--max-budget-usd must be a number, not 'a lot'"),
        (["--output-format", "jsn"], "--output-format must be one of text, json, stream-json, not 'jsn'; did you"),
        (["--input-format", "stream-json"], "--input-format must be one of text, not 'stream-json'"),
    ],
)
def test_what_is_wrong_is_named(words, said):
    with pytest.raises(UsageError) as caught:
        parse_arguments(words, FLAGS)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("flag", ["--bogus", "--qqqqqq", "--colour", "--foo", "--yes"])
def test_a_flag_like_no_other_gets_no_suggestion(flag):
    with pytest.raises(UsageError) as caught:
        parse_arguments([flag], FLAGS)
    assert str(caught.value) == f"unknown flag {flag!r}"


@pytest.mark.parametrize(
    ("flag", "meant"),
    [
        ("--modle", "--model"),
        ("--max-turn", "--max-turns"),
        ("--verbos", "--verbose"),
        ("-model", "--model"),
        # Other programs' spellings are understood, and not suggested.
        ("--askTool", "--ask-tools"),
        ("--allowedtool", "--allowed-tools"),
    ],
)
def test_a_slip_gets_what_was_meant(flag, meant):
    with pytest.raises(UsageError, match=f"did you mean '{meant}'"):
        parse_arguments([flag], FLAGS)


@given(st.lists(st.one_of(st.sampled_from(sorted(BY_SPELLING)), st.text(max_size=8), st.just("--"))))
@settings(max_examples=200)
def test_any_line_is_understood_or_refused_in_words(words):
    with suppress(UsageError):
        assert set(parse_arguments(words, FLAGS).given) <= {flag.name for flag in FLAGS}


@given(st.lists(st.text(min_size=1).filter(lambda word: not word.startswith("-")), max_size=4))
def test_words_without_a_dash_are_kept_as_they_are(words):
    assert parse_arguments(words, FLAGS) == Arguments(given={}, words=tuple(words))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["confg"], "unknown command 'confg'; did you mean 'config'?"),
        (["help"], "unknown command 'help'; did you mean '--help'?"),
        (["plugin"], "unknown command 'plugin' (there are: doctor, config, "),
        (["plugin", "add", "x", "--", "npx"], "unknown command 'plugin' (there are: "),
        (["setup-token"], "unknown command 'setup-token' (there are: "),
    ],
)
def test_a_word_that_is_no_prompt_is_an_unknown_command(words, said):
    with pytest.raises(UsageError) as caught:
        check_command(words)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "words", [[], ["Explain"], ["doctor, what is wrong?"], ["fix the tests"], ["fix", "tests"], ["-"]]
)
def test_what_may_be_a_prompt_is_no_unknown_command(words):
    check_command(words)


def test_every_flag_fits_what_it_sets():
    options = set(Options.__struct_fields__)
    assert {flag.option for flag in FLAGS if flag.option} <= options
    assert len(BY_SPELLING) == sum(len(flag.spellings) for flag in FLAGS)
    assert all(bool(flag.value) == (flag.takes is not Takes.NOTHING) for flag in FLAGS)


@pytest.mark.parametrize(
    ("words", "title", "rest"),
    [
        ([], "sessions list", []),
        (["--all"], "sessions list", ["--all"]),
        (["search", "x"], "sessions search", ["x"]),
        (["--help"], "sessions", ["--help"]),
        (["lsit"], "sessions", ["lsit"]),
    ],
)
def test_the_action_that_is_meant_is_found(words, title, rest):
    _, found, behind = find_action(find_command("sessions"), words)
    assert (found, behind) == (title, rest)


@pytest.mark.parametrize(
    ("words", "literal", "asked"),
    [
        (["x", "-h"], False, True),
        (["x", "--", "--help"], False, False),
        (["--help"], True, True),
        (["KEY", "--help"], True, False),
    ],
)
def test_help_is_asked_for_before_two_dashes_and_never_by_a_value(words, literal, asked):
    assert asks_for_help(words, literal=literal) is asked


@pytest.mark.parametrize(
    ("title", "words", "said"),
    [
        ("cost", ["a", "b"], "this is how it is written: everturn cost [SESSION]; one session at a time"),
        ("sessions show", [], "this is how it is written: everturn sessions show SESSION"),
        ("sessions rename", ["x"], "this is how it is written: everturn sessions rename SESSION TITLE…"),
        (
            "sessions list",
            ["a b"],
            "sessions list takes no words, only flags; did you mean: everturn sessions search 'a b'",
        ),
        ("doctor", ["json"], "doctor takes no words, only flags, not 'json'; did you mean '--json'?"),
        ("permissions test", ["git", "--force"], "unknown flag '--force'; write the command in quotes"),
        (
            "completion",
            ["bsh"],
            "this is how it is written: everturn completion bash|zsh|fish, not 'bsh'; did you mean 'bash'?",
        ),
        ("sessions search", ["x", "--limit", "-1"], "--limit must be a whole number of at least 0, not '-1'"),
    ],
)
def test_every_command_is_told_what_is_wrong_in_the_same_words(title, words, said):
    name, _, action = title.partition(" ")
    command = find_command(name)
    with pytest.raises(UsageError) as caught:
        parse_command(words, command.find_action(action) or command, title)
    assert str(caught.value) == said
