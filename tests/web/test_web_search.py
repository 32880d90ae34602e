"""WebSearch: questions as the Brave Search API takes them, answers as it gives them, and what is told when it does not."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn import Engine, Options
from everturn.core.errors import InputFault, OptionError, ToolFault
from everturn.ports.web import Hit, SearchQuestion
from everturn.tools.builtin import Web, builtin_tools
from everturn.tools.web_search import web_search_tool
from everturn.tools.web_search.brave import MAX_LENGTH, MAX_WORDS, BraveSearcher, plan_query
from everturn.tools.web_search.domains import judge_hits
from everturn.tools.web_search.tool import MAX_CALLS

KEY = "made-up-brave-key"


class BraveSite:
    """Answers as the public documentation of the Web Search API says: token, limits of `q` and `count`, and shapes."""

    def __init__(self, site, net):
        self.questions = []
        self.always = None
        """An answer whatever is asked."""
        self.results = [
            {"type": "search_result", "title": "The <strong>h11</strong> docs", "url": "https://h11.readthedocs.io/en/",
             "description": "A pure-Python HTTP/1.1 library &amp; more", "language": "en", "family_friendly": True},
            {"type": "search_result", "title": "h11", "url": "https://pypi.org/project/h11/", "description": ""},
        ]  # fmt: skip
        self._site = site
        net.knows("api.search.brave.com", ["93.184.216.34"])
        site.pages = self

    def get(self, path):
        """Stands in for the table of pages."""
        parts = urlsplit(path)
        _, headers = self._site.requests[-1]
        fields = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.questions.append(fields)
        if self.always is not None:
            return self.always
        if parts.path != "/res/v1/web/search":
            return _answer("404 Not Found", {})
        if headers.get("x-subscription-token") != KEY:
            return _refusal("422 Unprocessable Entity", "SUBSCRIPTION_TOKEN_INVALID")
        q, count = fields.get("q", ""), int(fields.get("count", "20"))
        if not 0 < len(q) <= 400 or len(q.split()) > 50 or not 1 <= count <= 20:
            return _refusal("422 Unprocessable Entity", "VALIDATION")
        body = {"type": "search", "query": {"original": q}, "web": {"type": "search", "results": self.results[:count]}}
        return _answer("200 OK", body if self.results else {"type": "search", "query": {"original": q}})


def _refusal(status, code):
    detail = {"id": "b2c1", "status": int(status[:3]), "code": code, "detail": "No."}
    return _answer(status, {"type": "ErrorResponse", "error": detail, "time": 1})


def _answer(status, value):
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.fixture
async def brave(site, net):
    return BraveSite(site, net)


@pytest.fixture
def tool(net):
    return web_search_tool(BraveSearcher(KEY, net))


async def test_hits_are_listed_with_their_addresses(brave, tool, use, shown, net):
    result = await use(tool, query="h11  library")

    assert result.content == (
        "1. The h11 docs\n   https://h11.readthedocs.io/en/\n   A pure-Python HTTP/1.1 library & more\n"
        "2. h11\n   https://pypi.org/project/h11/"
    )
    form = shown(result)
    assert form.pop("durationSeconds") >= 0
    assert form == {
        "query": "h11 library",
        "results": [
            {
                "tool_use_id": "toolu_1",
                "content": [
                    {"title": "The h11 docs", "url": "https://h11.readthedocs.io/en/"},
                    {"title": "h11", "url": "https://pypi.org/project/h11/"},
                ],
            }
        ],
        "searchCount": 1,
    }
    assert brave.questions[0]["q"] == "h11 library"
    assert net.dialled == [("93.184.216.34", 443, "api.search.brave.com")]


async def test_domains_are_asked_for_and_judged_again(brave, tool, use):
    allowed = await use(tool, query="h11", allowed_domains=["PyPI.org"])
    blocked = await use(tool, query="h11", blocked_domains=["pypi.org", "*.example.com"])

    assert allowed.content == "1. h11\n   https://pypi.org/project/h11/"
    assert blocked.content.startswith("1. The h11 docs\n")
    assert "pypi" not in blocked.content
    assert [question["q"] for question in brave.questions] == [
        "h11 site:pypi.org",
        "h11 -site:pypi.org -site:example.com",
    ]


async def test_nothing_found_is_said(brave, tool, use, shown):
    brave.results = []

    result = await use(tool, query="h11")

    assert result.content == "Nothing was found."
    assert shown(result)["results"] == ["Nothing was found."]


async def test_both_kinds_of_domains_exclude_each_other(brave, tool, use):
    with pytest.raises(InputFault, match=r"`allowed_domains`.*one of the two"):
        await use(tool, query="h11", allowed_domains=["a.com"], blocked_domains=["b.com"])


@pytest.mark.parametrize("domain", ["https://a.com", "a.com/x", "a com", "a.com OR site:b.com", "."])
async def test_a_misspelt_domain_is_told(brave, tool, use, domain):
    with pytest.raises(InputFault, match="`blocked_domains`: expected domains"):
        await use(tool, query="h11", blocked_domains=[domain])


@pytest.mark.parametrize(
    ("status", "text"),
    [("401 No", "refused its key"), ("403 No", "refused its key"), ("422 No", "refused the question"),
     ("429 Slow", "too many"), ("500 Oops", "answered 500 Oops"), ("302 Away", "answered 302 Away")],
)  # fmt: skip
async def test_a_refusal_is_told_without_the_key(brave, tool, use, status, text):
    brave.always = _answer(status, {"key": KEY})

    with pytest.raises(ToolFault, match=text) as fault:
        await use(tool, query="h11")

    assert KEY not in str(fault.value)


async def test_a_wrong_key_is_told(brave, net, use):
    with pytest.raises(ToolFault, match="or its key"):
        await use(web_search_tool(BraveSearcher("another", net)), query="h11")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"web": {"results": [{"title": "no url"}]}}', b'{"web": 1}'])
async def test_an_answer_that_is_not_the_apis_is_told(brave, tool, use, body):
    brave.always = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body

    with pytest.raises(ToolFault, match="could not be read"):
        await use(tool, query="h11")


async def test_a_session_searches_only_so_often(use):
    class Empty:
        async def search(self, question):
            return ()

    tool = web_search_tool(Empty())
    for _ in range(MAX_CALLS):
        await use(tool, query="h11")

    with pytest.raises(ToolFault, match="200 times"):
        await use(tool, query="h11")


@given(
    st.text(min_size=2, max_size=400),
    st.lists(st.sampled_from(["a.com", "very-long-name-of-a-domain.example.org"]), max_size=20),
)
def test_a_question_never_outgrows_the_api(query, domains):
    planned = plan_query(SearchQuestion(query=query, blocked_domains=tuple(domains)))

    assert len(planned) <= MAX_LENGTH
    assert len(planned.split()) <= MAX_WORDS


def test_hits_that_are_no_web_addresses_are_dropped():
    hits = [Hit(title="a", url=url) for url in ("javascript:x", "https://a.com/", "https://a.com/", "ftp://b.com/")]

    assert judge_hits(hits, SearchQuestion(query="q")) == (Hit(title="a", url="https://a.com/"),)


def test_without_a_search_engine_the_tool_is_not_offered():
    class Silent:
        async def search(self, question):
            return ()

    assert "WebSearch" not in [tool.name for tool in builtin_tools()]
    assert "WebSearch" in [tool.name for tool in builtin_tools(web=Web(searcher=Silent()))]


def test_the_setting_needs_a_key(tmp_path):
    options = Options(api_key="sk-made-up", home=tmp_path, web_search="brave")

    with pytest.raises(OptionError, match="web_search: needs a key"):
        Engine(options, env={})


def test_the_key_is_never_shown():
    assert KEY not in repr(Options(web_search_key=KEY))
