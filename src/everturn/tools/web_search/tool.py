"""The WebSearch tool: asks the search engine and lists what it found."""

import time
from typing import Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.abort import AbortedError
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.ports.web import Hit, Searcher, SearchQuestion
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.result_types import SearchHit, SearchHits, WebSearchShown

MAX_CALLS = 200
"""Of one session."""
_Domains = Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(max_length=20)]


class WebSearchInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=2, description="What to look for")]
    allowed_domains: Annotated[_Domains, Meta(description="Only pages of these domains")] = []
    blocked_domains: Annotated[_Domains, Meta(description="No pages of these domains")] = []


def web_search_tool(searcher: Searcher) -> FunctionTool:
    calls = 0

    @tool(
        name="WebSearch",
        reads_only=True,
        concurrent=True,
        access=Access.NETWORK,
        line=lambda call: f"WebSearch {call.query}",
        description="""Searches the web and lists titles, addresses and excerpts of pages, best first.

Use it for what is newer than you are, or not in the working folder. Read a page with WebFetch before you rely on it.
`allowed_domains` and `blocked_domains` exclude each other.""",
    )
    async def web_search(call: WebSearchInput, context: ToolContext) -> ToolResult:
        nonlocal calls
        from everturn.tools.web_search.domains import parse_domains

        if call.allowed_domains and call.blocked_domains:
            raise InputFault("`allowed_domains`: expected none together with `blocked_domains`. Give one of the two.")
        question = SearchQuestion(
            query=" ".join(call.query.split()),
            allowed_domains=parse_domains("allowed_domains", call.allowed_domains),
            blocked_domains=parse_domains("blocked_domains", call.blocked_domains),
        )
        if calls >= MAX_CALLS:
            raise ToolFault(f"This session has searched {MAX_CALLS} times, which is the limit.")
        calls += 1
        began = time.monotonic()
        try:
            hits = await context.abort.guard(searcher.search(question))
        except AbortedError:
            raise ToolFault("The search was interrupted.") from None
        return _render(question.query, hits, context.tool_use_id, time.monotonic() - began)

    return web_search


def _render(query: str, hits: tuple[Hit, ...], tool_use_id: str, seconds: float) -> ToolResult:
    rows = [f"{at}. {hit.title or hit.url}\n   {hit.url}" + _excerpt(hit) for at, hit in enumerate(hits, 1)]
    found = tuple(SearchHit(title=hit.title, url=hit.url) for hit in hits)
    return ToolResult(
        content="\n".join(rows) or "Nothing was found.",
        shown=WebSearchShown(
            query=query,
            results=(SearchHits(tool_use_id=tool_use_id, content=found),) if found else ("Nothing was found.",),
            duration_seconds=round(seconds, 3),
            search_count=1,
        ),
    )


def _excerpt(hit: Hit) -> str:
    return f"\n   {hit.excerpt}" if hit.excerpt else ""
