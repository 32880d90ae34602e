"""Credentials are taken out of a message, and nothing else is."""

from hypothesis import given
from hypothesis import strategies as st

from everturn.core.hiding import hide_in_text, hide_secrets
from everturn.core.messages import Kind, Message, text_block

KEY = "sk-ant-made-up"


def message(*texts):
    return Message(id="m", role="user", kind=Kind.PROMPT, blocks=tuple(map(text_block, texts)))


def test_every_occurrence_is_hidden():
    assert hide_secrets(message(f"{KEY} and {KEY}", "none"), [KEY]) == message("[key] and [key]", "none")


def test_a_secret_is_found_as_json_writes_it():
    assert hide_secrets(message('a "quoted\\key" b'), ['"quoted\\key"']) == message("a [key] b")


def test_what_is_too_short_to_be_a_secret_stays():
    assert hide_secrets(message("the word test"), ["test"]) == message("the word test")


@given(st.text(max_size=40))
def test_a_plain_text_loses_what_a_message_would(said):
    for text in (said, f"{said}{KEY}{said}"):
        assert text_block(hide_in_text(text, [KEY, "test"])) == hide_secrets(message(text), [KEY, "test"]).blocks[0]


@given(st.text(max_size=40))
def test_a_message_without_a_secret_comes_back_itself(said):
    made = message(said)
    assert hide_secrets(made, ["never-in-there"]) is made
