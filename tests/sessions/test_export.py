"""Exports: all that was said and nothing that was taken back, no keys, and nothing in a page that could act."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.masking import mask_keys
from everturn.core.messages import Answer, Kind, Message, result_block, text_block
from everturn.core.record_codec import record_message
from everturn.core.records import MessageRetracted, Rewound
from everturn.modelserver import call, cut, say, text, thinking
from everturn.sessions.export.document import render_document
from everturn.sessions.export.markdown import render_markdown
from everturn.sessions.export.markup import render_markup
from everturn.sessions.export.page import render_page
from everturn.sessions.export.spoken import SessionFacts, mask_values, stream_spoken
from everturn.sessions.journal import FileJournal

FACTS = SessionFacts(id="s", title="A <b>title</b> | with *signs*", rows={"Session": "s", "Folder": "/a|b"})
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MARKUP = {"p", "br", "pre", "code", "ul", "ol", "li", "strong", "em", "a", "hr", "blockquote"} | {
    *("table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6")
}
KEYS = [
    "sk-ant-api03-abcdefghijklmnop",
    "sk-proj-abcdefghijklmnopqrst",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghij_klmnopqrst",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA-abcdefghijklmnopqrstuvwxyz01234",
    "xoxb-123456789012-abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3.SflKxwRJSMeKKF2QT4",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----",
]


async def live(bench):
    """A session with thinking, a call that fails, a picture, an attempt that was thrown away."""
    bench.model(
        cut("Hel"),
        say(thinking("Let me look."), "I look.", call("Read", {"file_path": str(bench.folder / "gone.txt")})),
        text("It is **gone** <script>alert(1)</script>."),
    )
    engine = bench.engine()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    await bench.go_on(engine, [image, {"type": "text", "text": f"Where is </pre><i>it</i>? {KEYS[0]}"}])
    await engine.aclose()
    return bench.session_file(engine.session_id)


async def test_markdown_tells_the_whole_conversation(bench):
    path = await live(bench)
    told = "".join(render_markdown(FACTS, stream_spoken(path)))
    assert told.startswith("# A \\<b\\>title\\</b\\> \\| with \\*signs\\*\n")
    assert re.findall(r"^## (\w+)", told, re.MULTILINE) == ["You", "Assistant", "Assistant"]
    assert "Where is </pre><i>it</i>? [key]" in told
    assert "<details><summary>Read: " in told
    assert "(failed)</summary>" in told
    assert "*image/png, 70 bytes*" in told
    assert "Let me look." in told
    assert "Hel\n" not in told


def test_a_fence_in_a_result_does_not_end_the_block(tmp_path):
    path = tmp_path / "s.jsonl"
    journal = FileJournal(path, "s")
    blocks = (result_block("t", "```\nfenced\n````"),)
    journal.append(record_message(Message(id="r", role="user", kind=Kind.RESULTS, blocks=blocks)))
    journal.close()
    assert "`````\n```\nfenced\n````\n`````\n" in "".join(render_markdown(FACTS, stream_spoken(path)))


async def test_json_has_every_block_and_is_one_object(bench):
    path = await live(bench)
    told = json.loads("".join(render_document({"id": "s"}, stream_spoken(path))))
    assert (told["format"], told["version"], told["session"]) == ("everturn-session", 1, {"id": "s"})
    kinds = [(message["kind"], [block["type"] for block in message["content"]]) for message in told["messages"]]
    assert kinds == [
        ("prompt", ["image", "text"]),
        ("answer", ["thinking", "text", "tool_use"]),
        ("results", ["tool_result"]),
        ("answer", ["text"]),
    ]
    assert told["messages"][0]["content"][0]["source"]["data"] == PIXEL


async def test_a_page_shows_all_and_can_do_nothing(bench):
    path = await live(bench)
    page = "".join(render_page(FACTS, stream_spoken(path)))
    looker = Looker()
    looker.feed(page)
    assert looker.open == []
    assert not looker.tags & {"script", "iframe", "object", "form", "link", "i"}
    assert looker.sources == [f"data:image/png;base64,{PIXEL}"]
    assert "default-src 'none'" in page
    for words in ("Where is </pre><i>it</i>? [key]", "It is gone <script>alert(1)</script>.", "Let me look."):
        assert words in looker.words


class Looker(HTMLParser):
    """Which tags there are, whether each is closed, what is loaded, and what a reader sees."""

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.sources, self.words = set(), [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.sources += [value for name, value in attrs if name in {"src", "href"}]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in {"meta", "img", "br", "hr"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab <>&\"'`*_#-|>[](1.)\n\t~") | st.characters(exclude_categories=["Cs"]), max_size=120))
def test_whatever_a_model_writes_is_whole_html_and_loses_no_letter(words):
    looker = Looker()
    looker.feed(render_markup(words))
    assert looker.open == []
    assert looker.tags <= MARKUP
    letters = [sign for sign in words if sign in "ab"]
    assert (
        [sign for sign in looker.words if sign in "ab"] == letters or "```" in words or "~~~" in words or "](" in words
    )


@pytest.mark.parametrize(
    ("words", "markup"),
    [
        ("# One\nTwo **three** `f<x>`", "<h3>One</h3><p>Two <strong>three</strong> <code>f&lt;x&gt;</code></p>"),
        ("- a\n  - b\n- c", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("```python\nx < 1\n```\nend", "<pre><code>x &lt; 1</code></pre><p>end</p>"),
        ("```\nnever ended", "<pre><code>never ended</code></pre>"),
        ("> quoted\n> more", "<blockquote><p>quoted<br>more</p></blockquote>"),
        (
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        ),
        ("[x](https://a.b/c)", '<p><a href="https://a.b/c" rel="noopener noreferrer">x</a></p>'),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("2 * 3 * 4 and snake_case_name", "<p>2 * 3 * 4 and snake_case_name</p>"),
        ("---", "<hr>"),
    ],
)
def test_the_markdown_that_models_write_becomes_markup(words, markup):
    assert render_markup(words) == markup


def test_what_is_nested_without_end_ends():
    assert render_markup(">" * 50_000 + "x").count("<blockquote>") == 9


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_known_by_their_shape(key):
    assert mask_keys(f"export X={key} now") == "export X=[key] now"


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        ("Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: Bearer [key]"),
        ("postgres://ada:secret@db/x", "postgres://ada:[key]@db/x"),
        ("api_key = 'abcdefghijklmnop1234'", "api_key = '[key]'"),
        ("the task-list of disk-usage-of-all-machines", "the task-list of disk-usage-of-all-machines"),
        ("risk-based-assessment-of-things", "risk-based-assessment-of-things"),
        ("http://localhost:8080/a@b", "http://localhost:8080/a@b"),
    ],
)
def test_what_surrounds_a_key_stays(words, masked):
    assert mask_keys(words) == masked


def test_media_is_no_text():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": KEYS[4]}}
    assert mask_values([image, {"text": KEYS[4]}], mask_keys) == [image, {"text": "[key]"}]


def test_what_was_taken_back_is_not_exported_and_a_doubled_line_is_told_once(tmp_path):
    path = tmp_path / "s.jsonl"
    journal = FileJournal(path, "s")
    for name in ("kept", "lost"):
        said = Message(
            id=name, role="assistant", kind=Kind.ANSWER, blocks=(text_block(name),), answer=Answer(model="m")
        )
        journal.append(record_message(said))
        journal.append(record_message(said))
    journal.append(MessageRetracted(id="lost", cause="x"))
    journal.append(Rewound(to="nowhere"))
    journal.close()
    assert [spoken.id for spoken in stream_spoken(path)] == ["kept"]


def test_what_was_left_behind_is_not_exported(tmp_path):
    path = tmp_path / "s.jsonl"
    journal = FileJournal(path, "s")
    for name in ("one", "two", "three"):
        journal.append(record_message(Message(id=name, role="user", kind=Kind.PROMPT, blocks=(text_block(name),))))
        if name == "two":
            journal.append(Rewound(to="one"))
    journal.close()
    assert [spoken.id for spoken in stream_spoken(path)] == ["one", "three"]
