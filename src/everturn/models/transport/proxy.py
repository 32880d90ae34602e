"""Which proxy a URL goes through: reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY. Pure."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from everturn.core.errors import OptionError

_SCHEMES = frozenset({"http", "https"})


def plan_proxy(env: Mapping[str, str], url: str) -> str | None:
    """The proxy's URL, or None for a direct connection. Raises `OptionError` that names the variable."""
    parts = urlsplit(url)
    name, value = _configured(env, parts.scheme)
    if not value or _is_exempt(env, parts.hostname or "", parts.port):
        return None
    if "://" not in value:
        value = f"http://{value}"
    try:
        proxy = urlsplit(value)
        usable = bool(proxy.hostname) and proxy.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise OptionError(name, "is not a URL; it should look like http://host:port")
    if proxy.scheme not in _SCHEMES:
        raise OptionError(name, f"{proxy.scheme} proxies are not supported; give an http or https proxy")
    return value


def _configured(env: Mapping[str, str], scheme: str) -> tuple[str, str]:
    """The first variable that is set, and its value; small letters first, as curl has it."""
    names = [f"{scheme}_proxy", f"{scheme}_proxy".upper(), "all_proxy", "ALL_PROXY"]
    for name in names:
        # Under CGI, HTTP_PROXY is what the remote side wrote into its `Proxy` header.
        forged = name == "HTTP_PROXY" and "REQUEST_METHOD" in env
        if not forged and (value := env.get(name, "").strip()):
            return name, value
    return names[0], ""


def _is_exempt(env: Mapping[str, str], host: str, port: int | None) -> bool:
    listed = env.get("no_proxy") or env.get("NO_PROXY") or ""
    entries = listed.replace(",", " ").split()
    return any(_covers(entry.lower(), host.lower(), port) for entry in entries)


def _covers(entry: str, host: str, port: int | None) -> bool:
    """`*`, a host with its subdomains, an address, a network (10.0.0.0/8); each with an optional port."""
    if entry == "*":
        return True
    if "/" in entry or entry.count(":") > 1:
        return _in_network(entry, host)
    name, _, wanted = entry.partition(":")
    if wanted and wanted != str(port or ""):
        return False
    name = name.removeprefix("*").removeprefix(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _in_network(entry: str, host: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False
