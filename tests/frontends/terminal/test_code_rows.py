"""A command before a person consents to it: in colours, and every character of it."""

from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured

from everturn.frontends.asking.visible import make_visible, wrap_visible
from everturn.frontends.flow import width_of
from everturn.frontends.terminal.code_rows import lay_code
from everturn.frontends.terminal.palette import PLAIN, SIXTEEN, CodeKind


def text_of(row):
    return "".join(piece.text for piece in row)


def test_a_command_has_its_colours_in_each_row():
    rows = lay_code("git commit -m 'a b c d'", "bash", 18)

    assert [text_of(row) for row in rows] == ["git commit -m 'a b", " c d'"]
    assert (rows[0][0].text, rows[0][0].codes) == ("git", SIXTEEN.code[CodeKind.NAME])
    assert (rows[1][0].text, rows[1][0].codes) == (" c d'", SIXTEEN.code[CodeKind.STRING])


def test_nothing_is_hidden():
    assert [text_of(row) for row in lay_code("ls \u202e#\x1b[8m\trm -rf ~\n\nend", "bash", 80)] == [
        "ls \\u202e#\\e[8m\\trm -rf ~",
        "",
        "end",
    ]


TEXT = st.text(st.sampled_from("ab'\"#$ \n\t漢\x1b\u200b|;") | st.characters(), max_size=60)


@given(TEXT, st.sampled_from(["bash", "python", "unknown"]), st.integers(1, 30))
def test_rows_hold_the_whole_text_and_break_where_plain_rows_do(text, language, columns):
    rows = lay_code(text, language, columns)

    assert "".join(map(text_of, rows)) == make_visible(text.replace("\n", ""))
    assert [text_of(row) for row in rows] == wrap_visible(text, columns)
    assert all(width_of(text_of(row)) <= max(columns, 2) for row in rows)


def test_without_colours_there_are_none():
    assert {piece.codes for row in lay_code("git 'x' # y", "bash", 80, palette=PLAIN) for piece in row} == {""}


def test_a_line_of_100_000_characters_is_laid_in_a_moment():
    with measured() as spent:
        rows = lay_code("echo " + "漢 'a' " * 16_000, "bash", 80)

    assert len(rows) > 1_000
    assert spent.seconds < 1.0
