"""The WebFetch tool: fetches a page, or takes it from the cache, and lets the small model answer the prompt."""

import time
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from everturn.core.errors import ToolFault
from everturn.ports.abort import AbortedError
from everturn.ports.tool import Access, ToolContext, ToolResult
from everturn.ports.web import Net
from everturn.tools.definition.decorator import FunctionTool, tool
from everturn.tools.result_types import WebFetchShown

if TYPE_CHECKING:
    from everturn.tools.web_fetch.fetch import FetchedPage, MovedPage, PageCache

_FAILED = 400


class WebFetchInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(min_length=1, description="Absolute http or https URL of a public page")]
    prompt: Annotated[str, Meta(min_length=1, description="What to find out from the page")]


def web_fetch_tool(net: Net | None = None, small_model: str | None = None) -> FunctionTool:
    """`net` None: the machine's own. `small_model` None: the session's main model reads the page."""
    fetcher = _Fetcher(net, small_model)

    @tool(
        name="WebFetch",
        reads_only=True,
        concurrent=True,
        access=Access.NETWORK,
        line=lambda call: f"WebFetch {call.url}",
        description="""Fetches a public web page and answers `prompt` from it.

HTML becomes Markdown, a small model reads it, and you get its answer, not the page. Pages are kept for 15 minutes.
A redirect to another host is reported and not followed: call again with the new URL. Private addresses, pages behind
a login and files that are not text cannot be fetched.""",
    )
    async def web_fetch(call: WebFetchInput, context: ToolContext) -> ToolResult:
        try:
            return await context.abort.guard(fetcher.run(call, context))
        except AbortedError:
            raise ToolFault("The fetch was interrupted.") from None

    return web_fetch


class _Fetcher:
    """One session's network and cache, made at the first call."""

    def __init__(self, net: Net | None, small_model: str | None) -> None:
        self._net = net
        self._small_model = small_model
        self._cache: PageCache | None = None

    async def run(self, call: WebFetchInput, context: ToolContext) -> ToolResult:
        from everturn.tools.web_fetch.fetch import FetchedPage
        from everturn.tools.web_fetch.question import ask_about

        began = time.monotonic()
        found = await self._find(call.url)
        if not isinstance(found, FetchedPage):
            return _render_elsewhere(found, began)
        if found.code >= _FAILED:
            return _render_failure(found, began)
        result = await ask_about(found, call.prompt, context.ask, self._small_model)
        return ToolResult(content=result, shown=_show(found, result, began))

    async def _find(self, text: str) -> "FetchedPage | MovedPage":
        from everturn.tools.web_fetch.fetch import FetchedPage, PageCache, plan_url, run_fetch

        if self._net is None:
            from everturn.tools.web.system_net import SystemNet

            self._net = SystemNet()
        cache = self._cache = self._cache or PageCache(time.monotonic)
        url = plan_url(text)
        if (kept := cache.get(str(url))) is not None:
            return kept
        found = await run_fetch(self._net, url)
        if isinstance(found, FetchedPage) and found.code < _FAILED:
            cache.keep(str(url), found)
        return found


def _show(page: "FetchedPage", result: str, began: float) -> WebFetchShown:
    return WebFetchShown(
        bytes=page.size,
        code=page.code,
        code_text=page.code_text or _phrase(page.code),
        result=result,
        duration_ms=round((time.monotonic() - began) * 1000),
        url=page.url,
    )


def _render_elsewhere(moved: "MovedPage", began: float) -> ToolResult:
    text = (
        f"{moved.url} redirects to another host, which was not followed:\n{moved.to}\n"
        "To go there, call WebFetch again with that URL."
    )
    return ToolResult(
        content=text,
        shown=WebFetchShown(
            bytes=0,
            code=moved.code,
            code_text=moved.code_text or _phrase(moved.code),
            result=text,
            duration_ms=round((time.monotonic() - began) * 1000),
            url=moved.url,
        ),
    )


def _render_failure(page: "FetchedPage", began: float) -> ToolResult:
    said = f"\nIt says:\n{page.text.strip()}" if page.text.strip() else ""
    text = f"{page.url} answered {page.code} {page.code_text or _phrase(page.code)}.{said}"
    return ToolResult(content=text, is_error=True, shown=_show(page, text, began))


def _phrase(code: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return ""
