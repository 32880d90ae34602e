"""Pages that were fetched in the last quarter of an hour, so that a second question about one costs no second request."""

from collections import OrderedDict
from collections.abc import Callable

import msgspec

KEPT_S = 15 * 60
MOST_PAGES = 50
MOST_CHARACTERS = 5_000_000


class Page(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    """Where it was found in the end."""
    code: int
    code_text: str
    size: int
    """Bytes, unpacked."""
    text: str
    complete: bool


class PageCache:
    """The oldest leave first. `now` gives seconds on a clock that never jumps."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pages: OrderedDict[str, tuple[float, Page]] = OrderedDict()

    def get(self, url: str) -> Page | None:
        self._drop_old()
        entry = self._pages.get(url)
        return entry[1] if entry else None

    def keep(self, url: str, page: Page) -> None:
        self._pages.pop(url, None)
        self._pages[url] = (self._now(), page)
        self._drop_old()

    def _drop_old(self) -> None:
        oldest = self._now() - KEPT_S
        size = sum(len(page.text) for _, page in self._pages.values())
        while self._pages:
            came, page = next(iter(self._pages.values()))
            if came > oldest and len(self._pages) <= MOST_PAGES and size <= MOST_CHARACTERS:
                return
            self._pages.popitem(last=False)
            size -= len(page.text)
