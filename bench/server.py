"""The other end of every benchmark: answers at once with what was encoded before, and writes down when.

Not the model server of the package: that one reads and judges whole requests, which at turn 400 would be much of what
is measured. This one counts the results in a request to know the turn, and looks at nothing else.

A base URL is `http://127.0.0.1:PORT/SCRIPT/RUN`; `GET /times/RUN` tells of each request when its last byte came and
when the last byte of its answer left, in nanoseconds of the monotonic clock, and forgets them.
"""

import argparse
import asyncio
import json
import re
import ssl
import time

from bench.scripts import SCRIPTS, Dialect, Events, render_answer

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
STREAMS = re.compile(rb'"stream": ?true')
BATCH = 64
"""Events that are written before the other connections get their turn."""
DIALECTS: dict[str, tuple[Dialect, bytes]] = {
    "/v1/messages": ("messages", b'"tool_use_id"'),
    "/responses": ("responses", b'"function_call_output"'),
}
"""What the path ends in; the dialect; what stands once in each result."""


class Times:
    def __init__(self) -> None:
        self._runs: dict[str, list[tuple[int, int]]] = {}

    def note(self, run: str, arrived: int, left: int) -> None:
        self._runs.setdefault(run, []).append((arrived, left))

    def take(self, run: str) -> bytes:
        return json.dumps(self._runs.pop(run, [])).encode()


class Talk(asyncio.Protocol):
    def __init__(self, times: Times) -> None:
        self._times = times
        self._buffer = bytearray()
        self._missing = 0
        self._writable = asyncio.Event()
        self._writable.set()
        self._sending: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("not a stream")
        self._transport = transport

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, _: Exception | None) -> None:
        for task in self._sending:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._missing == 0:
            end = self._buffer.find(HEAD_END)
            if end < 0:
                return
            length = LENGTH.search(self._buffer, 0, end)
            self._missing = end + len(HEAD_END) + (int(length[1]) if length else 0)
        if len(self._buffer) >= self._missing:
            arrived = time.monotonic_ns()
            request = bytes(self._buffer[: self._missing])
            del self._buffer[: self._missing]
            self._missing = 0
            self._answer(request, arrived)

    def _answer(self, request: bytes, arrived: int) -> None:
        method, target, _ = request[: request.index(b"\r\n")].decode("latin-1").split(" ", 2)
        path = target.partition("?")[0]
        _, script, run, *_ = [*path.split("/"), "", ""]
        ending = next((known for known in DIALECTS if path.endswith(known)), None)
        if script == "times":
            self._send_json(self._times.take(run))
        elif method == "POST" and script in SCRIPTS and ending is not None:
            dialect, mark = DIALECTS[ending]
            streams = STREAMS.search(request) is not None
            events = render_answer(script, request.count(mark), dialect, streams=streams)
            if streams:
                self._send_stream(events, run, arrived)
            else:
                self._times.note(run, arrived, time.monotonic_ns())
                self._send_json(events[0])
        else:
            self._send_json(b'{"data":[],"models":[]}')

    def _send_json(self, body: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        self._transport.write(head + body)

    def _send_stream(self, events: Events, run: str, arrived: int) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        if len(events) == 1:
            self._times.note(run, arrived, time.monotonic_ns())
            self._transport.write(head + chunk(events[0]) + chunk(b""))
            return
        self._transport.write(head)
        task = asyncio.get_running_loop().create_task(self._send_pieces(events, run, arrived))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send_pieces(self, events: Events, run: str, arrived: int) -> None:
        for number, event in enumerate(events):
            self._transport.write(chunk(event))
            if number % BATCH == 0:
                await asyncio.sleep(0)
                await self._writable.wait()
        self._times.note(run, arrived, time.monotonic_ns())
        self._transport.write(chunk(b""))


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def serve(certificate: str, key: str) -> None:
    """Prints the two ports, plain and TLS, and serves until it is ended."""
    loop, times = asyncio.get_running_loop(), Times()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    plain = await loop.create_server(lambda: Talk(times), "127.0.0.1", 0, backlog=1_024)
    secure = await loop.create_server(lambda: Talk(times), "127.0.0.1", 0, backlog=1_024, ssl=context)
    print(*(server.sockets[0].getsockname()[1] for server in (plain, secure)), flush=True)
    async with plain, secure:
        await asyncio.gather(plain.serve_forever(), secure.serve_forever())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("certificate")
    parser.add_argument("key")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.certificate, arguments.key))
