"""One HTTP/1.1 connection: writes a request, reads its answer, knows whether it can serve again."""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from functools import lru_cache

import h11

from everturn.core.errors import FaultKind, ModelFault
from everturn.models.transport.origin import Origin
from everturn.models.transport.tls import describe_refusal
from everturn.models.transport.wire import Wire

HEADER_LIMIT = 131_072
UNSENDABLE = "The request cannot be sent: its path or a header holds characters that HTTP does not allow."
_ASKED = h11.Request(method="POST", target="/", headers=[("host", "-"), ("content-length", "0")])
_SAID = h11.EndOfMessage()
"""What h11 is told of every request: enough to read its answer by. The bytes are `encode_head`'s."""


class Unanswered(Exception):
    """The peer went away before the first byte of an answer; on a reused connection that only means it was stale."""


class Connection:
    def __init__(self, origin: Origin, wire: Wire) -> None:
        self.origin = origin
        self.idle_since = 0.0
        self._wire = wire
        self._heard = False
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADER_LIMIT)

    @property
    def fresh(self) -> bool:
        """Nothing came that was not asked for, and nobody hung up."""
        return self._wire.quiet

    async def ask(self, path: str, headers: Mapping[str, str], body: bytes, *, stall_s: float) -> h11.Response:
        """Raises `Unanswered` where no byte of an answer came, `ModelFault` for everything else."""
        self._heard = False
        host = self.origin.authority
        head = encode_head(host, path, tuple(headers.items()))
        self._http.send(_ASKED)
        self._http.send(_SAID)
        try:
            await self._wire.write(b"%bcontent-length: %d\r\n\r\n" % (head, len(body)), body, stall_s)
            while not isinstance(event := await self._next(stall_s), h11.Response):
                pass
        except h11.RemoteProtocolError as error:
            if not self._heard:
                raise Unanswered(f"{host} closed the connection without an answer.") from None
            raise ModelFault(FaultKind.CONNECTION, f"{host} did not answer with HTTP ({error}).") from None
        except TimeoutError:
            raise ModelFault(FaultKind.STALLED, f"{host} did not answer within {stall_s:g} s.") from None
        except OSError as error:
            broken = f"{host} broke the connection before it answered ({describe_failure(error)})."
            if not self._heard:
                raise Unanswered(broken) from None
            raise ModelFault(FaultKind.CONNECTION, broken) from None
        return event

    async def read_piece(self, stall_s: float) -> bytes:
        """What came of the body, still encoded; empty at its end. Raises `ModelFault`."""
        host = self.origin.authority
        try:
            while self._http.their_state is h11.SEND_BODY:
                event = await self._next(stall_s)
                if isinstance(event, h11.Data):
                    return b"".join((event.data, *self._received()))
        except h11.RemoteProtocolError:
            raise ModelFault(FaultKind.STREAM_BROKEN, f"{host} broke off in the middle of its answer.") from None
        except TimeoutError:
            silence = f"{host} fell silent in the middle of its answer (no byte for {stall_s:g} s)."
            raise ModelFault(FaultKind.STALLED, silence) from None
        except OSError as error:
            broken = f"The connection to {host} broke: {describe_failure(error)}."
            raise ModelFault(FaultKind.STREAM_BROKEN, broken) from None
        return b""

    def rewind(self) -> bool:
        """Ready for the next request? Looks only at what has come already; never waits."""
        if self._http.our_state is h11.IDLE:
            return self.fresh
        try:
            while self._http.their_state is h11.SEND_BODY:
                if self._http.next_event() is h11.NEED_DATA:
                    return False
            self._http.start_next_cycle()
        except h11.ProtocolError:
            return False
        return self.fresh

    async def close(self) -> None:
        await self._wire.close()

    def _received(self) -> Iterator[bytes]:
        """What else is here already: many small chunks cost less as one piece."""
        while self._http.their_state is h11.SEND_BODY and isinstance(event := self._http.next_event(), h11.Data):
            yield event.data

    async def _next(self, stall_s: float) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            data = await self._wire.read(stall_s)
            self._heard = self._heard or bool(data)
            self._http.receive_data(data)
        return event


@lru_cache(maxsize=64)
def encode_head(host: str, path: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    """All but the length: that of each turn differs in nothing else. Judged by h11; raises `ModelFault`."""
    try:
        fields = [(name.encode("ascii"), value.encode("latin-1")) for name, value in (("host", host), *headers)]
        whole = h11.Connection(h11.CLIENT).send(h11.Request(method="POST", target=path, headers=fields))
    except (h11.LocalProtocolError, UnicodeEncodeError):
        # The values stay out of the text: they may be secret.
        raise ModelFault(FaultKind.INVALID, UNSENDABLE) from None
    return (whole or b"").removesuffix(b"\r\n")


async def open_connection(origin: Origin, context: ssl.SSLContext | None, *, connect_s: float) -> Connection:
    """Raises `ModelFault`: nobody there, nobody answers in time, or a certificate that cannot be trusted."""
    host = origin.authority
    try:
        async with asyncio.timeout(connect_s):
            _, wire = await asyncio.get_running_loop().create_connection(
                Wire,
                origin.host,
                origin.port,
                ssl=context,
                happy_eyeballs_delay=None if _is_address(origin.host) else 0.25,
            )
    except TimeoutError:
        raise ModelFault(FaultKind.CONNECTION, f"No connection to {host} within {connect_s:g} s.") from None
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
        raise ModelFault(FaultKind.CONNECTION, f"{host} hung up during the TLS handshake.") from None
    except ssl.SSLError as error:
        raise describe_refusal(origin.host, error) from None
    except OSError as error:
        raise ModelFault(FaultKind.CONNECTION, f"No connection to {host}: {describe_failure(error)}.") from None
    return Connection(origin, wire)


def describe_failure(error: OSError) -> str:
    """The system's words for it, without the addresses that asyncio adds."""
    if isinstance(error, socket.gaierror):
        return f"the name cannot be resolved ({error.strerror})"
    if error.errno is not None and error.errno in errno.errorcode:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error) or type(error).__name__


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()
