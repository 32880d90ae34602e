"""Credentials are taken out of what the model reads where they are credentials beyond doubt; everything else stays."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from everturn.core.hiding import MARK, Hiding, HidingStream, is_unmistakable
from everturn.core.messages import Kind, Message, result_block, text_block

KEY = "sk-ant-api03-9fK2xQ7wLp4Tz8VbN3cR6yHd"
OTHER = "a81f0c22b7d94e5f9c0d3b2a1e4f5a6b"


def message(*texts):
    return Message(id="m", role="user", kind=Kind.PROMPT, blocks=tuple(map(text_block, texts)))


@pytest.mark.parametrize(
    "word",
    [
        *("placeholder", "anthropic", "not-needed", "12345678", "any", "sk-ant-made-up", "printed-by-the-helper"),
        *("00000000000000000000000000000000", "12345678901234567890123456789012", "abababababababababababab"),
        *(
            "my-company-internal-llm-gateway-key-2024",
            "YourAnthropicApiKeyGoesHerePlease",
            "ANTHROPIC_API_KEY_PLACEHOLDER",
        ),
    ],
)
def test_what_is_short_or_made_of_words_is_never_hidden(word):
    hiding = Hiding([word])

    assert not is_unmistakable(word)
    assert hiding.hide(f"KEY={word}\n{word}") == f"KEY={word}\n{word}"
    assert hiding.count == 0


@pytest.mark.parametrize("key", [KEY, OTHER, "5e17c0de-1f2a-4b3c-8d4e-9a0b1c2d3e4f", "Zx9kQ2mW7rT4yU1pL8vB5nC3"])
def test_what_is_long_and_random_is_a_credential(key):
    assert is_unmistakable(key)


@pytest.mark.parametrize("before", ["", *"=:\"'/@&% \t\n<>()[]`;,é\u00a0", "\\n"])
@pytest.mark.parametrize("after", ["", *"=:\"'/@&% \t\n<>()[]`;,.é\u00a0$", "\\n"])
def test_it_is_hidden_between_boundaries(before, after):
    hiding = Hiding([KEY])

    assert hiding.hide(f"x{before}{KEY}{after}y" if before and after else f"{before}{KEY}{after}") == (
        f"x{before}{MARK}{after}y" if before and after else f"{before}{MARK}{after}"
    )
    assert hiding.count == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\x1b[32m", "\x1b[0m"),
        ("K=\x1b[01;31m\x1b[K", "\x1b[m\x1b[K"),
        ("\x1b[38;2;255;255;255m", "\x1b[0m"),
        ("\\x1b[1m", "\\x1b[0m"),
        ("https%3A%2F%2Fuser%3A", "%40host"),
        (r"{\u0022key\u0022:\u0022", r"\u0022}"),
        (r"\u003c", r"\u003e"),
        ("${KEY:-", "}"),
    ],
)
def test_it_is_hidden_where_colours_and_codes_surround_it(before, after):
    assert Hiding([KEY]).hide(f"{before}{KEY}{after}") == f"{before}{MARK}{after}"

    stream = HidingStream(Hiding([KEY]))
    pieces = [stream.feed(bytes([byte])) for byte in f"{before}{KEY}{after}".encode()]
    assert b"".join([*pieces, stream.finish()]).decode() == f"{before}{MARK}{after}"


@pytest.mark.parametrize("text", [f"x{KEY}", f"{KEY}y", f"_{KEY}", f"{KEY}-2", f"{KEY[:-1]}", f"n{KEY}"])
def test_what_is_only_a_part_of_something_else_stays(text):
    assert Hiding([KEY]).hide(text) == text


def test_of_two_that_begin_alike_each_is_hidden_whole():
    assert Hiding([KEY, f"{KEY}/v2"]).hide(f"{KEY}/v2 {KEY}") == f"{MARK} {MARK}"


def test_it_is_found_in_every_block_of_a_message_and_the_others_stay_themselves():
    made = message(f'KEY="{KEY}"\n', "none")
    result = result_block("t", [{"type": "text", "text": f"a\n{KEY}\nb"}], is_error=True)
    hiding = Hiding([KEY, "none"])

    hidden = hiding.hide_in_message(made)

    assert hidden == message(f'KEY="{MARK}"\n', "none")
    assert hidden.blocks[1] is made.blocks[1]
    assert hiding.hide_in_message(Message(id="r", role="user", kind=Kind.RESULTS, blocks=(result,))).blocks == (
        result_block("t", [{"type": "text", "text": f"a\n{MARK}\nb"}], is_error=True),
    )
    assert hiding.count == 2


@given(st.text(max_size=60))
def test_a_message_without_a_credential_comes_back_itself(said):
    made = message(said, f"x{KEY}x")
    assert Hiding([KEY, "placeholder", said]).hide_in_message(made) is made


pieces = st.lists(
    st.one_of(
        st.sampled_from(
            [
                KEY,
                OTHER,
                KEY[:9],
                KEY[9:],
                "=",
                " ",
                "\n",
                "x",
                "é",
                "\n\n",
                "\\n",
                "\\",
                "n",
                "\u2003",
                "\x1b[1;31m",
                "%3A",
                ":-",
            ]
        ),
        st.text(max_size=5),
    ),
    max_size=12,
)


@given(text=pieces.map("".join), cuts=st.lists(st.integers(0, 400), max_size=12))
@example(text=f" {KEY} ", cuts=[5, 38])
@example(text=f"\n{KEY}", cuts=[38])
def test_a_text_that_comes_in_pieces_is_hidden_as_the_whole_is(text, cuts):
    secrets, data = [KEY, OTHER], text.encode(errors="replace")
    hiding = Hiding(secrets)
    stream = HidingStream(hiding)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})

    given_ = b"".join([*(stream.feed(data[start:end]) for start, end in pairwise(places)), stream.finish()])

    whole = Hiding(secrets)
    assert given_.decode() == whole.hide(data.decode())
    assert hiding.count == whole.count


@given(st.binary(max_size=300), st.integers(0, 300))
def test_bytes_that_are_no_text_come_back_as_they_were(data, cut):
    stream = HidingStream(Hiding([KEY]))
    assert stream.feed(data[:cut]) + stream.feed(data[cut:]) + stream.finish() == data


def test_what_cannot_become_a_credential_is_not_kept_waiting():
    stream = HidingStream(Hiding([KEY]))

    assert stream.feed(b"line one\nsk-") == b"line one\n"
    assert stream.feed(b"learn\n") == b"sk-learn\n"
