"""Logins of HTTP servers by OAuth, with the package `mcp`: imported when a server has refused us, or when a person logs in."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from everturn.core.errors import ModelFault
from everturn.core.masking import mask_keys
from everturn.mcp.faults import McpFault, NeedsAuthorisation
from everturn.mcp.host import Host
from everturn.mcp.http_requests import FORBIDDEN, UNAUTHORISED, explain_fault, find_origin, read_body
from everturn.mcp.login_callback import LoginCallback
from everturn.mcp.protocol import CLIENT_NAME, NEWEST_SESSION
from everturn.mcp.servers import HttpServer
from everturn.mcp.tokens import LoginFile

LOGIN_S = 300.0
"""So long a person may take in the browser."""
_MAX_ANSWER = 1_000_000
_SAID = 300
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_EXPIRED = 1.0
"""A time long ago: what has been refused is treated as expired."""
# It logs errors with their stack, which without a handler would be printed.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class _Storage:
    """`mcp.client.auth.TokenStorage`, in the login file of one server."""

    def __init__(self, server: HttpServer, host: Host) -> None:
        self._server = server.name
        self._file = LoginFile(host.login_folder, server.url)
        self.login = self._file.load()

    async def get_tokens(self) -> OAuthToken | None:
        return OAuthToken.model_validate(self.login.tokens) if self.login.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.change(tokens=tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return OAuthClientInformationFull.model_validate(self.login.client) if self.login.client else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.change(client=client_info.model_dump(mode="json", exclude_none=True))

    def change(self, **fields: Any) -> None:
        """Raises `NeedsAuthorisation` where it cannot be kept."""
        self.login = msgspec.structs.replace(self.login, **fields)
        try:
            self._file.save(self.login)
        except OSError as error:
            text = f'The login of the MCP server "{self._server}" cannot be kept: {error.strerror}.'
            raise NeedsAuthorisation(self._server, text) from None


async def renew_login(server: HttpServer, host: Host) -> str:
    """A new access token for one that was refused, without asking anybody; empty where that cannot be. Raises `McpFault`."""
    storage = _Storage(server, host)
    if not storage.login.can_renew:
        return ""
    flow = _Flow(server, host, storage, redirect_port=storage.login.redirect_port)
    flow.provider.context.token_expiry_time = _EXPIRED
    flow.provider.context.auth_server_url = storage.login.issuer or None
    if storage.login.metadata is not None:
        flow.provider.context.oauth_metadata = OAuthMetadata.model_validate(storage.login.metadata)
    try:
        return await flow.renew()
    finally:
        await flow.aclose()


async def log_in(
    server: HttpServer,
    host: Host,
    show: Callable[[str], object],
    *,
    refused: NeedsAuthorisation | None = None,
    patience_s: float = LOGIN_S,
) -> None:
    """`show` is given the address that the person opens in a browser. `refused`: with what the server asked for a login, if it has.

    Raises `McpFault`.
    """
    storage = _Storage(server, host)
    if refused is None or refused.status != FORBIDDEN:
        # What was there is not used again: it was refused, or the person wants another one. Only more rights are added to it.
        storage.login = msgspec.structs.replace(storage.login, tokens=None)
    callback = LoginCallback()
    await callback.listen(server.callback_port or storage.login.redirect_port)
    try:
        if callback.port != storage.login.redirect_port:
            # It was registered for another address.
            storage.login = msgspec.structs.replace(storage.login, client=None)
        if server.client_id:
            storage.login = msgspec.structs.replace(storage.login, client=_plan_client(server, callback.address))
        storage.change(redirect_port=callback.port)
        flow = _Flow(server, host, storage, redirect_port=callback.port, show=show, callback=callback)
        try:
            async with asyncio.timeout(patience_s):
                await flow.log_in(refused)
        except TimeoutError:
            text = f'Nobody came back from the login of the MCP server "{server.name}" within {patience_s:g} s.'
            raise NeedsAuthorisation(server.name, text) from None
        finally:
            await flow.aclose()
    finally:
        await callback.aclose()


def _plan_client(server: HttpServer, address: str) -> dict[str, Any]:
    """As which the person has registered us by hand."""
    method = {"token_endpoint_auth_method": "client_secret_post", "client_secret": server.client_secret}
    return {
        "client_id": server.client_id,
        "redirect_uris": [address],
        **(method if server.client_secret else {"token_endpoint_auth_method": "none"}),
    }


class _Flow:
    """The requests of one login, which the package decides on and our transport sends."""

    def __init__(
        self,
        server: HttpServer,
        host: Host,
        storage: _Storage,
        *,
        redirect_port: int,
        show: Callable[[str], object] | None = None,
        callback: LoginCallback | None = None,
    ) -> None:
        self._server = server
        self._client_version = host.client_version
        self._storage = storage
        self._show = show
        self._callback = callback
        self._transport = host.open_transport(server.url)
        metadata = OAuthClientMetadata(
            client_name=CLIENT_NAME.capitalize(),
            redirect_uris=[AnyUrl(f"http://127.0.0.1:{redirect_port}/callback")],
        )
        self.provider = OAuthClientProvider(
            server.url,
            metadata,
            storage,
            redirect_handler=self._redirect if show is not None else None,
            callback_handler=self._come_back if callback is not None else None,
        )

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def renew(self) -> str:
        """The access token; empty where it cannot be had without asking. Raises `McpFault`."""
        async with self._begin() as (_, request):
            return request.headers.get("authorization", "").removeprefix("Bearer ")

    async def log_in(self, refused: NeedsAuthorisation | None) -> None:
        """Raises `McpFault`."""
        async with self._begin() as (flow, request):
            asked = await flow.asend(await self._find_challenge(request, refused))
            while asked is not request:
                asked = await flow.asend(await self._send(asked))
            context = self.provider.context
            known = context.oauth_metadata
            self._storage.change(
                metadata=known.model_dump(mode="json", exclude_none=True) if known is not None else None,
                issuer=context.auth_server_url or "",
            )

    @asynccontextmanager
    async def _begin(self) -> AsyncIterator[tuple[AsyncGenerator[httpx2.Request, httpx2.Response], httpx2.Request]]:
        """The package's flow up to the request that is to be authorised. Its errors become ours."""
        request = httpx2.Request("POST", self._server.url, headers={"mcp-protocol-version": NEWEST_SESSION})
        flow = self.provider.async_auth_flow(request)
        try:
            asked = await anext(flow)
            while asked is not request:
                # Tokens that had expired are renewed before anything else.
                asked = await flow.asend(await self._send(asked))
            yield flow, request
        except (OAuthFlowError, ValidationError, ValueError, httpx2.InvalidURL) as error:
            raise NeedsAuthorisation(self._server.name, self._explain(error)) from None
        finally:
            await flow.aclose()

    async def _find_challenge(self, request: httpx2.Request, refused: NeedsAuthorisation | None) -> httpx2.Response:
        """With what the server asks for a login."""
        if refused is not None and refused.status:
            return httpx2.Response(refused.status, headers={"www-authenticate": refused.challenge}, request=request)
        greeted = await self._send(_plan_greeting(self._server, request, self._client_version))
        if greeted.status_code not in {UNAUTHORISED, FORBIDDEN}:
            name = self._server.name
            raise NeedsAuthorisation(name, f'The MCP server "{name}" wants no login: it answers without one.')
        return greeted

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        if not self._may_send_to(url):
            text = f'The login of the MCP server "{self._server.name}" leads to {find_origin(url)}, which is not encrypted.'
            raise NeedsAuthorisation(self._server.name, text)
        headers = {name: value for name, value in request.headers.items() if name not in {"host", "content-length"}}
        name = self._server.name
        try:
            response = await self._transport.send(request.method, url, headers, request.content)
        except ModelFault as fault:
            raise explain_fault(name, fault) from None
        try:
            body = await read_body(response, name, _MAX_ANSWER)
        except McpFault:
            # The refusal itself may be an endless stream: what counts is in its head.
            body = b""
        finally:
            await response.aclose()
        fields = {
            key: value
            for key, value in response.headers.items()
            if key not in {"content-encoding", "content-length", "transfer-encoding"}
        }
        return httpx2.Response(response.status, headers=fields, content=body, request=request)

    def _may_send_to(self, url: str) -> bool:
        parts = urlsplit(url)
        return (
            parts.scheme == "https" or parts.hostname in _LOOPBACK or find_origin(url) == find_origin(self._server.url)
        )

    async def _redirect(self, url: str) -> None:
        if not self._may_send_to(url):
            raise OAuthFlowError(f"{find_origin(url)} is no address that a browser should open")
        if self._show is not None:
            self._show(url)

    async def _come_back(self) -> AuthorizationCodeResult:
        given = await self._callback.wait() if self._callback is not None else {}
        if "error" in given:
            said = given.get("error_description") or given["error"]
            raise OAuthFlowError(f"the authorisation server said: {said[:_SAID]}")
        return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))

    def _explain(self, error: Exception) -> str:
        said = mask_keys(" ".join(str(error).split()))[:_SAID]
        return f'The login of the MCP server "{self._server.name}" failed: {said}.'


def _plan_greeting(server: HttpServer, like: httpx2.Request, client_version: str) -> httpx2.Request:
    """Something that the server will refuse."""
    body = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": NEWEST_SESSION,
            "capabilities": {},
            "clientInfo": {"name": CLIENT_NAME, "version": client_version},
        },
    }
    headers = {**server.headers, "accept": "application/json, text/event-stream", **like.headers}
    return httpx2.Request("POST", server.url, headers=headers, json=body)
