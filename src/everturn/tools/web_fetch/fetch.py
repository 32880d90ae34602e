"""Fetching a page: http becomes https, redirects are followed on the same host only, each hop is judged anew; what came is kept for a quarter of an hour."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import urljoin

import msgspec

from everturn import __version__
from everturn.core.errors import ToolFault
from everturn.ports.web import PORTS, Net, WebUrl, parse_web_url
from everturn.tools.web.get import REDIRECTS, HttpAnswer, run_get
from everturn.tools.web_fetch.page import decode_body, render_page

MAX_HOPS = 10
MAX_WAIT_S = 30.0
_EXCERPT = 1_000
_HEADERS = {
    "user-agent": f"Everturn/{__version__} (a coding agent; fetches what its user asks for)",
    "accept": "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.8, */*;q=0.5",
    "accept-language": "en, *;q=0.5",
}
_FAILED = 400
KEPT_S = 15 * 60
MAX_PAGES = 50
MAX_CHARACTERS = 5_000_000


class FetchedPage(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    """Where it was found in the end."""
    code: int
    code_text: str
    size: int
    """Bytes, unpacked."""
    text: str
    complete: bool


class MovedPage(msgspec.Struct, frozen=True, kw_only=True):
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


async def run_fetch(net: Net, url: WebUrl, *, max_wait_s: float = MAX_WAIT_S) -> FetchedPage | MovedPage:
    """Raises `ToolFault`."""
    try:
        async with asyncio.timeout(max_wait_s):
            return await _follow(net, url)
    except TimeoutError:
        raise ToolFault(f"{url.host} did not send the page within {max_wait_s:g} s.") from None


async def _follow(net: Net, first: WebUrl) -> FetchedPage | MovedPage:
    url = first
    for _ in range(MAX_HOPS + 1):
        answer = await run_get(net, url, _HEADERS)
        if answer.status not in REDIRECTS or "location" not in answer.headers:
            return await _page(url, answer)
        target = _plan_hop(url, answer.headers["location"])
        if (target.host, target.port) != (url.host, url.port):
            return MovedPage(url=str(first), to=str(target), code=answer.status, code_text=answer.reason)
        url = target
    raise ToolFault(f"{first} was redirected more than {MAX_HOPS} times.")


def _plan_hop(url: WebUrl, location: str) -> WebUrl:
    try:
        return plan_url(urljoin(str(url), location))
    except (ToolFault, ValueError):
        raise ToolFault(f"{url} redirects to something that is not a public http or https URL.") from None


async def _page(url: WebUrl, answer: HttpAnswer) -> FetchedPage:
    if answer.status >= _FAILED:
        # The words of an error page may say why; its markup does not matter.
        text = decode_body(answer.body[:_EXCERPT], answer.headers.get("content-type", ""), complete=False)
    else:
        text = await asyncio.to_thread(render_page, answer, str(url))
    return FetchedPage(
        url=str(url),
        code=answer.status,
        code_text=answer.reason,
        size=len(answer.body),
        text=text,
        complete=answer.complete,
    )


class PageCache:
    """The oldest leave first. `now` gives seconds on a clock that never jumps."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pages: OrderedDict[str, tuple[float, FetchedPage]] = OrderedDict()

    def get(self, url: str) -> FetchedPage | None:
        self._drop_old()
        entry = self._pages.get(url)
        return entry[1] if entry else None

    def keep(self, url: str, page: FetchedPage) -> None:
        self._pages.pop(url, None)
        self._pages[url] = (self._now(), page)
        self._drop_old()

    def _drop_old(self) -> None:
        oldest = self._now() - KEPT_S
        size = sum(len(page.text) for _, page in self._pages.values())
        while self._pages:
            came, page = next(iter(self._pages.values()))
            if came > oldest and len(self._pages) <= MAX_PAGES and size <= MAX_CHARACTERS:
                return
            self._pages.popitem(last=False)
            size -= len(page.text)
