"""One request to an HTTP server: its headers, redirects within its host, a login that has expired, and failures in words."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urljoin, urlsplit

from everturn.core.errors import ModelFault
from everturn.mcp.faults import McpFault, NeedsAuthorisation, ProtocolFault, ServerGone
from everturn.mcp.host import Host
from everturn.mcp.message_lines import MAX_MESSAGE
from everturn.mcp.secrets import find_secrets, mask_declared
from everturn.mcp.servers import HttpServer
from everturn.mcp.sse import OversizedEventError, SseEvent, SseReader
from everturn.mcp.tokens import LoginFile
from everturn.ports.transport import Response

UNAUTHORISED = 401
FORBIDDEN = 403
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEPS_METHOD = frozenset({307, 308})
_MAX_REDIRECTS = 3
_SAID = 300
NEEDS_PACKAGE = "Logins need the package mcp: pip install 'everturn[mcp]'."
_END_S = 0.2
"""So long the end of an answer may take that nobody needs any more: then the connection serves again."""


class HttpRequests:
    """Those of one server. Everything raises `McpFault` and nothing else."""

    def __init__(self, server: HttpServer, host: Host) -> None:
        self._server = server
        self._url = server.url
        self._transport = host.open_transport(server.url)
        self._host = host
        self._logins = LoginFile(host.login_folder, server.url)
        self._token = self._logins.load().access_token
        self._renewing = asyncio.Lock()
        self._declared = {name.lower(): value for name, value in server.headers.items()}

    @property
    def url(self) -> str:
        return self._url

    @asynccontextmanager
    async def send(
        self, method: str, headers: Mapping[str, str], body: bytes = b"", *, url: str = ""
    ) -> AsyncIterator[Response]:
        """`url` where it is not the server's own. The answer is closed behind it."""
        response = await self._send(method, url or self._url, headers, body)
        try:
            yield response
        finally:
            await response.aclose(_END_S)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Response:
        renewed = False
        for _ in range(_MAX_REDIRECTS + 1):
            token = self._token
            login = {"authorization": f"Bearer {token}"} if token else {}
            try:
                response = await self._transport.send(method, url, {**login, **self._declared, **headers}, body)
            except ModelFault as fault:
                raise explain_fault(self._server.name, fault) from None
            if response.status == UNAUTHORISED:
                await response.aclose(_END_S)
                if renewed or not await self._renew(token):
                    raise self._refuse(response, self._describe_login())
                renewed = True
                continue
            if response.status == FORBIDDEN and "insufficient_scope" in response.headers.get("www-authenticate", ""):
                await response.aclose(_END_S)
                text = (
                    f'The MCP server "{self._server.name}" wants more rights than its login has. '
                    f"`everturn mcp login {self._server.name}` asks for them."
                )
                raise self._refuse(response, text)
            if response.status not in _REDIRECTS or "location" not in response.headers:
                return response
            await response.aclose(_END_S)
            url = self._judge_redirect(method, url, response)
        raise ProtocolFault(self._server.name, f'The MCP server "{self._server.name}" redirects in a circle.')

    def _refuse(self, response: Response, text: str) -> NeedsAuthorisation:
        challenge = response.headers.get("www-authenticate", "")
        return NeedsAuthorisation(self._server.name, text, status=response.status, challenge=challenge)

    async def _renew(self, refused: str) -> bool:
        """Whether there is another token than the one that was refused."""
        if "authorization" in self._declared:
            return False
        async with self._renewing:
            if self._token != refused:
                return True
            # Another session may have renewed it.
            login = self._logins.load()
            self._token = login.access_token
            if self._token != refused or not login.can_renew:
                return self._token not in {"", refused}
            try:
                from everturn.mcp.oauth import renew_login
            except ImportError:
                raise NeedsAuthorisation(self._server.name, f"{self._describe_login()} {NEEDS_PACKAGE}") from None
            self._token = await renew_login(self._server, self._host)
            return self._token not in {"", refused}

    def _judge_redirect(self, method: str, url: str, response: Response) -> str:
        target = urljoin(url, response.headers["location"])
        if find_origin(target) != find_origin(url):
            text = (
                f'The MCP server "{self._server.name}" redirects to {find_origin(target)}. Redirects to another host are '
                "not followed; if that is the right server, write its address into the configuration."
            )
            raise ProtocolFault(self._server.name, text)
        if method != "GET" and response.status not in _KEEPS_METHOD:
            text = f'The MCP server "{self._server.name}" answers {method} with a redirect for GET (HTTP {response.status}).'
            raise ProtocolFault(self._server.name, text)
        return target

    def _describe_login(self) -> str:
        name = self._server.name
        if "authorization" in self._declared:
            return f'The MCP server "{name}" refuses the credentials that its entry in the configuration declares.'
        return f'The MCP server "{name}" wants a login. `everturn mcp login {name}` does it.'


def find_origin(url: str) -> str:
    """Scheme, host and port; what else there is may be secret."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "an address that cannot be read"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None and port != usual else "")


def explain_fault(server: str, fault: ModelFault) -> ServerGone:
    return ServerGone(server, f'The MCP server "{server}" cannot be reached: {fault.text}')


async def read_body(response: Response, server: str, most: int = MAX_MESSAGE) -> bytes:
    """Raises `McpFault`."""
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in response.body():
            size += len(piece)
            if size > most:
                text = f'The MCP server "{server}" sent more than {most / 1_000_000:,.0f} MB; the rest was not read.'
                raise ProtocolFault(server, text)
            pieces.append(piece)
    except ModelFault as fault:
        raise explain_fault(server, fault) from None
    return b"".join(pieces)


async def read_events(response: Response, server: str) -> AsyncGenerator[SseEvent, None]:
    """Raises `McpFault`."""
    reader = SseReader(MAX_MESSAGE)
    try:
        async for piece in response.body():
            for event in reader.feed(piece):
                yield event
    except ModelFault as fault:
        raise explain_fault(server, fault) from None
    except OversizedEventError:
        text = (
            f'The MCP server "{server}" sent a message of more than {MAX_MESSAGE / 1_000_000:,.0f} MB; it was not read.'
        )
        raise ProtocolFault(server, text) from None


async def describe_status(response: Response, server: HttpServer) -> str:
    """A sentence with the beginning of what it says about it."""
    said = ""
    try:
        async with asyncio.timeout(_END_S * 10):
            text = (await read_body(response, server.name, 65_536)).decode("utf-8", "replace")
            said = mask_declared(" ".join(text.split()), find_secrets(server.headers))
    except (TimeoutError, McpFault):
        pass
    heard = f": {said[:_SAID]}" if said else "."
    return f'The MCP server "{server.name}" answered with HTTP {response.status}{heard}'


def is_kind(response: Response, kind: str) -> bool:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower() == kind
