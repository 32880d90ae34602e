"""The prompt's keys, as people know them from their shell and from vi."""

import pytest

from everturn.frontends.terminal.editor import PromptEditor
from everturn.frontends.terminal.keys import KeyDecoder
from everturn.frontends.terminal.prompt_area import lay_prompt


def press(editor, data):
    decoder = KeyDecoder()
    for key in (*decoder.feed(data.encode()), *decoder.flush()):
        editor.press(key)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("hello", "hello"),
        ("hello\x01X", "Xhello"),
        ("one two\x17", "one "),
        ("one two\x1b\x7f", "one "),
        ("one two\x1bb\x1bd", "one "),
        ("abc\x02\x02\x0b", "a"),
        ("abc\x15\x19", "abc"),
        ("abc\x1b[D\x1b[DX", "aXbc"),
        ("abc\x1b[HX\x1b[FY", "XabcY"),
        ("one two\x1b[1;5DX", "one Xtwo"),
        ("abc\x7f", "ab"),
        ("漢字\x7f", "漢"),
        ("ab\x1b[D\x1b[3~", "a"),
    ],
)
async def test_keys_of_emacs(typed, text):
    editor = PromptEditor()

    press(editor, typed)

    assert editor.text == text


async def test_keys_of_vi():
    editor = PromptEditor(vi=True)

    press(editor, "one two three")
    press(editor, "\x1b")
    modes = [editor.vi_mode]
    press(editor, "0dwA!")
    modes.append(editor.vi_mode)

    assert (editor.text, modes) == ("two three!", ["normal", "insert"])


async def test_undo_takes_back_what_was_typed_at_once():
    editor = PromptEditor()
    editor.set("before")
    editor.insert(" pasted")

    press(editor, "\x1f")

    assert editor.text == "before"


async def test_a_text_that_is_cleared_leaves_nothing_to_undo():
    editor = PromptEditor()
    press(editor, "secret")
    editor.clear()

    press(editor, "\x1f")

    assert editor.text == ""


def test_a_long_prompt_is_wrapped_and_shows_the_rows_around_the_cursor():
    whole = lay_prompt("one\ntwo three four", 18, columns=12, most=10)
    part = lay_prompt("\n".join("abcdef"), 4, columns=12, most=2)

    assert whole == (["> one", "  two three", "   four"], 2, 7)
    assert part == (["  b", "  c"], 1, 2)
