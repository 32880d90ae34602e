"""Bytes of the terminal become input: the same for any cut of them, in every encoding, and nothing that is sent crashes it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured

from everturn.frontends.terminal.keys import (
    MAX_PASTE,
    MAX_SEQUENCE,
    MAX_STRING,
    AnswerKind,
    Focus,
    Key,
    KeyDecoder,
    Paste,
    TerminalAnswer,
)

UP, ENTER, ESCAPE = Key("up"), Key("enter"), Key("escape")
KEYS = {
    # Text.
    b"a": Key("a", "a"),
    b"A": Key("a", "A", shift=True),
    b"!": Key("!", "!"),
    b" ": Key("space", " "),
    "é".encode(): Key("é", "é"),
    "É".encode(): Key("é", "É", shift=True),
    "漢".encode(): Key("漢", "漢"),
    "😀".encode(): Key("😀", "😀"),
    # Control characters.
    b"\r": ENTER,
    b"\n": Key("j", ctrl=True),
    b"\t": Key("tab"),
    b"\x7f": Key("backspace"),
    b"\x08": Key("h", ctrl=True),
    b"\x03": Key("c", ctrl=True),
    b"\x00": Key("space", ctrl=True),
    b"\x1f": Key("_", ctrl=True),
    b"\x1d": Key("]", ctrl=True),
    # Alt as an Escape before the key.
    b"\x1bb": Key("b", alt=True),
    b"\x1bB": Key("b", alt=True, shift=True),
    "\x1bé".encode(): Key("é", alt=True),
    b"\x1b ": Key("space", alt=True),
    b"\x1b\r": Key("enter", alt=True),
    b"\x1b\x7f": Key("backspace", alt=True),
    b"\x1b\x03": Key("c", ctrl=True, alt=True),
    b"\x1b\x1b[A": Key("up", alt=True),
    b"\x1b\x1bOA": Key("up", alt=True),
    # Arrows and their like, usual and in application mode.
    b"\x1b[A": UP,
    b"\x1bOA": UP,
    b"\x1b[1;5A": Key("up", ctrl=True),
    b"\x1b[1;2D": Key("left", shift=True),
    b"\x1b[1;3C": Key("right", alt=True),
    b"\x1b[1;8B": Key("down", ctrl=True, alt=True, shift=True),
    b"\x1b[H": Key("home"),
    b"\x1b[1~": Key("home"),
    b"\x1b[7~": Key("home"),
    b"\x1b[F": Key("end"),
    b"\x1b[2~": Key("insert"),
    b"\x1b[3~": Key("delete"),
    b"\x1b[3;5~": Key("delete", ctrl=True),
    b"\x1b[5~": Key("pageup"),
    b"\x1b[6~": Key("pagedown"),
    b"\x1b[Z": Key("tab", shift=True),
    # F keys of xterm, VT and the Linux console.
    b"\x1bOP": Key("f1"),
    b"\x1b[1;2P": Key("f1", shift=True),
    b"\x1bOR": Key("f3"),
    b"\x1b[15~": Key("f5"),
    b"\x1b[24;5~": Key("f12", ctrl=True),
    b"\x1b[[A": Key("f1"),
    # rxvt.
    b"\x1b[3$": Key("delete", shift=True),
    b"\x1b[3^": Key("delete", ctrl=True),
    b"\x1b[3@": Key("delete", ctrl=True, shift=True),
    b"\x1b[a": Key("up", shift=True),
    b"\x1bOa": Key("up", ctrl=True),
    # The keypad in application mode.
    b"\x1bOM": ENTER,
    b"\x1bOp": Key("0", "0"),
    # modifyOtherKeys of xterm.
    b"\x1b[27;2;13~": Key("enter", shift=True),
    b"\x1b[27;6;67~": Key("c", ctrl=True, shift=True),
    b"\x1b[27;5;9~": Key("tab", ctrl=True),
    # The kitty keyboard protocol.
    b"\x1b[27u": ESCAPE,
    b"\x1b[13;2u": Key("enter", shift=True),
    b"\x1b[13;3u": Key("enter", alt=True),
    b"\x1b[106;5u": Key("j", ctrl=True),
    b"\x1b[99;5u": Key("c", ctrl=True),
    b"\x1b[99;5:1u": Key("c", ctrl=True),
    b"\x1b[99;5:2u": Key("c", ctrl=True),
    b"\x1b[99;69u": Key("c", ctrl=True),
    b"\x1b[97;4u": Key("a", alt=True, shift=True),
    b"\x1b[97:65;2u": Key("a", "A", shift=True),
    b"\x1b[97;2u": Key("a", "A", shift=True),
    b"\x1b[49:33;2u": Key("!", "!"),
    b"\x1b[45:95;6u": Key("_", ctrl=True),
    b"\x1b[1089::99;5u": Key("c", ctrl=True),
    b"\x1b[97;;229u": Key("å", "å"),
    b"\x1b[32;5u": Key("space", ctrl=True),
    b"\x1b[32;1u": Key("space", " "),
    b"\x1b[9;2u": Key("tab", shift=True),
    b"\x1b[127;5u": Key("backspace", ctrl=True),
    b"\x1b[1;1:2A": UP,
    b"\x1b[57414u": ENTER,
    b"\x1b[57400u": Key("1", "1"),
    b"\x1b[57419u": UP,
}
ANSWERS = {
    b"\x1b[?62;22c": TerminalAnswer(AnswerKind.ATTRIBUTES, (62, 22)),
    b"\x1b[?2026;2$y": TerminalAnswer(AnswerKind.MODE, (2026, 2)),
    b"\x1b[?0u": TerminalAnswer(AnswerKind.KEYBOARD, (0,)),
    b"\x1b[?5u": TerminalAnswer(AnswerKind.KEYBOARD, (5,)),
    b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\": TerminalAnswer(AnswerKind.BACKGROUND, (30, 30, 46)),
    b"\x1b]11;rgb:f/f/f\x07": TerminalAnswer(AnswerKind.BACKGROUND, (255, 255, 255)),
    b"\x1b]11;rgba:0000/0000/0000/ffff\x07": TerminalAnswer(AnswerKind.BACKGROUND, (0, 0, 0)),
    b"\x1b[24;80R": TerminalAnswer(AnswerKind.CURSOR, (24, 80)),
    b"\x1b[1;5R": TerminalAnswer(AnswerKind.CURSOR, (1, 5)),
    b"\x1b[?24;80R": TerminalAnswer(AnswerKind.CURSOR, (24, 80)),
    b"\x1b[I": Focus(gained=True),
    b"\x1b[O": Focus(gained=False),
}
NOTHING = {
    "a key that is let go": b"\x1b[99;5:3u",
    "an arrow that is let go": b"\x1b[1;1:3A",
    "a key with Super": b"\x1b[99;9u",
    "Shift alone": b"\x1b[57441;2u",
    "F13": b"\x1b[57376u",
    "a surrogate": b"\x1b[55296u",
    "a number without end": b"\x1b[" + b"9" * 100 + b"u",
    "our own question about the keyboard, echoed": b"\x1b[?u",
    "a click": b"\x1b[<0;10;20M",
    "which terminal it is": b"\x1bP>|ghostty 1.2\x1b\\",
    "secondary attributes": b"\x1b[>1;10;0c",
    "a title": b"\x1b]2;title\x07",
    "a colour without numbers": b"\x1b]11;red\x07",
    "an unknown sequence": b"\x1b[1;2;3;4 w",
    "a string of an application": b"\x1b_Gi=1;OK\x1b\\",
    "the end of a paste that did not begin": b"\x1b[201~",
    "an eight-bit control character": "\x9b".encode(),
}
AMBIGUOUS = {
    b"\x1b": [ESCAPE],
    b"\x1b\x1b": [ESCAPE, ESCAPE],
    b"\x1b[": [Key("[", alt=True)],
    b"\x1bO": [Key("o", alt=True, shift=True)],
    b"\x1b]": [Key("]", alt=True)],
    b"\x1bP": [Key("p", alt=True, shift=True)],
    b"\x1b\x1b[": [ESCAPE, Key("[", alt=True)],
}


def decode(*pieces):
    decoder = KeyDecoder()
    return [found for piece in pieces for found in decoder.feed(piece)] + decoder.flush()


def type_text(text):
    return [Key("space" if mark == " " else mark, mark) for mark in text]


@pytest.mark.parametrize("sent", KEYS, ids=repr)
def test_keys_in_every_encoding(sent):
    assert decode(sent) == [KEYS[sent]]


@pytest.mark.parametrize("sent", ANSWERS, ids=repr)
def test_answers_and_reports(sent):
    assert decode(sent) == [ANSWERS[sent]]


@pytest.mark.parametrize("sent", NOTHING.values(), ids=NOTHING)
def test_what_is_not_for_us_is_swallowed_whole(sent):
    assert decode(b"a" + sent + b"b") == type_text("ab")


@pytest.mark.parametrize("sent", AMBIGUOUS, ids=repr)
def test_an_escape_is_a_key_only_after_a_pause(sent):
    decoder = KeyDecoder()

    assert decoder.feed(sent) == []
    assert decoder.is_undecided
    assert decoder.flush() == AMBIGUOUS[sent]
    assert not decoder.is_undecided
    assert decoder.feed(b"A") == [KEYS[b"A"]]


@pytest.mark.parametrize("begun", [b"\x1b[1;", b"\x1b]11;rgb:", b"\xe6\xbc", b"\x1b[?20"], ids=repr)
def test_half_a_sequence_is_no_key_and_waits_for_its_end(begun):
    decoder = KeyDecoder()

    assert decoder.feed(begun) == []
    assert not decoder.is_undecided
    assert decoder.flush() == []


def test_a_sequence_that_is_broken_off_takes_no_key_with_it():
    assert decode(b"\x1b[1;\x03") == [Key("c", ctrl=True)]
    assert decode(b"\x1b[1;\x1b[A") == [UP]
    assert decode(b"\x1b]11;rgb\r") == [ENTER]
    assert decode(b"\x1b]11;rgb\x1b[A") == [UP]
    assert decode(b"\x1bO\x1b[A") == [Key("o", alt=True, shift=True), UP]
    assert decode(b"\x1b[\r") == [Key("[", alt=True), ENTER]
    assert decode(b"\x1b]\r") == [Key("]", alt=True), ENTER]
    assert decode(b"\x1b[[x") == [Key("[", alt=True), *type_text("[x")]


def test_escapes_before_a_key_are_escapes():
    assert decode(b"\x1b\x1b\x1b[A") == [ESCAPE, Key("up", alt=True)]
    assert decode(b"\x1b\x1ba") == [ESCAPE, Key("a", alt=True)]


@pytest.mark.parametrize(
    ("sent", "marks"),
    [
        (b"a\xffb", 1),
        (b"a\xc3b", 1),
        (b"a\xe6\xbcb", 2),
        (b"a\xc0\x80b", 2),
        (b"a\xed\xa0\x80b", 3),
        (b"a\x80b", 1),
        (b"a\xf8b", 1),
    ],
)
def test_bytes_that_are_not_utf8_are_marked_and_take_nothing_with_them(sent, marks):
    assert decode(sent) == type_text("a" + "\ufffd" * marks + "b")


def test_a_paste_is_one_input_whatever_it_holds():
    held = "rm -rf /\r\n\ttwo\rthree\n\x1b[A\x1b]52;c;eA==\x07\x03 漢 \x1b[200~"

    pasted = decode(b"\x1b[200~" + held.encode() + b"\xff\x1b[201~x")

    text = "rm -rf /\n\ttwo\nthree\n\x1b[A\x1b]52;c;eA==\x07\x03 漢 \x1b[200~\ufffd"
    assert pasted == [Paste(text), *type_text("x")]


def test_an_escape_before_a_paste_is_a_key():
    assert decode(b"\x1b\x1b[200~x\x1b[201~") == [ESCAPE, Paste("x")]


def test_a_paste_without_an_end_can_be_ended():
    decoder = KeyDecoder()
    assert decoder.feed(b"\x1b[200~one\r\ntw") == []
    assert decoder.is_pasting
    assert not decoder.is_undecided
    assert decoder.flush() == []

    assert decoder.end_paste() == [Paste("one\ntw", is_whole=False)]

    assert not decoder.is_pasting
    assert decoder.end_paste() == []
    assert decoder.feed(b"\x03") == [Key("c", ctrl=True)]


@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"abc", b"abcd", b"\x1b", b"\r"], ids=repr)
@pytest.mark.parametrize("unit", ["x", "é", "漢", "😀", "\r\n"])
def test_a_large_paste_comes_in_parts_that_hold_all_of_it(unit, before):
    data = before + unit.encode() * (2 * MAX_PASTE // len(unit.encode()) + 3)

    parts = decode(b"\x1b[200~" + data + b"\x1b[201~\r")

    assert parts.pop() == ENTER
    assert [part.is_whole for part in parts] == [False] * (len(parts) - 1) + [True]
    assert len(parts) > 2
    assert max(len(part.text.encode()) for part in parts) <= MAX_PASTE
    text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(part.text for part in parts) == text


@pytest.mark.parametrize(
    ("sent", "most"),
    [(b"\x1b[" + b"1;" * MAX_SEQUENCE, MAX_SEQUENCE), (b"\x1b]11;" + b"x" * MAX_STRING, MAX_STRING)],
)
def test_a_sequence_without_an_end_does_not_hold_the_keyboard(sent, most):
    decoder = KeyDecoder()

    assert decoder.feed(sent[: most - 1]) == []
    assert decoder.feed(sent[most - 1 : most] + b"z") == type_text("z")


ATOMS = st.sampled_from(
    [
        *KEYS, *ANSWERS, *NOTHING.values(), *AMBIGUOUS,
        b"\x1b[200~", b"\x1b[201~", b"\x1b[20", b"\x1b[", b"\x1b", b"[", b"]", b"O", b"$", b"~", b"u", b";", b":", b"\\", b"\x07",
        b"\xe6", b"\xbc", b"\xff", b"11;rgb:", b"\x9c",
    ]
)  # fmt: skip
STREAMS = st.one_of(st.binary(max_size=60), st.lists(ATOMS, max_size=12).map(b"".join))


@given(STREAMS, st.lists(st.integers(0, 80), max_size=8))
def test_any_cut_into_pieces_gives_the_same_input(sent, cuts):
    places = sorted({0, len(sent), *(min(cut, len(sent)) for cut in cuts)})
    pieces = [sent[start:end] for start, end in pairwise(places)]

    assert decode(*pieces) == decode(sent)


@given(STREAMS)
def test_one_byte_after_the_other_gives_the_same_input(sent):
    assert decode(*(bytes([byte]) for byte in sent)) == decode(sent)


@given(st.lists(st.sampled_from([*KEYS, *ANSWERS]), max_size=20))
def test_what_is_whole_does_not_depend_on_what_stands_beside_it(sent):
    assert decode(b"".join(sent)) == [(KEYS | ANSWERS)[each] for each in sent]


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_text_is_what_was_typed(text):
    assert "".join(key.text for key in decode(text.encode())) == text


@given(st.binary())
def test_a_paste_is_never_obeyed(held):
    inputs = decode(b"\x1b[200~" + held.replace(b"\x1b[201~", b"") + b"\x1b[201~")

    assert [type(each) for each in inputs] in ([Paste], [Paste, Paste]) or held.count(b"\x1b[201~")


@given(STREAMS)
def test_no_bytes_crash_it_and_it_holds_little(sent):
    decoder = KeyDecoder()
    for _ in range(3):
        decoder.feed(sent)
        decoder.flush()
    decoder.end_paste()
    # Whatever came before: a control key is heard at the latest when what waits for its end has been given up.
    assert Key("c", ctrl=True) in decoder.feed(b"\x18\x1b\\\x03") + decoder.flush()


@pytest.mark.parametrize(
    ("piece", "times"), [(b"x" * 1_000, 4_000), (b"\x1b[200~", 1), (b"\x1b[1;5A" * 100, 100), (b"\x1b]" * 500, 100)]
)
def test_time_is_linear_in_what_comes(piece, times):
    decoder = KeyDecoder()
    if times == 1:
        decoder.feed(piece)
        piece, times = b"pasted text\n" * 80, 4_000

    with measured() as spent:
        for _ in range(times):
            decoder.feed(piece)

    assert spent.seconds < 4.0
