"""Which hosts may be reached: by name before it is resolved, by address after. Pure, but for the list of local names."""

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from everturn.core.errors import OptionError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_LOCALHOST = "localhost"
_HOSTS_FILE = "/etc/hosts"
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_MAX_NAME = 253
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
_MAX_PORT = 65_535


class HostPattern(msgspec.Struct, frozen=True, kw_only=True):
    """`example.com`, `*.example.com` (only what is below), `*`, `10.0.0.5`, `[::1]`; each with `:port` or without."""

    text: str
    host: str
    """Without the star; empty for `*` alone."""
    wild: bool = False
    port: int | None = None

    def matches(self, host: str, port: int) -> bool:
        if self.port is not None and self.port != port:
            return False
        if not self.wild:
            return host == self.host
        return not self.host or (host.endswith(f".{self.host}") and parse_address(host) is None)


def parse_pattern(field: str, text: str) -> HostPattern:
    """Raises `OptionError`."""
    wrong = OptionError(field, f"holds {text!r}, which is no host: example.com, *.example.com, or one with :port")
    host, port = split_port(text.strip())
    if port is not None and not 0 < port <= _MAX_PORT:
        raise wrong
    if host == "*":
        return HostPattern(text=text, host="", wild=True, port=port)
    wild = host.startswith("*.")
    name = parse_host(host.removeprefix("*."))
    if name is None:
        raise wrong
    return HostPattern(text=text, host=name, wild=wild, port=port)


def split_port(text: str) -> tuple[str, int | None]:
    """-1 stands for a port that is none."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, _parse_port(rest[1:]) if rest.startswith(":") else (None if not rest else -1)
    if text.count(":") == 1:
        host, _, port = text.partition(":")
        return host, _parse_port(port)
    return text, None


def parse_host(text: str) -> str | None:
    """In its one form: lower case, no dot at the end, ASCII, addresses as they are usually written. None: it is no host."""
    name = text.strip().removesuffix(".").lower()
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return None
    if (address := parse_address(name)) is not None:
        return str(address)
    is_name = len(name) <= _MAX_NAME and all(_LABEL.fullmatch(label) for label in name.split("."))
    return name if is_name else None


def parse_address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def judge_name(
    host: str, port: int, allowed: Iterable[HostPattern], denied: Iterable[HostPattern]
) -> HostPattern | str | None:
    """The pattern that allows, an exact one before a wild one; why not; or None where nothing names it.

    `host` comes from `parse_host`.
    """
    if against := next((pattern for pattern in denied if pattern.matches(host, port)), None):
        return f"sandbox.network.deniedDomains names {against.text}"
    found = [pattern for pattern in allowed if pattern.matches(host, port)]
    exact = (pattern for pattern in found if not pattern.wild)
    return next(exact, None) or next(iter(found), None)


def judge_address(
    address: str, host: str, port: int, pattern: HostPattern, denied: Iterable[HostPattern], *, is_local: bool
) -> str | None:
    """Why the address that a name led to may not be reached; None where it may. `is_local`: this machine names it itself."""
    found = parse_address(address.partition("%")[0])
    if found is None:
        return f"{address} is no address"
    real = _embedded(found) or found
    if any(against.matches(str(each), port) for against in denied for each in (found, real)):
        return f"sandbox.network.deniedDomains names {found}"
    if parse_address(host) is not None and not pattern.wild:
        return None
    if real.is_loopback:
        return None if is_local and not pattern.wild else f"{host} leads to this machine itself ({found})"
    if real.is_link_local or real.is_multicast or real.is_unspecified or real.is_reserved:
        return f"{host} leads to {found}, which is no host of the Internet"
    if not real.is_global and pattern.wild:
        return f"{host} leads into a private network ({found}), for which it must be named without a star"
    return None


def is_local_name(host: str) -> bool:
    """Of this machine's own list, or by definition: nobody else can make it lead elsewhere."""
    return host == _LOCALHOST or host.endswith(f".{_LOCALHOST}") or host in _load_local_names()


@lru_cache(maxsize=1)
def _load_local_names() -> frozenset[str]:
    try:
        lines = Path(_HOSTS_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    return frozenset(name.lower() for line in lines for name in line.partition("#")[0].split()[1:])


def _embedded(address: Address) -> ipaddress.IPv4Address | None:
    """The older address inside a newer one, wherever it hides."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _parse_port(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(_MAX_PORT)) else -1
