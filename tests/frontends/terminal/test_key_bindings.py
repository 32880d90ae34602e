"""Keys and what they do: the table, the file that changes it, and rows of keys."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.frontends.terminal.inputs import Key
from everturn.frontends.terminal.key_bindings import (
    MEANINGS,
    NEEDED,
    SEQUENCE_S,
    USUAL,
    USUAL_BINDINGS,
    KeyAction,
    KeyMatcher,
    Pressed,
    parse_keys,
    write_keys,
)
from everturn.frontends.terminal.key_bindings_file import FILE_NAME, load_bindings, parse_bindings
from everturn.frontends.terminal.keys import KeyDecoder

ESCAPE, CTRL_X, CTRL_E, CTRL_U = Key("escape"), Key("x", ctrl=True), Key("e", ctrl=True), Key("u", ctrl=True)
A = Key("a", "a")


def read(text):
    return parse_bindings(text if isinstance(text, str) else json.dumps(text, indent=1), "keys.json")


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("ctrl+r", (Key("r", ctrl=True),)),
        ("Ctrl+R", (Key("r", ctrl=True),)),
        ("alt+enter", (Key("enter", alt=True),)),
        ("meta+return", (Key("enter", alt=True),)),
        ("shift+tab", (Key("tab", shift=True),)),
        ("escape escape", (ESCAPE, ESCAPE)),
        ("esc  esc", (ESCAPE, ESCAPE)),
        ("ctrl+x ctrl+e", (CTRL_X, CTRL_E)),
        ("ctrl+x e", (CTRL_X, Key("e"))),
        ("ctrl+shift+f5", (Key("f5", ctrl=True, shift=True),)),
        ("ctrl++", (Key("+", ctrl=True),)),
        ("ctrl+plus", (Key("+", ctrl=True),)),
        ("ctrl+space", (Key("space", ctrl=True),)),
        ("alt+é", (Key("é", alt=True),)),
        ("pgdn", (Key("pagedown"),)),
    ],
)
def test_how_a_key_is_written(written, keys):
    assert parse_keys(written) == keys
    assert parse_keys(write_keys(keys)) == keys


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("", "one key, or up to 3 in a row"),
        ("a b c d", "one key, or up to 3 in a row"),
        ("ctl+r", "there is no modifier 'ctl'"),
        ("cmd+k", "cmd is kept by the system"),
        ("ctrl+foo", "there is no key 'foo'"),
        ("f13", "there is no key 'f13'"),
        ("ctrl+", "there is no key ''"),
        ("a", "could not be typed any more"),
        ("shift+a", "could not be typed any more"),
        ("space", "could not be typed any more"),
    ],
)
def test_what_is_no_key_says_why(written, problem):
    with pytest.raises(ValueError, match=problem.replace("(", "\\(")):
        parse_keys(written)


def test_every_action_has_keys_a_meaning_and_no_key_has_two():
    assert set(USUAL) == set(MEANINGS) == set(KeyAction) == set(USUAL_BINDINGS.keys)
    every = [keys for each in USUAL_BINDINGS.keys.values() for keys in each]
    assert len(every) == len(set(every))
    assert USUAL_BINDINGS.tell(KeyAction.NEWLINE) == "ctrl+j, alt+enter, shift+enter"


def test_an_action_in_the_file_has_the_keys_of_the_file():
    found = read({"exit": "ctrl+q", "newline": ["ctrl+n", "alt+enter"], "suspend": []})

    assert found.problems == found.notes == ()
    assert found.tell(KeyAction.EXIT) == "ctrl+q"
    assert found.tell(KeyAction.NEWLINE) == "ctrl+n, alt+enter"
    assert found.tell(KeyAction.SUSPEND) == ""
    assert found.tell(KeyAction.SUBMIT) == "enter"


def test_a_key_of_another_action_moves_and_that_is_told():
    found = read('{\n  "redraw": "ctrl+r",\n  "external_editor": "ctrl+o"\n}')

    assert found.tell(KeyAction.HISTORY_SEARCH) == ""
    assert found.problems == ()
    assert found.notes == (
        "keys.json, line 2: ctrl+r now belongs to redraw; history_search has no key",
        "keys.json, line 3: ctrl+o now belongs to external_editor; open_details has no key",
    )


def test_a_key_that_is_given_twice_stays_with_the_first():
    found = read('{\n"redraw": "ctrl+r",\n\n"suspend":\n["ctrl+z", "ctrl+r"]}')

    assert found.problems == ("keys.json, line 5: ctrl+r belongs to redraw already (line 2); it stays there",)
    assert found.tell(KeyAction.SUSPEND) == "ctrl+z"


def test_what_is_wrong_is_told_with_its_line_and_the_rest_counts():
    found = read(
        '{\n"exi": "ctrl+q",\n"newline": 5,\n"redraw": {"a": ["b"]},\n"suspend": ["ctl+z",\n"ctrl+y"],\n"exit": "x", "exit": "ctrl+q"}'
    )

    assert found.problems == (
        "keys.json, line 2: there is no action 'exi'; did you mean exit?",
        "keys.json, line 3: newline must have a key or a list of keys",
        "keys.json, line 4: redraw must have a key or a list of keys",
        "keys.json, line 5: 'ctl+z': there is no modifier 'ctl'; there are ctrl, alt and shift",
        "keys.json, line 7: 'x': 'x' could not be typed any more; put ctrl or alt before it",
        "keys.json, line 7: exit is given a second time; the first one counts",
        "keys.json: exit needs a key and has none; it keeps ctrl+d",
    )
    assert found.tell(KeyAction.SUSPEND) == "ctrl+y"
    assert found.tell(KeyAction.EXIT) == "ctrl+d"
    assert found.tell(KeyAction.NEWLINE) == USUAL_BINDINGS.tell(KeyAction.NEWLINE)


def test_nobody_is_left_without_a_way_to_send_to_stop_and_to_leave():
    found = read({"newline": ["enter", "ctrl+j"], "interrupt": [], "redraw": "ctrl+d"})

    assert found.tell(KeyAction.SUBMIT) == "enter"
    assert found.tell(KeyAction.NEWLINE) == "ctrl+j"
    assert found.tell(KeyAction.INTERRUPT) == "ctrl+c, escape"
    assert found.tell(KeyAction.EXIT) == "ctrl+d"
    assert found.problems == (
        "keys.json: exit needs a key and has none; it keeps ctrl+d",
        "keys.json: interrupt needs a key and has none; it keeps ctrl+c, escape",
        "keys.json: submit needs a key and has none; it keeps enter",
    )


def test_newline_and_submit_can_change_places():
    found = read({"newline": "enter", "submit": ["ctrl+enter", "alt+enter"]})

    assert found.problems == ()
    assert found.tell(KeyAction.SUBMIT) == "ctrl+enter, alt+enter"


def test_keys_that_a_terminal_writes_alike_are_told():
    assert read({"redraw": "ctrl+i"}).notes == (
        "keys.json, line 2: most terminals cannot tell ctrl+i (redraw) from tab",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "keys.json, line 1: this is no JSON"),
        ('{\n"exit": "ctrl+q"\n"redraw": "ctrl+l"}', "keys.json, line 3: this is no JSON"),
        ('["exit"]', "keys.json, line 1: must hold actions and their keys"),
        ("[" * 5_000, "keys.json, line 1: this is no JSON"),
    ],
)
def test_a_broken_file_leaves_the_usual_keys(text, problem):
    found = read(text)

    assert found.keys == USUAL_BINDINGS.keys
    assert found.problems[0].startswith(problem)


def test_the_file_lies_in_the_home(tmp_path):
    assert load_bindings(str(tmp_path)) == USUAL_BINDINGS
    file = tmp_path / FILE_NAME
    file.write_text('{"exit": "ctrl+q"}')
    assert load_bindings(str(tmp_path)).tell(KeyAction.EXIT) == "ctrl+q"

    file.write_text(" " * 100_000)
    assert "larger than" in load_bindings(str(tmp_path)).problems[0]
    file.unlink()
    file.mkdir()
    assert "is no plain file" in load_bindings(str(tmp_path)).problems[0]
    file.rmdir()
    os.mkfifo(file)
    assert "is no plain file" in load_bindings(str(tmp_path)).problems[0]


NAMES = st.sampled_from([*KeyAction, "exi", ""])
WRITTEN = st.sampled_from(
    ["ctrl+q", "enter", "escape", "escape escape", "ctrl+c", "ctrl+d", "a", "ctl+x", "ctrl+x e", ""]
)
VALUES = st.recursive(WRITTEN | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WRITTEN, inner, max_size=2))  # fmt: skip


@given(st.dictionaries(NAMES, VALUES))
def test_whatever_the_file_says_no_key_has_two_actions_and_what_is_needed_has_one(written):
    found = read(written)
    every = [keys for each in found.keys.values() for keys in each]

    assert list(found.keys) == list(KeyAction)
    assert len(every) == len(set(every))
    assert all(found.keys[action] for action in NEEDED)


def press(*keys, every_s=0.1):
    matcher = KeyMatcher(USUAL_BINDINGS)
    return [each for at, key in enumerate(keys) for each in matcher.press(key, at * every_s)] + matcher.release()


def test_keys_that_do_nothing_go_to_the_text():
    assert press(A, Key("a", "A", shift=True)) == [
        Pressed(released=(A,)),
        Pressed(released=(Key("a", "A", shift=True),)),
    ]


def test_one_key_acts_at_once_also_where_it_begins_a_row():
    assert press(Key("r", ctrl=True)) == [Pressed(KeyAction.HISTORY_SEARCH)]
    assert press(ESCAPE) == [Pressed(KeyAction.INTERRUPT)]
    assert press(ESCAPE, ESCAPE) == [Pressed(KeyAction.INTERRUPT), Pressed(KeyAction.PREVIOUS_PROMPT)]
    assert press(ESCAPE, A) == [Pressed(KeyAction.INTERRUPT), Pressed(released=(A,))]


def test_the_second_key_must_come_soon():
    assert press(ESCAPE, ESCAPE, every_s=SEQUENCE_S + 0.1) == [Pressed(KeyAction.INTERRUPT)] * 2
    assert press(CTRL_X, CTRL_E, every_s=SEQUENCE_S + 0.1) == [Pressed(released=(CTRL_X,)), Pressed(released=(CTRL_E,))]


def test_a_row_is_held_back_until_it_is_whole_or_cannot_be():
    assert press(CTRL_X, CTRL_E) == [Pressed(KeyAction.EXTERNAL_EDITOR)]
    assert press(CTRL_X, A) == [Pressed(released=(CTRL_X,)), Pressed(released=(A,))]
    assert press(CTRL_X, CTRL_X, CTRL_U) == [Pressed(released=(CTRL_X,)), Pressed(KeyAction.CLEAR_INPUT)]
    assert press(CTRL_X) == [Pressed(released=(CTRL_X,))]
    matcher = KeyMatcher(USUAL_BINDINGS)
    assert matcher.press(CTRL_X, 0) == []
    assert matcher.is_waiting
    assert matcher.press(Key("r", ctrl=True), 0.1) == [
        Pressed(released=(CTRL_X,)),
        Pressed(KeyAction.HISTORY_SEARCH),
    ]
    assert not matcher.is_waiting


@given(st.lists(st.sampled_from([A, ESCAPE, CTRL_X, CTRL_E, CTRL_U, Key("enter")])), st.floats(0.01, 2))
def test_no_key_is_lost_and_none_comes_twice(keys, every_s):
    released = [key for pressed in press(*keys, every_s=every_s) for key in pressed.released]
    left = iter(keys)

    assert all(key in left for key in released), "they come in their order"
    assert released.count(A) == keys.count(A)


def test_the_bytes_of_a_terminal_reach_their_action():
    typed = KeyDecoder().feed(b"\x12\x1b[Z\x1b\r\x1b[13;2u\x0a\r")

    assert [each.action for each in press(*typed)] == [
        KeyAction.HISTORY_SEARCH,
        KeyAction.CYCLE_MODE,
        KeyAction.NEWLINE,
        KeyAction.NEWLINE,
        KeyAction.NEWLINE,
        KeyAction.SUBMIT,
    ]
