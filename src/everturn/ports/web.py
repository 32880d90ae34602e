"""The web as tools and permissions see it: a URL taken apart the same way for both, the port that reaches hosts, and search."""

import asyncio
import re
from typing import Literal, Protocol

import msgspec

from everturn.core.errors import ToolFault

PORTS = {"http": 80, "https": 443}
_MAX_LENGTH = 4_000
_URL = r"(?P<scheme>https?)://(?P<authority>[^/?#\\]*)(?P<target>(?:[/?][^#]*)?)(?:#.*)?"
_AUTHORITY = r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<host>[^:\[\]]+))(?::(?P<port>\d{1,5})?)?"
_NAME = r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*"
_SENT_AS_IT_IS = "%/:=&?~+!$,;'@()*[]|"


class WebUrl(msgspec.Struct, frozen=True, kw_only=True):
    """An absolute http or https URL without credentials and fragment. Made by `parse_web_url` alone."""

    scheme: Literal["http", "https"]
    host: str
    """ASCII, small letters, no dot at its end; of an address, its one normal form, without brackets."""
    port: int
    target: str
    """Path and query, as they are sent."""

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_web_url(text: str) -> WebUrl:
    """Raises `ToolFault`. Whatever two programs could read as two different hosts is refused."""
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        raise ToolFault(f"The URL is longer than {_MAX_LENGTH:,} characters.")
    parts = re.fullmatch(_URL, text, re.IGNORECASE)
    if parts is None or re.search(r"[\x00-\x1f\x7f]", text):
        raise ToolFault("That is not an absolute http or https URL, such as https://example.com/page.")
    if "@" in parts["authority"]:
        raise ToolFault("The URL holds a user name or a password. Such URLs are not fetched.")
    place = re.fullmatch(_AUTHORITY, parts["authority"].lower())
    if place is None:
        raise ToolFault("The URL names no host that could be reached.")
    scheme: Literal["http", "https"] = "https" if parts["scheme"].lower() == "https" else "http"
    port = int(place["port"] or PORTS[scheme])
    if not 0 < port < 65_536:  # noqa: PLR2004 (the largest port)
        raise ToolFault("The URL's port does not exist.")
    host = _parse_address(place["six"]) if place["six"] else _parse_host(place["host"])
    return WebUrl(scheme=scheme, host=host, port=port, target=_parse_target(parts["target"]))


def _parse_address(text: str) -> str:
    import ipaddress

    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise ToolFault("The URL's address is not an IPv6 address.") from None


def _parse_host(text: str) -> str:
    import ipaddress

    try:
        # IDNA also turns the full stops of other scripts into dots: judged is what is looked up.
        host = text.encode("idna").decode().lower().removesuffix(".") if not text.isascii() else text.removesuffix(".")
    except UnicodeError:
        host = ""
    if not re.fullmatch(_NAME, host):
        raise ToolFault("The URL's host is not a host name.")
    last = host.rpartition(".")[2]
    if last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last):
        # 2130706433, 0x7f.1 and 127.1 are addresses to some programs and names to others.
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise ToolFault("The URL's host is an address in an unusual form. Write it with four numbers.") from None
    return host


def _parse_target(text: str) -> str:
    from urllib.parse import quote

    try:
        target = quote(text, safe=_SENT_AS_IT_IS)
    except UnicodeEncodeError:
        raise ToolFault("The URL holds half of a surrogate pair; it is not text.") from None
    return target if target.startswith("/") else f"/{target}"


class Net(Protocol):
    """Names to addresses, addresses to connections. Raises `OSError` and nothing else; never connects to a name."""

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """At least one address."""
        ...

    async def dial(
        self, address: str, port: int, *, name: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """`name`: speak TLS with a certificate for this name; None: plain."""
        ...


class SearchQuestion(msgspec.Struct, frozen=True, kw_only=True):
    query: str
    allowed_domains: tuple[str, ...] = ()
    """Only these and what is below them."""
    blocked_domains: tuple[str, ...] = ()
    """Never these. At most one of the two is set."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    url: str
    excerpt: str = ""


class Searcher(Protocol):
    """A search engine of the web: a question with its domains in, titles and addresses out.

    Contract: raises `ToolFault` and nothing else; its text never holds the key. Best hits first.
    """

    async def search(self, question: SearchQuestion) -> tuple[Hit, ...]: ...
