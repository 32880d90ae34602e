"""Stream-json on its way out: each event's lines are encoded, cut to size and flushed."""

import asyncio
from collections.abc import Callable
from typing import Any

from everturn.core.events import BlockFinished
from everturn.frontends.headless.lines import MAX_BYTES, encode_line
from everturn.frontends.headless.sink import Sink
from everturn.frontends.headless.stream_json import Line, StreamJson
from everturn.frontends.headless.view import Handlers

HELD_S = 0.05
"""How long a finished block waits for the end of its answer, which usually comes with it."""


class StreamJsonView:
    """A reader sees an event when it happens."""

    def __init__(self, out: Sink, renderer: StreamJson, init: Line, *, most: int = MAX_BYTES) -> None:
        self._out = out
        self._renderer = renderer
        self._init = init
        self._most = most
        self._timer: asyncio.TimerHandle | None = None

    @property
    def handlers(self) -> Handlers:
        writing = {kind: self._writing(render) for kind, render in self._renderer.shows.items()}
        return writing | {BlockFinished: self._block_finished}

    def begin(self) -> None:
        self._write([self._init])

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _block_finished(self, event: BlockFinished) -> None:
        self._write(self._renderer.render_event(event))
        self.close()
        self._timer = asyncio.get_running_loop().call_later(HELD_S, self._release)

    def _release(self) -> None:
        self._timer = None
        self._write(self._renderer.release())

    def _writing(self, render: Callable[[Any], list[Line]]) -> Callable[[Any], None]:
        def write(event: Any) -> None:
            self._write(render(event))

        return write

    def _write(self, lines: list[Line]) -> None:
        if lines:
            self._out.write(b"".join(encode_line(line, most=self._most) for line in lines))
