"""How client and server agree on a version: the stateless era is asked for first, the session era is what everybody else speaks."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from everturn.mcp.definitions import ServerFacts
from everturn.mcp.exchange import Exchange
from everturn.mcp.faults import McpFault, ProtocolFault, RequestRefused
from everturn.mcp.protocol import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    CLIENT_NAME,
    NEWEST_SESSION,
    NEWEST_STATELESS,
    SERVER_KEY,
    SESSION_VERSIONS,
    STATELESS_VERSIONS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
)

PROBE_S = 3.0
"""After so long without an answer to the first question of the stateless era, the other one is asked as well: some servers
answer nothing that they do not know, others take long to start."""


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""
    version: str = ""
    title: str | None = None


class _Initialized(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    protocol_version: str
    capabilities: dict[str, Any] = {}
    server_info: _Named = _Named()
    instructions: str | None = None


class _Discovered(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    supported_versions: tuple[str, ...]
    capabilities: dict[str, Any] = {}
    instructions: str | None = None
    meta: dict[str, Any] = msgspec.field(default_factory=dict, name="_meta")


class _SupportedVersions(msgspec.Struct, frozen=True, kw_only=True):
    supported: tuple[str, ...] = ()


class ClientFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What we say of ourselves."""

    client_version: str
    capabilities: dict[str, Any]

    def encode_meta(self, version: str) -> dict[str, Any]:
        """`_meta` of each request of the stateless era."""
        return {
            VERSION_KEY: version,
            CLIENT_KEY: {"name": CLIENT_NAME, "version": self.client_version},
            CAPABILITIES_KEY: self.capabilities,
        }


Settle = Callable[[str], object]


class Handshake:
    """One for each connection."""

    def __init__(self, server: str, exchange: Exchange, ours: ClientFacts, settle: Settle, timeout_s: float) -> None:
        """`settle` is told the version in which the next request will be."""
        self._server = server
        self._exchange = exchange
        self._ours = ours
        self._settle = settle
        self._timeout_s = timeout_s

    async def run(self, known: str = "") -> ServerFacts:
        """`known`: the version that the server spoke the last time. Raises `McpFault`."""
        if known in SESSION_VERSIONS:
            try:
                return await self._initialize()
            except RequestRefused:
                # It has become a server of the stateless era since.
                return await self._probe()
        return await self._probe()

    async def _probe(self) -> ServerFacts:
        discovering = asyncio.ensure_future(self._discover(NEWEST_STATELESS))
        try:
            await asyncio.wait({discovering}, timeout=min(PROBE_S, self._timeout_s))
            if not discovering.done():
                return await self._race(discovering)
            facts = await discovering
            return facts if facts is not None else await self._initialize()
        finally:
            discovering.cancel()

    async def _race(self, discovering: "asyncio.Future[ServerFacts | None]") -> ServerFacts:
        """It is slow, or does not answer what it does not know: the first one that succeeds counts."""
        initializing = asyncio.ensure_future(self._initialize())
        try:
            both: set[asyncio.Future[Any]] = {discovering, initializing}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if discovering.done() and not initializing.done():
                facts = await discovering
                if facts is not None:
                    return facts
            try:
                return await initializing
            except RequestRefused:
                # A server of the stateless era knows no `initialize`; its other answer may still come.
                facts = await discovering
                if facts is None:
                    raise
                return facts
        finally:
            initializing.cancel()

    async def _discover(self, version: str, *, again: bool = True) -> ServerFacts | None:
        """None: a server of the session era, as far as its answer shows. Raises `McpFault`."""
        self._settle(version)
        params = {"_meta": self._ours.encode_meta(version)}
        try:
            raw = await self._exchange.request("server/discover", params, timeout_s=self._timeout_s, told=False)
            found = msgspec.json.decode(raw, type=_Discovered)
        except RequestRefused as refused:
            if refused.code != UNSUPPORTED_VERSION:
                return None
            return await self._discover_other(refused, again=again)
        except msgspec.DecodeError:
            return None
        version = _choose(found.supported_versions)
        if not version:
            return None
        self._settle(version)
        return self._describe(found, version)

    async def _discover_other(self, refused: RequestRefused, *, again: bool) -> ServerFacts | None:
        try:
            supported = msgspec.convert(refused.data, _SupportedVersions).supported
        except msgspec.ValidationError:
            return None
        version = _choose(supported)
        if version and again:
            return await self._discover(version, again=False)
        if supported and not set(supported) & set(SESSION_VERSIONS):
            raise self._explain_strange(", ".join(supported))
        return None

    async def _initialize(self) -> ServerFacts:
        self._settle("")
        params = {
            "protocolVersion": NEWEST_SESSION,
            "capabilities": self._ours.capabilities,
            "clientInfo": {"name": CLIENT_NAME, "version": self._ours.client_version},
        }
        raw = await self._exchange.request("initialize", params, timeout_s=self._timeout_s, told=False)
        try:
            found = msgspec.json.decode(raw, type=_Initialized)
        except msgspec.DecodeError as error:
            text = f'The MCP server "{self._server}" began with an answer that cannot be read: {error}.'
            raise ProtocolFault(self._server, text) from None
        if found.protocol_version not in SESSION_VERSIONS:
            raise self._explain_strange(found.protocol_version)
        self._settle(found.protocol_version)
        self._exchange.notify("notifications/initialized")
        return ServerFacts(
            name=found.server_info.name,
            version=found.server_info.version,
            title=found.server_info.title or "",
            protocol_version=found.protocol_version,
            instructions=found.instructions or "",
            capabilities=found.capabilities,
        )

    def _describe(self, found: _Discovered, version: str) -> ServerFacts:
        try:
            named = msgspec.convert(found.meta.get(SERVER_KEY) or {}, _Named)
        except msgspec.ValidationError:
            named = _Named()
        return ServerFacts(
            name=named.name,
            version=named.version,
            title=named.title or "",
            protocol_version=version,
            instructions=found.instructions or "",
            capabilities=found.capabilities,
        )

    def _explain_strange(self, versions: str) -> McpFault:
        spoken = ", ".join((*SESSION_VERSIONS, *STATELESS_VERSIONS))
        text = f'The MCP server "{self._server}" speaks version {versions} of the protocol, and Everturn {spoken}.'
        return ProtocolFault(self._server, text)


def _choose(versions: tuple[str, ...]) -> str:
    """The newest version of the stateless era that both speak; empty where there is none."""
    shared = [version for version in STATELESS_VERSIONS if version in versions]
    return shared[-1] if shared else ""
