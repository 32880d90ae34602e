"""Markdown as it streams: the same pieces, however the text was cut on its way."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.frontends.ansi import Style
from everturn.frontends.flow import Flow, cut_line, width_of
from everturn.frontends.markdown import RULE, Markdown, MarkdownTable, Piece

TEXTS = st.text(alphabet="ab *`_#-\n>|1.\\~+é[]()!", max_size=120)
ROWS = st.lists(
    st.sampled_from(["|a|", "| b | c |", "|-|", "|--|-:|", "x", "", "  | d", "|", "```", r"|\|e|f|"]), max_size=9
)


def styled(text, *cuts):
    """Each character with its style."""
    markdown = Markdown()
    edges = [0, *sorted(cuts), len(text)]
    parts = [text[first:last] for first, last in pairwise(edges)]
    pieces = [piece for part in parts for piece in markdown.feed(part)] + markdown.finish()
    each = (
        [piece] if isinstance(piece, MarkdownTable) else [(mark, piece.codes) for mark in piece.text]
        for piece in pieces
    )
    return [mark for marks in each for mark in marks]


def shown(text):
    return "".join(map(show, pieces_of(text)))


def show(piece):
    return f"<{piece.codes}:{piece.text}>" if piece.codes else piece.text


def pieces_of(text):
    markdown = Markdown()
    return markdown.feed(text) + markdown.finish()


CASES = {
    "plain": ("Just words.", "Just words."),
    "bold": ("a **b c** d", "a <1:b c> d"),
    "italics": ("a *b* d", "a <3:b> d"),
    "both": ("***b***", "<1;3:b>"),
    "code": ("use `a * b` now", "use <36:a * b> now"),
    "code with backticks": ("``a ` b``", "<36:a ` b>"),
    "code inside bold": ("**run `x`**", "<1:run ><1;36:x>"),
    "powers": ("2**3 and 2 ** 3", "2**3 and 2 ** 3"),
    "globs": ("src/*.py and *.md", "src/*.py and *.md"),
    "unclosed": ("a **b\nc `d\n", "a **b\nc `d\n"),
    "escaped": (r"\*a\* C:\dir \\", r"*a* C:\dir " + "\\"),
    "snake case": ("a_b_c __d__", "a_b_c __d__"),
    "heading": ("## A `b`\nc", "<1:A ><1;36:b>\nc"),
    "no heading": ("#hashtag", "#hashtag"),
    "list": ("- a\n  * b\n+ c", "• a\n  • b\n• c"),
    "ordered": ("1. a\n2) b", "1. a\n2) b"),
    "a flag is no list": ("--flag", "--flag"),
    "rule": ("---\n", f"<2:{RULE}>\n"),
    "quote": ("> a *b*", "<2:│ >a <3:b>"),
    "fence": ("```py\na = **b**\n\n```\nc", "<2:```py>\n<36:a = **b**>\n\n<2:```>\nc"),
    "fence inside a longer fence": ("````\n```\n````\n", "<2:````>\n<36:```>\n<2:````>\n"),
    "fence that never ends": ("```\na", "<2:```>\n<36:a>"),
    "a row is no table": ("| **a** | b |\nmore", "| **a** | b |\nmore"),
    "two rows are no table": ("| a |\n| b |\n|--|--|\n", "| a |\n| b |\n|--|--|\n"),
    "link": ("see [the **docs**](https://a.b/c) now", "see <4:the ><4;1:docs> <2:(https://a.b/c)> now"),
    "link with its address as text": ("[src/a.py](src/a.py)", "<4:src/a.py>"),
    "link with code as text": ("[`a[0]`](b)", "<4;36:a[0]> <2:(b)>"),
    "link with a title and brackets": ('[a](<b c> "d") [e](f(g))', "<4:a> <2:(b c)> <4:e> <2:(f(g))>"),
    "link that says another address": ("[https://a.b](https://c.d)", "<4:https://a.b> <2:(https://c.d)>"),
    "link inside bold": ("**[a](b)**", "<1;4:a><1: ><1;2:(b)>"),
    "image": ("![a](b.png)!", "<4:a> <2:(b.png)>!"),
    "no link": ("x[0] [ ] [a] (b) [](c) [a](b c) ![", "x[0] [ ] [a] (b) [](c) [a](b c) !["),
    "escaped link": (r"\[a](b)", "[a](b)"),
}


def test_a_table_is_parsed_with_its_cells_and_nothing_in_it_is_lost():
    [table, end] = pieces_of("  | a | n |\n  |:--|--:|\n| `b\\|c` | 1 | 2 |\n| d\n")

    assert table == MarkdownTable(
        header=((Piece("a", "1"),), (Piece("n", "1"),)),
        rows=(((Piece("b|c", "36"),), (Piece("1 | 2"),)), ((Piece("d"),), ())),
        right=(False, True),
        indent=2,
    )
    assert end.text == "\n"


def test_a_table_is_held_back_until_it_is_complete():
    markdown = Markdown()

    assert markdown.feed("| a |\n|---|\n| b |\n| c") == []
    assert markdown.rows_held == 3
    assert [type(piece).__name__ for piece in markdown.feed(" |\nmore")] == ["MarkdownTable", "Piece", "Piece"]
    assert markdown.rows_held == 0


@given(ROWS, st.lists(st.integers(0, 90), max_size=6))
def test_it_does_not_matter_where_a_table_was_cut(rows, cuts):
    text = "\n".join(rows)

    assert styled(text, *(min(place, len(text)) for place in cuts)) == styled(text)
    assert styled(text, *range(len(text))) == styled(text)


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_what_is_shown(source, expected):
    assert shown(source) == expected


@given(TEXTS, st.lists(st.integers(0, 120), max_size=6))
def test_it_does_not_matter_where_a_text_was_cut(text, cuts):
    whole = styled(text)

    assert styled(text, *(min(place, len(text)) for place in cuts)) == whole
    assert styled(text, *range(len(text))) == whole


@given(st.text(alphabet="ab c\n1x", max_size=80))
def test_text_without_marks_is_unchanged(text):
    assert "".join(piece.text for piece in pieces_of(text)) == text


def test_words_appear_at_once_and_only_marks_are_held_back():
    markdown = Markdown()

    assert [piece.text for piece in markdown.feed("Hello wor")] == ["Hello wor"]
    assert [piece.text for piece in markdown.feed("ld and **bo")] == ["ld and "]
    assert [piece.text for piece in markdown.feed("ld** text")] == ["bold", " text"]


def test_a_mark_without_a_partner_is_not_waited_for_forever():
    markdown = Markdown()

    assert "".join(piece.text for piece in markdown.feed("a `" + "b" * 400)) == "a `" + "b" * 400


def laid(text, columns):
    flow = Flow(Style(colour=False), columns)
    return [line.rstrip() for line in (flow.lay(pieces_of(text)) + flow.finish()).split("\n")]


def test_prose_is_wrapped_at_words_and_items_continue_under_their_text():
    assert laid("one two three four\n- five six seven\n", 10) == ["one two", "three four", "• five six", "  seven", ""]


def test_code_keeps_its_lines():
    assert laid("```\na long line of code\n```\n", 10) == ["```", "a long line of code", "```", ""]


TABLE = "| File | Lines | What |\n|---|--:|---|\n| a.py | 12 | says *hello* to all |\n| 漢字 | 7 | |\nmore"


def test_a_table_is_a_grid_as_wide_as_its_cells():
    assert laid(TABLE, 60) == [
        "File │ Lines │ What",
        "─────┼───────┼──────────────────",
        "a.py │    12 │ says hello to all",
        "漢字 │     7 │",
        "more",
    ]


def test_cells_are_wrapped_where_the_table_is_too_wide():
    assert laid(TABLE, 26) == [
        "File │ Lines │ What",
        "─────┼───────┼────────────",
        "a.py │    12 │ says hello",
        "     │       │ to all",
        "漢字 │     7 │",
        "more",
    ]


def test_where_a_word_would_be_broken_the_fields_stand_one_under_the_other():
    assert laid(TABLE, 16) == [
        "• File: a.py",
        "  Lines: 12",
        "  What: says",
        "  hello to all",
        "• File: 漢字",
        "  Lines: 7",
        "  What:",
        "more",
    ]


def test_without_colours_a_table_keeps_its_marks_and_is_aligned():
    markdown = Markdown(bare=True)
    flow = Flow(Style(colour=False), 60)

    assert flow.lay(markdown.feed(TABLE) + markdown.finish()).split("\n")[:3] == [
        "| File | Lines | What                |",
        "| ---- | ----- | ------------------- |",
        "| a.py |    12 | says *hello* to all |",
    ]


@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=9), max_size=30), st.integers(10, 30))
def test_wrapped_prose_keeps_every_word_and_stays_within_the_width(words, columns):
    lines = laid(" ".join(words), columns)

    assert " ".join(lines).split() == words
    assert all(len(line) <= columns for line in lines)


def test_wide_letters_count_twice_and_marks_on_letters_not_at_all():
    assert [width_of(text) for text in ("abc", "漢字", "e\u0301", "😀")] == [3, 4, 1, 2]
    assert [cut_line("漢字漢字", columns) for columns in (8, 7, 4, 1, 0)] == ["漢字漢字", "漢字漢…", "漢…", "…", ""]


def test_on_terminals_that_open_addresses_the_address_is_a_link_and_stays_visible():
    markdown = Markdown()
    flow = Flow(Style(colour=False), 80, paint_link=lambda painted, address: f"<{address}|{painted}>")

    pieces = [
        *markdown.feed("See [the page](https://a.example/b) or [https://c.example](https://c.example).\n"),
        *markdown.finish(),
    ]

    assert flow.lay(pieces) + flow.finish() == (
        "See the page <https://a.example/b|(https://a.example/b)> or <https://c.example|https://c.example>.\n"
    )
