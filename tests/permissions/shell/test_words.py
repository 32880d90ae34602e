"""What we say a word means is what bash makes of it."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.permissions.shell.reading.words import read_word

PIECES = st.sampled_from(
    ["a", "b-c", "'x y'", "''", '"x y"', '""', '"a\\"b"', '"\\\\"', '"\\$x"', '"\\n"', "\\'", '\\"', "\\\\", "\\ ", "\\$", "\\;", "$'a\\tb'",
     "$'\\x41\\101'", "$'it\\'s'", "$'\\\\'", "$'\\q'", "$", "a$", '"$"', "=", ":", "~", "!", "%", "^", "{}", "{a}", "'\\'", "'\"'", '"\'"', "@", "+", "]", "#"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(PIECES, min_size=1, max_size=5).map("".join), min_size=1, max_size=30))
def test_a_fixed_word_has_the_value_that_bash_gives_it(texts):
    fixed = [(text, word.fixed) for text in texts if not (word := read_word(text)).unsure and word.fixed is not None]

    script = "".join(f"printf '%s\\0' {text}\n" for text, _ in fixed)
    told = subprocess.run([shutil.which("bash"), "-c", script], capture_output=True, check=True, env={}, cwd="/").stdout

    assert [value for _, value in fixed] == told.decode().split("\0")[:-1]


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("$HOME/x", "\1/x"),
        ("~/x", "\1/x"),
        ("~root/x", "\1/x"),
        ('"$PWD"', "\2"),
        ("rm${IFS}-rf", "rm\3-rf"),
        ("a$(b)", "a\0"),
        ("'$HOME'", "$HOME"),
    ],
)
def test_expansions_leave_marks_in_the_template(text, template):
    holes = [(text.index("$("), len(text))] if "$(" in text else []

    assert read_word(text, holes).template == template


@pytest.mark.parametrize(
    "text",
    [
        "${x@P}",
        "${!x}",
        "$((a[0]))",
        "$[1]",
        "`a`",
        "$(a)",
        "a b",
        "a;b",
        "'a",
        '"a',
        "a\\\nb",
        '$"a"',
        "#a",
        "a\\",
        "${x:=y}",
        "${x:-$(a)}",
        "${x[0]}",
    ],
)
def test_what_may_be_more_than_a_word_or_run_code_leaves_a_doubt(text):
    assert read_word(text).unsure
