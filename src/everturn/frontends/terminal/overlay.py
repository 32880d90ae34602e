"""What has the whole screen and all keys until it closes; the conversation goes on behind it."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from everturn.frontends.asking.dialogue import ARMING_S
from everturn.frontends.terminal.live_screen import LiveScreen
from everturn.frontends.terminal.results import Details

if TYPE_CHECKING:
    from everturn.frontends.terminal.pager import DetailsPager


class Overlay:
    def __init__(self, screen: LiveScreen, *, notice: Callable[[], str]) -> None:
        """`notice` is what the person should know of the conversation behind it."""
        self._screen = screen
        self._notice = notice
        self.pager: DetailsPager | None = None
        """None while the conversation has the screen."""
        self._closed_s = 0.0
        self._is_read: asyncio.Future[None] | None = None
        """Done when it closes, for who waits for that."""

    @property
    def is_just_closed(self) -> bool:
        """What has come up behind it has just been seen: a key that leaves twice is no answer."""
        return time.monotonic() - self._closed_s <= ARMING_S

    def open(self, details: Details) -> None:
        from everturn.frontends.terminal.pager import DetailsPager

        self._screen.open_alternate()
        self.pager = DetailsPager(details, self._screen, close=self.close, notice=self._notice)

    async def read(self, details: Details) -> None:
        """Until the person has left it."""
        self._is_read = asyncio.get_running_loop().create_future()
        self.open(details)
        self.draw()
        await self._is_read

    def draw(self) -> None:
        if self.pager is not None:
            self.pager.draw()

    def resize(self) -> None:
        if self.pager is not None:
            self.pager.resize()

    def close(self) -> None:
        if self.pager is None:
            return
        self.pager, self._closed_s = None, time.monotonic()
        self._screen.close_alternate()
        if self._is_read is not None and not self._is_read.done():
            self._is_read.set_result(None)
