"""Stream-json on its way out: each event's lines are encoded, cut to size and flushed."""

from collections.abc import Callable
from typing import Any

from everturn.frontends.headless.lines import MOST_BYTES, encode_line
from everturn.frontends.headless.sink import Sink
from everturn.frontends.headless.stream_json import Line, StreamJson
from everturn.frontends.headless.view import Handlers


class StreamJsonView:
    """A reader sees an event when it happens."""

    def __init__(self, out: Sink, renderer: StreamJson, init: Line, *, most: int = MOST_BYTES) -> None:
        self._out = out
        self._renderer = renderer
        self._init = init
        self._most = most

    @property
    def handlers(self) -> Handlers:
        return {kind: self._writing(render) for kind, render in self._renderer.shows.items()}

    def begin(self) -> None:
        self._write([self._init])

    def close(self) -> None:
        pass

    def _writing(self, render: Callable[[Any], list[Line]]) -> Callable[[Any], None]:
        def write(event: Any) -> None:
            self._write(render(event))

        return write

    def _write(self, lines: list[Line]) -> None:
        if lines:
            self._out.write(b"".join(encode_line(line, most=self._most) for line in lines))
