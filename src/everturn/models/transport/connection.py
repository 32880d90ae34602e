"""One HTTP/1.1 connection: writes a request, reads its answer, knows whether it can serve again."""

import asyncio
import contextlib
import errno
import os
import re
import socket
import ssl
from collections.abc import Mapping
from functools import lru_cache

from everturn.core.errors import FaultKind, ModelFault
from everturn.models.transport.origin import Origin
from everturn.models.transport.reply import BrokenReplyError, HttpReply
from everturn.models.transport.tls import describe_refusal
from everturn.models.transport.wire import HttpWire

UNSENDABLE = "The request cannot be sent: its path or a header holds characters that HTTP does not allow."
_PATH = re.compile(r"[\x21-\x7e]+")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?")


class Unanswered(Exception):
    """The peer went away before the first byte of an answer; on a reused connection that only means it was stale."""


class Connection:
    def __init__(self, origin: Origin, wire: HttpWire) -> None:
        self.origin = origin
        self.idle_since = 0.0
        self._wire = wire
        self._heard = False
        self._reply: HttpReply | None = None

    @property
    def fresh(self) -> bool:
        """Nothing came that was not asked for, and nobody hung up."""
        return self._wire.quiet

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, *, stall_s: float
    ) -> HttpReply:
        """The answer, its head read. Raises `Unanswered` where no byte of one came, `ModelFault` for everything else."""
        self._heard = False
        host, reply = self.origin.authority, HttpReply()
        head = encode_head(method, host, path, tuple(headers.items()))
        self._reply = reply
        try:
            length = b"content-length: %d\r\n" % len(body) if body or method == "POST" else b""
            await self._wire.write(b"%b%b\r\n" % (head, length), body, stall_s)
            while not reply.take_head():
                data = await self._wire.read(stall_s)
                self._heard = self._heard or bool(data)
                reply.feed(data)
        except BrokenReplyError as error:
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
        return reply

    async def read_piece(self, stall_s: float) -> bytes:
        """What came of the body, still encoded; empty at its end. Raises `ModelFault`."""
        host, reply = self.origin.authority, self._reply
        try:
            while reply is not None:
                if piece := reply.take_body():
                    return piece
                if reply.is_whole:
                    break
                reply.feed(await self._wire.read(stall_s))
        except BrokenReplyError:
            raise ModelFault(FaultKind.STREAM_BROKEN, f"{host} broke off in the middle of its answer.") from None
        except TimeoutError:
            silence = f"{host} fell silent in the middle of its answer (no byte for {stall_s:g} s)."
            raise ModelFault(FaultKind.STALLED, silence) from None
        except OSError as error:
            broken = f"The connection to {host} broke: {describe_failure(error)}."
            raise ModelFault(FaultKind.STREAM_BROKEN, broken) from None
        return b""

    async def finish(self, max_wait_s: float) -> None:
        """Reads on to the end of the answer, if that is near."""
        if not self.rewind():
            with contextlib.suppress(TimeoutError, ModelFault):
                async with asyncio.timeout(max_wait_s):
                    while await self.read_piece(max_wait_s):
                        pass

    def rewind(self) -> bool:
        """Ready for the next request? Looks only at what has come already; never waits."""
        try:
            while self._reply is not None and self._reply.take_body():
                pass
        except BrokenReplyError:
            return False
        return (self._reply is None or self._reply.can_follow) and self.fresh

    async def close(self) -> None:
        await self._wire.close()


@lru_cache(maxsize=64)
def encode_head(method: str, host: str, path: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    """All but the length: that of each turn differs in nothing else. Raises `ModelFault`."""
    fields = (("host", host), *headers)
    if not _PATH.fullmatch(path) or not all(
        _NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in fields
    ):
        # The values stay out of the text: they may be secret.
        raise ModelFault(FaultKind.INVALID, UNSENDABLE)
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"{method} {path} HTTP/1.1\r\n{lines}".encode("latin-1")


async def open_connection(origin: Origin, context: ssl.SSLContext | None, *, connect_s: float) -> Connection:
    """Raises `ModelFault`: nobody there, nobody answers in time, or a certificate that cannot be trusted."""
    host = origin.authority
    try:
        async with asyncio.timeout(connect_s):
            _, wire = await asyncio.get_running_loop().create_connection(
                HttpWire,
                origin.host,
                origin.port,
                ssl=context,
                happy_eyeballs_delay=None if _is_address(origin.host) else 0.25,
            )
    except TimeoutError:
        late = f"No connection to {host} within {connect_s:g} s."
        raise ModelFault(FaultKind.CONNECTION, late, reached=False) from None
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
        raise ModelFault(FaultKind.CONNECTION, f"{host} hung up during the TLS handshake.") from None
    except ssl.SSLError as error:
        raise describe_refusal(origin.host, error) from None
    except OSError as error:
        nobody = f"No connection to {host}: {describe_failure(error)}."
        raise ModelFault(FaultKind.CONNECTION, nobody, reached=False) from None
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
