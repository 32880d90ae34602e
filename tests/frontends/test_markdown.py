"""Markdown as it streams: the same pieces, however the text was cut on its way."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.frontends.ansi import Style
from everturn.frontends.flow import Flow, cut_line, width_of
from everturn.frontends.markdown import RULE, Markdown

TEXTS = st.text(alphabet="ab *`_#-\n>|1.\\~+é", max_size=120)


def styled(text, *cuts):
    """Each character with its style."""
    markdown = Markdown()
    edges = [0, *sorted(cuts), len(text)]
    parts = [text[first:last] for first, last in pairwise(edges)]
    pieces = [piece for part in parts for piece in markdown.feed(part)] + markdown.finish()
    return [(mark, piece.codes) for piece in pieces for mark in piece.text]


def shown(text):
    return "".join(f"<{piece.codes}:{piece.text}>" if piece.codes else piece.text for piece in pieces_of(text))


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
    "table": ("| **a** | b |\n|---|---|", "| **a** | b |\n|---|---|"),
}


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
    return (flow.lay(pieces_of(text)) + flow.finish()).split("\n")


def test_prose_is_wrapped_at_words_and_items_continue_under_their_text():
    assert laid("one two three four\n- five six seven\n", 10) == ["one two", "three four", "• five six", "  seven", ""]


def test_code_and_tables_keep_their_lines():
    assert laid("```\na long line of code\n```\n| a table | as it is |", 10) == [
        "```",
        "a long line of code",
        "```",
        "| a table | as it is |",
    ]


@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=9), max_size=30), st.integers(10, 30))
def test_wrapped_prose_keeps_every_word_and_stays_within_the_width(words, columns):
    lines = laid(" ".join(words), columns)

    assert " ".join(lines).split() == words
    assert all(len(line) <= columns for line in lines)


def test_wide_letters_count_twice_and_marks_on_letters_not_at_all():
    assert [width_of(text) for text in ("abc", "漢字", "e\u0301", "😀")] == [3, 4, 1, 2]
    assert [cut_line("漢字漢字", columns) for columns in (8, 7, 4, 1, 0)] == ["漢字漢字", "漢字漢…", "漢…", "…", ""]
