"""What a person sees before they consent: every character of it, and none that a terminal would obey."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.frontends.asking.subjects import render_subject
from everturn.frontends.asking.visible import make_visible, wrap_visible
from everturn.frontends.flow import width_of
from everturn.ports.policy import Call
from everturn.ports.tool import Confinement, Traits

ANYTHING = st.text(st.characters(codec=None), max_size=60)
NASTY = st.text(
    st.sampled_from("a\x1b[2J\x07\x9b\u202e\u2066\u200b\u200d\ufeff\u3164\ufe0f\r\t\0\n\U000e0041 ü漢"), max_size=40
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git push", "git push"),
        ("\x1b[2J\x07", "\\e[2J\\x07"),
        ("a\u202eb\u200bc", "a\\u202eb\\u200bc"),
        ("tab\tcr\rnul\0", "tab\\tcr\\rnul\\0"),
        ("\U000e0041", "\\U000e0041"),
        ("a\u00a0b\u3164c\ufe0f", "a\\xa0b\\u3164c\\ufe0f"),
        ("naïve 文件 🎉", "naïve 文件 🎉"),
        ("\udc80", "\\udc80"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_written_out(text, shown):
    assert make_visible(text) == shown


@given(st.one_of(ANYTHING, NASTY))
@settings(max_examples=200)
def test_nothing_that_is_shown_moves_reorders_or_hides(text):
    shown = make_visible(text)

    assert shown.isprintable()
    assert not {unicodedata.category(mark) for mark in shown} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    shown.encode()


@given(st.one_of(ANYTHING, NASTY), st.integers(2, 40))
@settings(max_examples=200)
def test_wrapping_leaves_nothing_out_and_fits(text, columns):
    rows = wrap_visible(text, columns)

    assert "".join(rows) == "".join(make_visible(line) for line in text.split("\n"))
    assert all(width_of(row) <= columns for row in rows)
    assert len(rows) >= text.count("\n") + 1


def subject(name, confinement=Confinement.NONE, **fields):
    traits = Traits(confinement=confinement)
    return render_subject(Call(id="1", name=name, input=fields, traits=traits, line=name))


@pytest.mark.parametrize(
    ("call", "title", "texts"),
    [
        (
            subject("Bash", command="make\nmake test", run_in_background=True, description="Build"),
            "Bash wants to run a command in the background",
            ["make\nmake test", "# Build"],
        ),
        (
            subject("Bash", Confinement.LEAVES, command="make", dangerouslyDisableSandbox=True),
            "Bash wants to run a command outside the sandbox",
            ["make"],
        ),
        (
            subject("Bash", command="make", dangerouslyDisableSandbox=True),
            "Bash wants to run a command",
            ["make"],
        ),
        (
            subject("Edit", file_path="/a.py", old_string="one\ntwo", new_string="three\n", replace_all=True),
            "Edit wants to change a file everywhere",
            ["/a.py", "- one", "- two", "+ three"],
        ),
        (subject("Write", file_path="/a.py", content="x"), "Write wants to write a whole file", ["/a.py", "+ x"]),
        (
            subject("NotebookEdit", notebook_path="/n.ipynb", cell_id="c1", new_source="x"),
            "NotebookEdit wants to change a notebook",
            ["/n.ipynb", "replace cell c1", "+ x"],
        ),
        (
            subject("WebFetch", url="https://a.example/", prompt="Sum up"),
            "WebFetch wants to fetch a page",
            ["https://a.example/", "Sum up"],
        ),
        (subject("mcp__x__y", a=[1], b="t"), "mcp__x__y wants to run", ["a: [1]", "b: t"]),
        (subject("mcp__x__y"), "mcp__x__y wants to run", ["(no input)"]),
        (subject("Bash", command=7), "Bash wants to run a command", ["7"]),
    ],
)
def test_each_tool_is_shown_by_what_it_would_do(call, title, texts):
    assert call.title == title
    assert [shown.text for shown in call.texts] == texts


def test_a_tool_named_like_an_escape_is_shown_escaped():
    title = make_visible(subject("evil\x1b[2J\nBash").title)

    assert re.search(r"[\x00-\x1f]", title) is None
