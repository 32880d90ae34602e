"""The model behind the Messages API: sends a request, turns its answer into events, and every failure into a fault."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping

from everturn.core.errors import FaultKind, ModelFault
from everturn.core.stream import MessageStopped, Pinged, StreamEvent
from everturn.models.anthropic.credentials import Credentials
from everturn.models.anthropic.decode import decode_event, decode_message, load_object
from everturn.models.anthropic.encode import encode_count, encode_request
from everturn.models.anthropic.endpoint import COUNT_TOKENS, DEFAULT_BASE_URL, MESSAGES, parse_base_url
from everturn.models.anthropic.headers import headers_for
from everturn.models.anthropic.sse import SseParser
from everturn.ports.model import Catalog, Request
from everturn.ports.transport import Response, Transport

ERROR_LIMIT = 262_144
"""Bytes of a refusal that are read."""
SETTLE_S = 0.1
"""How long the end of a body is awaited once the message has ended, to keep the connection."""
JSON, HTML = "application/json", "text/html"
_UNAUTHORISED = 401
_SUCCESS = range(200, 300)
_SECRET_NAMES = ("auth", "key", "token", "secret", "cookie", "password")


class AnthropicModel:
    """Never retries, with one exception: a key that a helper printed is renewed once when it is refused.

    `version` is Everturn's, for the user agent; `betas` go with every request.
    """

    def __init__(
        self,
        *,
        transport: Transport,
        catalog: Catalog,
        credentials: Credentials,
        base_url: str = DEFAULT_BASE_URL,
        version: str = "",
        betas: Iterable[str] = (),
        custom_headers: Mapping[str, str] | None = None,
        first_event_s: float = 0.0,
    ) -> None:
        """`first_event_s`: seconds until an answer must have begun; 0 = no limit."""
        self._transport = transport
        self._catalog = catalog
        self._credentials = credentials
        self._base_url = parse_base_url(base_url)
        self._version = version
        self._betas = tuple(betas)
        self._custom = dict(custom_headers or {})
        self._first_event_s = first_event_s
        self._keyless = not credentials.present
        for name, value in self._custom.items():
            if any(word in name.lower() for word in _SECRET_NAMES):
                credentials.hide(value, value.rpartition(" ")[2])
                self._keyless = False

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Ends where the body ends or the message does; judging whether that was all is the engine's."""
        body = encode_request(request, self._catalog.card(request.model))
        parser, told, max_wait_s = SseParser(), False, 0.0
        began_s = time.monotonic()
        try:
            response = await self._post(MESSAGES, request, body)
            try:
                pieces = response.body()
                kind = kind_of(response)
                async for piece in pieces:
                    kind = kind or sniff_kind(piece)
                    if kind in {JSON, HTML}:
                        for event in await self._read_whole(kind, piece, pieces):
                            yield event
                        return
                    for payload in parser.feed(piece):
                        event = decode_event(payload)
                        if type(event) is MessageStopped:
                            max_wait_s = SETTLE_S
                            yield event
                            return
                        told = told or type(event) is not Pinged
                        yield event
                    if not told and 0 < self._first_event_s < time.monotonic() - began_s:
                        raise ModelFault(FaultKind.STALLED, say_no_answer(self._first_event_s))
                if not told:
                    raise ModelFault(FaultKind.STREAM_BROKEN, "The API sent an empty answer.")
            finally:
                await response.aclose(max_wait_s)
        except ModelFault as fault:
            fault.answered = fault.answered and (told or fault.kind is not FaultKind.STALLED)
            self._mask(fault)
            raise

    async def count_tokens(self, request: Request) -> int:
        body = encode_count(request, self._catalog.card(request.model))
        try:
            response = await self._post(COUNT_TOKENS, request, body)
            try:
                answer = load_object(await read_body(response, ERROR_LIMIT), "The API answered with something")
            finally:
                await response.aclose()
        except ModelFault as fault:
            self._mask(fault)
            raise
        count = answer.get("input_tokens")
        if not isinstance(count, int):
            raise ModelFault(FaultKind.NOT_AN_API, "The server did not answer as an API: it counted no tokens.")
        return count

    async def warm(self) -> None:
        """Opens the connection ahead of the first request; failures are told by the request."""
        await self._transport.warm(self._base_url)

    def secrets(self) -> frozenset[str]:
        """Credentials that must not get into what the model reads."""
        return self._credentials.own

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _post(self, path: str, request: Request, body: bytes) -> Response:
        """A response whose status says that all is well. Raises `ModelFault`."""
        response = await self._send(path, request, body)
        if response.status == _UNAUTHORISED and self._credentials.renewable:
            await response.aclose()
            self._credentials.forget()
            response = await self._send(path, request, body)
        if response.status in _SUCCESS:
            return response
        try:
            said = await read_body(response, ERROR_LIMIT, forgiving=True)
        finally:
            await response.aclose()
        # Words for failures are loaded by the first one.
        from everturn.models.anthropic.faults import classify_error

        raise classify_error(
            response.status,
            response.headers,
            said,
            now=time.time(),
            model=request.model,
            helper=self._credentials.helper_name,
            keyless=self._keyless,
            mask=self._credentials.mask,
        )

    async def _send(self, path: str, request: Request, body: bytes) -> Response:
        if self._keyless and self._base_url == DEFAULT_BASE_URL:
            from everturn.models.anthropic.faults import NO_KEY

            raise ModelFault(FaultKind.AUTHENTICATION, NO_KEY)
        headers = headers_for(
            request,
            self._catalog.card(request.model),
            credentials=await self._credentials.headers(),
            version=self._version,
            betas=self._betas,
            custom=self._custom,
        )
        return await self._transport.post(self._base_url + path, headers, body)

    async def _read_whole(self, kind: str, piece: bytes, rest: AsyncIterator[bytes]) -> Iterable[StreamEvent]:
        """Of an answer that is no stream: a message in one piece, or a web page that somebody put in the way."""
        if kind == HTML:
            raise ModelFault(FaultKind.NOT_AN_API, self._describe_page(piece))
        return decode_message(piece + b"".join([more async for more in rest]))

    def _describe_page(self, page: bytes) -> str:
        from everturn.models.anthropic.excerpts import render_page

        said = render_page(page, self._credentials.mask)
        shown = f", but with a web page ({said})" if said else ""
        advice = "Check ANTHROPIC_BASE_URL, and whether this network asks for a login."
        return f"The server did not answer as an API{shown}. {advice}"

    def _mask(self, fault: ModelFault) -> None:
        fault.text = self._credentials.mask(fault.text)
        fault.args = (fault.text,)
        fault.request_id = self._credentials.mask(fault.request_id) if fault.request_id else None


def say_no_answer(within_s: float) -> str:
    return f"The server sent signs of life, but no answer within {within_s:g} s."


async def read_body(response: Response, limit: int, *, forgiving: bool = False) -> bytes:
    """At most so many bytes; `forgiving` takes what came before a break."""
    said = b""
    try:
        async for piece in response.body():
            said += piece
            if len(said) >= limit:
                break
    except ModelFault:
        if not forgiving:
            raise
    return said[:limit]


def kind_of(response: Response) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def sniff_kind(piece: bytes) -> str:
    """For an answer that does not say what it is."""
    match piece.lstrip()[:1]:
        case b"{":
            return JSON
        case b"<":
            return HTML
        case _:
            return "text/event-stream"
