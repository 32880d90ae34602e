"""Fetching a page: http becomes https, redirects are followed on the same host only, each hop is judged anew."""

import asyncio
from urllib.parse import urljoin

import msgspec

from everturn import __version__
from everturn.core.errors import ToolFault
from everturn.ports.web import PORTS, Net, WebUrl, parse_web_url
from everturn.tools.web.get import REDIRECTS, Answer, run_get
from everturn.tools.web_fetch.cache import Page
from everturn.tools.web_fetch.page import decode_body, render_page

MOST_HOPS = 10
PATIENCE_S = 30.0
_EXCERPT = 1_000
_HEADERS = {
    "user-agent": f"Everturn/{__version__} (a coding agent; fetches what its user asks for)",
    "accept": "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.8, */*;q=0.5",
    "accept-language": "en, *;q=0.5",
}
_FAILED = 400


class Elsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """The page has moved to another host, which needs a permission of its own."""

    url: str
    to: str
    code: int
    code_text: str


def plan_url(text: str) -> WebUrl:
    """Raises `ToolFault`. A plain URL on its usual port is asked for over TLS."""
    url = parse_web_url(text)
    if url.scheme == "http" and url.port == PORTS["http"]:
        return msgspec.structs.replace(url, scheme="https", port=PORTS["https"])
    return url


async def run_fetch(net: Net, url: WebUrl, *, patience_s: float = PATIENCE_S) -> Page | Elsewhere:
    """Raises `ToolFault`."""
    try:
        async with asyncio.timeout(patience_s):
            return await _follow(net, url)
    except TimeoutError:
        raise ToolFault(f"{url.host} did not send the page within {patience_s:g} s.") from None


async def _follow(net: Net, first: WebUrl) -> Page | Elsewhere:
    url = first
    for _ in range(MOST_HOPS + 1):
        answer = await run_get(net, url, _HEADERS)
        if answer.status not in REDIRECTS or "location" not in answer.headers:
            return await _page(url, answer)
        target = _plan_hop(url, answer.headers["location"])
        if (target.host, target.port) != (url.host, url.port):
            return Elsewhere(url=str(first), to=str(target), code=answer.status, code_text=answer.reason)
        url = target
    raise ToolFault(f"{first} was redirected more than {MOST_HOPS} times.")


def _plan_hop(url: WebUrl, location: str) -> WebUrl:
    try:
        return plan_url(urljoin(str(url), location))
    except (ToolFault, ValueError):
        raise ToolFault(f"{url} redirects to something that is not a public http or https URL.") from None


async def _page(url: WebUrl, answer: Answer) -> Page:
    if answer.status >= _FAILED:
        # The words of an error page may say why; its markup does not matter.
        text = decode_body(answer.body[:_EXCERPT], answer.headers.get("content-type", ""), complete=False)
    else:
        text = await asyncio.to_thread(render_page, answer, str(url))
    return Page(
        url=str(url),
        code=answer.status,
        code_text=answer.reason,
        size=len(answer.body),
        text=text,
        complete=answer.complete,
    )
