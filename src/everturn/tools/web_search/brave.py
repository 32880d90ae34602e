"""The Brave Search API behind `ports.web.Searcher`: one GET, and its JSON read strictly."""

import asyncio
from html import unescape
from re import sub
from urllib.parse import urlencode

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.web import Hit, Net, SearchQuestion, parse_web_url
from everturn.tools.web.get import HttpAnswer, run_get
from everturn.tools.web_search.domains import judge_hits

ENDPOINT = "https://api.search.brave.com/res/v1/web/search"
COUNT = 20
MAX_LENGTH = 400
MAX_WORDS = 50
_MAX_WAIT_S = 20.0
_MAX_BYTES = 2_000_000
_OK = 200
_BAD_KEY = "The search engine refused its key. The user has to set BRAVE_API_KEY to a valid one."
_REFUSALS = {
    401: _BAD_KEY,
    403: _BAD_KEY,
    422: "The search engine refused the question, or its key. Ask with other, fewer words.",
    429: "The search engine has had too many questions for now. Wait, or do without.",
}


class _Result(msgspec.Struct, frozen=True):
    url: str
    title: str = ""
    description: str = ""


class _Results(msgspec.Struct, frozen=True):
    results: tuple[_Result, ...] = ()


class _Reply(msgspec.Struct, frozen=True):
    web: _Results | None = None


class BraveSearcher:
    def __init__(self, key: str, net: Net) -> None:
        self._key = key
        self._net = net

    async def search(self, question: SearchQuestion) -> tuple[Hit, ...]:
        fields = {"q": plan_query(question), "count": COUNT, "result_filter": "web", "text_decorations": "false"}
        url = parse_web_url(f"{ENDPOINT}?{urlencode(fields)}")
        headers = {"accept": "application/json", "x-subscription-token": self._key}
        try:
            async with asyncio.timeout(_MAX_WAIT_S):
                answer = await run_get(self._net, url, headers, most_bytes=_MAX_BYTES)
        except TimeoutError:
            raise ToolFault(f"The search engine did not answer within {_MAX_WAIT_S:g} s.") from None
        return judge_hits(parse_reply(answer), question)


def plan_query(question: SearchQuestion) -> str:
    """With the engine's own operators for domains, where there is room; the hits are judged in any case."""
    wanted = " OR ".join(f"site:{domain}" for domain in question.allowed_domains)
    unwanted = " ".join(f"-site:{domain}" for domain in question.blocked_domains)
    whole = " ".join(part for part in (question.query, wanted, unwanted) if part)
    fits = len(whole) <= MAX_LENGTH and len(whole.split()) <= MAX_WORDS
    return whole if fits else " ".join(question.query.split()[:MAX_WORDS])[:MAX_LENGTH]


def parse_reply(answer: HttpAnswer) -> tuple[Hit, ...]:
    """Raises `ToolFault`."""
    if answer.status != _OK:
        raise ToolFault(_REFUSALS.get(answer.status, f"The search engine answered {answer.status} {answer.reason}."))
    try:
        reply = msgspec.json.decode(answer.body, type=_Reply)
    except msgspec.MsgspecError:
        raise ToolFault("The search engine's answer could not be read.") from None
    found = reply.web.results if reply.web else ()
    return tuple(Hit(title=_plain(hit.title), url=hit.url, excerpt=_plain(hit.description)) for hit in found)


def _plain(text: str) -> str:
    return " ".join(unescape(sub(r"<[^<>]{0,100}>", "", text)).split())
