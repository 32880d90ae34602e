"""The transport for those behind a proxy: httpx2 does the tunnelling, limits and decoding stay ours."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from everturn.core.errors import FaultKind, ModelFault
from everturn.models.transport.body import ResponseBody
from everturn.models.transport.connection import UNSENDABLE, describe_failure
from everturn.models.transport.limits import BODY_CAP, CONNECT_S, IDLE_S, STALL_S
from everturn.models.transport.origin import parse_target
from everturn.models.transport.tls import build_context, describe_refusal

if TYPE_CHECKING:
    import httpx2

PROXY_AUTHENTICATION = 407
USUAL_PORTS = {"http": 80, "https": 443}
WHAT_A_PROXY_WANTS = (
    "The proxy wants a user name and password (HTTP 407): write them into the proxy's address, "
    "as in HTTPS_PROXY=http://user:password@host:port."
)


class Httpx2Response:
    def __init__(self, owner: "Httpx2Transport", host: str, answer: "httpx2.Response") -> None:
        self.status = answer.status_code
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in answer.headers.items()}
        self._owner = owner
        self._host = host
        self._answer = answer
        self._pieces = self._read()

    def body(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self, max_wait_s: float = 0.0) -> None:
        if max_wait_s:
            with contextlib.suppress(TimeoutError, ModelFault):
                async with asyncio.timeout(max_wait_s):
                    async for _ in self._pieces:
                        pass
        await self._pieces.aclose()
        with contextlib.suppress(Exception):  # closing what is broken already tells nothing new
            await self._answer.aclose()

    async def _read(self) -> AsyncGenerator[bytes, None]:
        import httpx2

        body = ResponseBody(self.headers.get("content-encoding", ""), self._owner.body_cap)
        try:
            async for piece in self._answer.aiter_raw():
                for part in body.feed(piece):
                    yield part
        except httpx2.TimeoutException:
            silence = f"{self._host} fell silent in the middle of its answer (no byte for {self._owner.stall_s:g} s)."
            raise ModelFault(FaultKind.STALLED, silence) from None
        except (httpx2.HTTPError, httpx2.StreamError, OSError):
            broken = f"{self._host} broke off in the middle of its answer."
            raise ModelFault(FaultKind.STREAM_BROKEN, broken) from None
        body.finish()


class Httpx2Transport:
    """Like `Http1Transport`, by way of `proxy` (a URL, perhaps with user and password) or directly where it is None."""

    def __init__(
        self,
        *,
        proxy: str | None = None,
        connect_s: float = CONNECT_S,
        stall_s: float = STALL_S,
        idle_s: float = IDLE_S,
        ca_file: str | None = None,
        body_cap: int = BODY_CAP,
    ) -> None:
        self.stall_s = stall_s
        self.body_cap = body_cap
        self._connect_s = connect_s
        self._idle_s = idle_s
        self._proxy = proxy
        self._ca_file = ca_file
        self._client: httpx2.AsyncClient | None = None
        self._building = asyncio.Lock()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Httpx2Response:
        return await self.send("POST", url, headers, body)

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Httpx2Response:
        import httpx2

        origin, _ = parse_target(url)
        client = await self._ready()
        fields = {"accept-encoding": "identity", **headers}
        try:
            request = client.build_request(
                method, url, headers=fields, content=body or (b"" if method == "POST" else None)
            )
            answer = await client.send(request, stream=True)
        except httpx2.HTTPError as error:
            raise self._explain(origin.authority, error) from None
        except (UnicodeEncodeError, httpx2.InvalidURL):
            raise ModelFault(FaultKind.INVALID, UNSENDABLE) from None
        except OSError as error:
            raise _unreached(f"No connection to {origin.authority}: {describe_failure(error)}.") from None
        return Httpx2Response(self, origin.authority, answer)

    async def warm(self, url: str) -> None:
        """Builds the client; httpx2 opens connections only for a request."""
        del url
        with contextlib.suppress(ModelFault):
            await self._ready()

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _ready(self) -> "httpx2.AsyncClient":
        import httpx2

        async with self._building:
            if self._client is None:
                context = await asyncio.to_thread(build_context, self._ca_file)
                self._client = httpx2.AsyncClient(
                    verify=context,
                    proxy=httpx2.Proxy(self._proxy) if self._proxy else None,
                    timeout=httpx2.Timeout(self.stall_s, connect=self._connect_s),
                    limits=httpx2.Limits(keepalive_expiry=self._idle_s),
                    trust_env=False,
                )
            return self._client

    def _explain(self, host: str, error: "httpx2.HTTPError") -> ModelFault:
        import httpx2

        proxy = f" by way of the proxy {name_proxy(self._proxy)}" if self._proxy else ""
        cause = _root_cause(error)
        match error:
            case httpx2.LocalProtocolError():
                return ModelFault(FaultKind.INVALID, UNSENDABLE)
            case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                return _unreached(f"No connection to {host}{proxy} within {self._connect_s:g} s.")
            case httpx2.TimeoutException():
                return ModelFault(FaultKind.STALLED, f"{host} did not answer within {self.stall_s:g} s.")
            case httpx2.ProxyError() if str(error).startswith(str(PROXY_AUTHENTICATION)):
                return ModelFault(FaultKind.AUTHENTICATION, WHAT_A_PROXY_WANTS, status=PROXY_AUTHENTICATION)
            case httpx2.ProxyError():
                return ModelFault(FaultKind.CONNECTION, f"No connection to {host}{proxy}: {error}.")
            case httpx2.ConnectError() if isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
                return ModelFault(FaultKind.CONNECTION, f"{host} hung up during the TLS handshake.")
            case httpx2.ConnectError() if isinstance(cause, ssl.SSLError):
                return describe_refusal(host.partition(":")[0], cause)
            case httpx2.ConnectError() if isinstance(cause, OSError):
                return _unreached(f"No connection to {host}{proxy}: {describe_failure(cause)}.")
            case httpx2.RemoteProtocolError() if "without sending" not in str(error):
                return ModelFault(FaultKind.CONNECTION, f"{host} did not answer with HTTP ({error}).")
            case _:
                reason = str(error) or type(error).__name__
                return ModelFault(FaultKind.CONNECTION, f"{host} broke the connection before it answered ({reason}).")


def name_proxy(url: str) -> str:
    """Host and port, also where the port is the usual one: never the user and the password."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{parts.port or USUAL_PORTS[parts.scheme]}"


def _unreached(text: str) -> ModelFault:
    return ModelFault(FaultKind.CONNECTION, text, reached=False)


def _root_cause(error: BaseException) -> BaseException:
    """The system's own error, below the wrapping of httpx2, httpcore2 and anyio."""
    seen: BaseException = error
    while (below := seen.__cause__ or seen.__context__) is not None:
        seen = below
    return seen
