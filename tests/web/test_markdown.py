"""HTML to Markdown: what a reader sees is kept, and no input takes long or deep."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured

from everturn.tools.web_fetch.html_to_markdown import MAX_CHARACTERS, render_markdown
from everturn.tools.web_fetch.html_tokens import Close, Open, parse_html

URL = "https://example.com/docs/page"
FLOODS = {
    "nested blocks": "<div>" * 200_000,
    "nested lists": "<ul><li>" * 100_000,
    "nested quotes": "<blockquote>x" * 50_000,
    "nested tables": "<table><tr><td>" * 50_000,
    "open links": "<a href=x>" * 100_000,
    "open bold": "<b>x" * 100_000,
    "links over blocks": "<a href=x>" + "x<p>" * 100_000,
    "cells": "<table>" + "<tr><td>x" * 100_000,
    "angles": "<" * 500_000,
    "comments": "<!--" * 200_000,
    "declarations": "<!" * 500_000,
    "quotes": '<a x="' * 200_000,
    "attributes": "<a " + "x=' " * 200_000,
    "blanks in a tag": "<a" + " " * 1_000_000,
    "slashes in a tag": "<a" + "/" * 1_000_000,
    "scripts": "<script>" * 200_000,
    "entities": "&" * 1_000_000,
    "wrong ends": "<b>x</i></p></li></td>" * 50_000,
}


def test_a_whole_page_reads_as_recorded():
    folder = Path(__file__).parent / "pages"

    assert render_markdown((folder / "article.html").read_text(), URL) + "\n" == (folder / "article.md").read_text()


@pytest.mark.parametrize("html", FLOODS.values(), ids=FLOODS)
def test_no_input_takes_long_or_deep(html):
    with measured() as spent:
        text = render_markdown(html, f"https://example.com/{'u' * 2_000}")

    assert spent.seconds < 10
    assert len(text) < 2 * MAX_CHARACTERS


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a<br>b", "a\nb"),
        ("<p>one<p>two", "one\n\ntwo"),
        ("1 &lt; 2 < 3", "1 < 2 < 3"),
        ("<p title=it's>x</p>", "x"),
        ("<a href='/x y'>t</a>", "[t](https://example.com/x%20y)"),
        ("<base href='https://other.org/d/'><a href=e>t</a>", "[t](https://other.org/d/e)"),
        ("<a href='javascript:x()'>t</a> <a href='#top'>up</a> <a href='http://[bad'>b</a>", "t up b"),
        ("<a href=/x></a>y", "y"),
        ("<b> </b>x<b>y </b>z", "x**y** z"),
        ("<pre>a\n  b\n</pre>", "```\na\n  b\n```"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<ol start=3><li>c<li>d</ol>", "3. c\n4. d"),
        ("<table><tr><td>only</table>", "only"),
        ("<table><tr><td>a<table><tr><td>b</table><td>c</table>", "a\n\nb\n\nc"),
        ("<p hidden>no</p><p style='display: none'>no</p>yes", "yes"),
        ("<svg><title>t</title><svg></svg>no</svg>yes", "yes"),
        ("<noscript>kept</noscript><script>dropped()</script>", "kept"),
        ("<!-- no --><!doctype html><?xml no?>yes", "yes"),
        ("<img alt='a  cat' src=x><img src=y>", "![a cat]"),
        ("</div></li></table></ul></pre></a>x", "x"),
        ("<details><summary>S</summary>D</details>", "S\nD"),
        ("<textarea><b>no</b></textarea>yes", "yes"),
    ],
)
def test_small_things_are_right(html, text):
    assert render_markdown(html, URL) == text


@given(st.text(st.sampled_from("<>/!-'\"= abpliutdr&;"), max_size=60))
def test_any_text_becomes_markdown(html):
    render_markdown(html, URL)


@given(
    st.lists(
        st.sampled_from(
            ["p", "li", "ul", "ol", "a", "b", "code", "pre", "table", "tr", "td", "blockquote", "h1", "div"]
        ),
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_no_word_is_lost_however_tags_are_mixed(names, random):
    tags = [random.choice([f"<{name}>", f"</{name}>"]) for name in names]
    html = "".join(f"word{at} {tag} " for at, tag in enumerate(tags)) + "last"

    text = render_markdown(html, URL)

    assert [f"word{at}" for at in range(len(tags)) if f"word{at}" not in text] == []
    assert "last" in text


def test_tags_are_read_as_a_browser_reads_them():
    html = """<A HREF=x HREF=y data-q="&amp;">t</A ><br/><input disabled value='a>b'>"""

    assert list(parse_html(html)) == [
        Open("a", {"href": "x", "data-q": "&"}, empty=False),
        "t",
        Close("a"),
        Open("br", {}, empty=True),
        Open("input", {"disabled": "", "value": "a>b"}, empty=False),
    ]
